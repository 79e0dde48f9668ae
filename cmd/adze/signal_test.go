//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"adze/internal/model/replay"
)

// TestSignalWhileStreaming checks that a signal during an answer ends the turn with
// aborted_streaming, and that the received part is in the history.
//
// Proves LOOP-21.
func TestSignalWhileStreaming(t *testing.T) {
	tests := []struct {
		signal syscall.Signal
		code   int
		last   string // last history text
	}{
		{syscall.SIGINT, 130, "[Request interrupted by user]"},
		{syscall.SIGTERM, 143, "Half of it"},
		{syscall.SIGQUIT, 143, "Half of it"}, // D15
	}
	for _, tt := range tests {
		t.Run(tt.signal.String(), func(t *testing.T) {
			home := t.TempDir()
			cmd := adze(t, home, "say Half of it\nsay+  and more\nhang", "-p", "go", "--model", "sonnet",
				"--output-format", "stream-json", "--verbose", "--include-partial-messages")
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			seen := readUntil(t, stdout, "and more") // everything before it has been processed
			if err := cmd.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(stdout)
			if err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != tt.code {
				t.Errorf("ended with %v, want exit code %d", err, tt.code)
			}
			record := lastLine(t, seen+string(rest))
			if record["terminal_reason"] != "aborted_streaming" || record["subtype"] != "error_during_execution" {
				t.Errorf("result %v", record)
			}
			if log := transcript(t, home); !strings.Contains(lastText(log), tt.last) {
				t.Errorf("the history ends with %s", lastText(log))
			}
		})
	}
}

// TestSignalWhileWaiting checks that a signal ends the wait for a background command, and the
// command.
//
// Proves SHBG-07.
func TestSignalWhileWaiting(t *testing.T) {
	cmd := adze(t, t.TempDir(), "use Bash {\"command\":\"echo $$ > pid; exec tail -f /dev/null\",\"run_in_background\":true}\n---\nsay It runs.",
		"-p", "go", "--model", "sonnet", "--allowed-tools", "Bash", "--output-format", "stream-json", "--verbose")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen := readUntil(t, stdout, "It runs.")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(stdout)
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 143 {
		t.Errorf("ended with %v, want exit code 143", err)
	}
	if record := lastLine(t, seen+string(rest)); record["terminal_reason"] != "aborted_streaming" {
		t.Errorf("result %v", record)
	}
}

// TestSignalWhileServing checks that a host that terminates the program gets 143, with or
// without a turn.
//
// Proves LOOP-21.
func TestSignalWhileServing(t *testing.T) {
	for _, prompt := range []string{"", `{"type":"user","message":{"role":"user","content":"go"}}` + "\n"} {
		t.Run(fmt.Sprint(prompt != ""), func(t *testing.T) {
			cmd := adze(t, t.TempDir(), "forever\nsay Half of it\nhang", "--model", "sonnet",
				"--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages")
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			first, sign := `{"type":"control_request","request_id":"r","request":{"subtype":"mcp_status"}}`+"\n", "control_response"
			if prompt != "" {
				first, sign = prompt, "Half of it"
			}
			if _, err := io.WriteString(stdin, first); err != nil {
				t.Fatal(err)
			}
			readUntil(t, stdout, sign)
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, stdout); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 143 {
				t.Errorf("ended with %v, want exit code 143", err)
			}
		})
	}
}

// adze returns the program, configured to use a server that plays the script.
func adze(t *testing.T, home, script string, args ...string) *exec.Cmd {
	t.Helper()
	s, err := replay.Parse("test.replay", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(replay.NewPlayer(s).Handler())
	t.Cleanup(server.Close)
	bin, err := exec.LookPath("adze") // TestMain puts it into the PATH
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bin, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "ADZE_HOME="+home, "ADZE_NO_FSYNC=1", "ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL="+server.URL)
	cmd.Stderr = os.Stderr
	return cmd
}

// readUntil reads from r up to a text.
func readUntil(t *testing.T, r io.Reader, text string) string {
	t.Helper()
	var seen bytes.Buffer
	for b := make([]byte, 4096); !strings.Contains(seen.String(), text); {
		n, err := r.Read(b)
		seen.Write(b[:n])
		if err != nil {
			t.Fatalf("%v after %s", err, seen.String())
		}
	}
	return seen.String()
}

func lastLine(t *testing.T, text string) map[string]any {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	var v map[string]any
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &v); err != nil {
		t.Fatalf("%v in %s", err, lines[len(lines)-1])
	}
	return v
}

// transcript returns the only transcript below home.
func transcript(t *testing.T, home string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(home, "projects", "*", "*.jsonl"))
	if err != nil || len(names) != 1 {
		t.Fatalf("transcripts: %v, %v", names, err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// lastText returns the last message of a transcript.
func lastText(log string) string {
	last := ""
	for line := range strings.Lines(log) {
		if strings.Contains(line, `"message":`) {
			last = line
		}
	}
	return last
}
