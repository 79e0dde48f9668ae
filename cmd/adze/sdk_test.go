//go:build sdk

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"adze/internal/model/replay"
)

// TestAgentSDK lets the published Agent SDK for TypeScript drive the program as it is built, against a
// server that plays scripts. The tests are those of test/npm, where the SDK has to be installed.
//
// Proves X-137, SESS-61.
func TestAgentSDK(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "adze")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	studio := httptest.NewServer(&studio{stages: map[string]*sdkStage{}})
	defer studio.Close()
	tests, err := filepath.Glob(filepath.Join(root, "test", "npm", "*.test.mjs"))
	if err != nil || len(tests) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), "node", append([]string{"--test", "--test-reporter=spec"}, tests...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "ADZE_BIN="+bin, "STUDIO="+studio.URL, "STAGES="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// A studio plays a script for each test: a POST of the script to / returns the path below which it is
// played. A GET of that path returns the requests that it was played for, and what was wrong with them.
type studio struct {
	mu     sync.Mutex
	stages map[string]*sdkStage
}

type sdkStage struct {
	player *replay.Player

	mu       sync.Mutex
	requests []json.RawMessage
}

func (s *studio) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/" {
		s.open(w, r)
		return
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	s.mu.Lock()
	stage := s.stages[name]
	s.mu.Unlock()
	if stage == nil {
		http.NotFound(w, r)
		return
	}
	stage.ServeHTTP(w, r)
}

func (s *studio) open(w http.ResponseWriter, r *http.Request) {
	source, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	script, err := replay.Parse("script", source)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := fmt.Sprintf("stage%d", len(s.stages)+1)
	s.stages[name] = &sdkStage{player: replay.NewPlayer(script)}
	fmt.Fprintf(w, "/%s", name)
}

func (s *sdkStage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if r.Method == http.MethodGet {
		defer s.mu.Unlock()
		problem := ""
		if err := s.player.Err(); err != nil {
			problem = err.Error()
		}
		json.NewEncoder(w).Encode(map[string]any{"requests": s.requests, "problem": problem}) // ok: a test that left does not read
		return
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		s.requests = append(s.requests, body)
	}
	s.mu.Unlock()
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	s.player.Handler().ServeHTTP(w, r)
}
