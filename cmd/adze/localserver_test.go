//go:build local

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLocalServer runs the built program against a real server for local models, which
// scripts/local-server builds, and a model with random weights. The model's answers do not
// matter: the test checks that the server is found and called, how much fits into its window,
// and that nothing is silently truncated.
//
// Proves PROV-01, PROV-12.
func TestLocalServer(t *testing.T) {
	server := os.Getenv("ADZE_LOCAL_SERVER")
	if server == "" {
		t.Fatal("ADZE_LOCAL_SERVER is not set; scripts/local-server DIR prints its value")
	}
	bin := filepath.Join(t.TempDir(), "adze")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	corpus, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	file := tinyModel(65_536, string(corpus))
	models := t.TempDir()

	wide := startOllama(t, server, models, 32_768)
	wide.create(t, file, "mute", "{{ range .Messages }}{{ .Role }}: {{ .Content }}\n{{ end }}")
	wide.create(t, file, "able", "{{ .Tools }}{{ range .Messages }}{{ .Role }}: {{ .Content }} {{ .ToolCalls }}\n{{ end }}")

	out, err := wide.adze(t, bin, "models")
	if err != nil || !strings.Contains(out, "ollama/able:latest") || !strings.Contains(out, "32768") {
		t.Errorf("adze models: %v\n%s", err, out)
	}
	for _, line := range strings.Split(out, "\n") {
		if named, without := strings.Contains(line, "ollama/mute"), strings.Contains(line, "cannot use tools"); strings.Contains(line, "ollama/") && named != without {
			t.Errorf("adze models says: %s", line)
		}
	}

	out, err = wide.adze(t, bin, "-p", "Say something.", "--model", "ollama/able", "--output-format", "json", "--max-turns", "1")
	var result struct {
		Subtype string                                                            `json:"subtype"`
		Models  map[string]struct{ InputTokens, OutputTokens, ContextWindow int } `json:"modelUsage"`
		Cost    float64                                                           `json:"total_cost_usd"`
	}
	if json.Unmarshal([]byte(out), &result) != nil || err != nil {
		t.Fatalf("a prompt: %v\n%s", err, out)
	}
	used := result.Models["ollama/able:latest"]
	if used.InputTokens < 2_000 || used.OutputTokens == 0 || used.ContextWindow != 32_768 || result.Cost != 0 {
		t.Errorf("the run used %+v for %v USD", result.Models, result.Cost)
	}
	const completions = `"/v1/chat/completions"` // logged for each request
	if log := wide.log.String(); strings.Contains(log, "truncat") || !strings.Contains(log, completions) {
		t.Errorf("the server cut something off, or was not asked:\n%s", log)
	}
	wide.stop()

	narrow := startOllama(t, server, models, 4_096)
	out, err = narrow.adze(t, bin, "-p", "Say something.", "--model", "ollama/able")
	if log := narrow.log.String(); err != nil || !strings.Contains(narrow.said, "small prompt") || strings.Contains(log, "truncat") || !strings.Contains(log, completions) {
		t.Errorf("a window that is smaller than the full prompt: %v\n%s\n%s\nserver:\n%s", err, out, narrow.said, log)
	}
	narrow.stop()
}

// An ollama is a running server.
type ollama struct {
	address string
	log     *logBuffer
	said    string // stderr of the last run of adze
	stop    func()
}

// logBuffer reads a process's log file.
type logBuffer struct{ file string }

func (l *logBuffer) String() string {
	data, _ := os.ReadFile(l.file) // ok: tests that need a text fail on an empty log
	return string(data)
}

// startOllama starts a server whose models have a window of that size.
func startOllama(t *testing.T, program, models string, window int) *ollama {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &ollama{address: l.Addr().String(), log: &logBuffer{filepath.Join(t.TempDir(), "log")}}
	l.Close()
	log, err := os.Create(s.log.file)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, program, "serve")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "OLLAMA_HOST="+s.address, "OLLAMA_MODELS="+models, "GIN_MODE=release", fmt.Sprint("OLLAMA_CONTEXT_LENGTH=", window))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.stop = func() { cancel(); cmd.Wait() } // ok: it was interrupted
	t.Cleanup(s.stop)
	for range 1200 {
		if res, err := http.Get("http://" + s.address + "/api/version"); err == nil {
			res.Body.Close()
			return s
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("the server does not answer:\n%s", s.log)
	return nil
}

// create creates a model from a file, with a conversation template.
func (s *ollama) create(t *testing.T, file []byte, name, template string) {
	t.Helper()
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(file))
	s.post(t, "/api/blobs/"+digest, file)
	body, err := json.Marshal(map[string]any{"model": name, "files": map[string]string{"tiny.gguf": digest}, "template": template, "stream": false,
		"parameters": map[string]any{"stop": []string{"e"}}, // such a model never stops by itself
	})
	if err != nil {
		t.Fatal(err)
	}
	s.post(t, "/api/create", body)
}

func (s *ollama) post(t *testing.T, path string, body []byte) {
	t.Helper()
	res, err := http.Post("http://"+s.address+path, "application/octet-stream", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if answer, _ := io.ReadAll(res.Body); res.StatusCode/100 != 2 { // ok: only the status matters
		t.Fatalf("%s: %s: %s", path, res.Status, answer)
	}
}

// adze runs the program in an empty directory, with nothing set except the server's address.
func (s *ollama) adze(t *testing.T, bin string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "OLLAMA_HOST=" + s.address}
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	s.said = problems.String()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, problems.String())
		return out.String() + problems.String(), err
	}
	return out.String(), nil
}
