//go:build sdk

package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/model/replay"
	"adze/internal/platform/aws"
)

// TestAgentSDK lets published clients drive the program as it is built, against a server that plays scripts: the Agent
// SDK for TypeScript, as it is now and as it was a year ago, and the adapter for editors that speak the Agent Client
// Protocol. The tests are those of test/npm, where the clients have to be installed.
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
	for _, client := range []struct{ sdk, tests string }{
		{"@anthropic-ai/claude-agent-sdk", "*.test.mjs"},
		{"agent-sdk-of-2025", "[^ac]*.test.mjs control.test.mjs"}, // without acp and current
	} {
		t.Run(client.sdk, func(t *testing.T) {
			args := []string{"--test", "--test-timeout=300000", "--test-reporter=spec"}
			for pattern := range strings.FieldsSeq(client.tests) {
				tests, err := filepath.Glob(filepath.Join(root, "test", "npm", pattern))
				if err != nil || len(tests) == 0 {
					t.Fatalf("no tests: %v", err)
				}
				args = append(args, tests...)
			}
			cmd := exec.CommandContext(t.Context(), "node", args...)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "ADZE_BIN="+bin, "STUDIO="+studio.URL, "STAGES="+t.TempDir(), "AGENT_SDK="+client.sdk)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// TestVendorClients lets the clients of the vendors of models drive servers that play scripts, in the dialect that each
// speaks: the servers, to which this program's own clients are held, are held to what real clients expect.
//
// Proves PROV-60.
func TestVendorClients(t *testing.T) {
	tests, err := filepath.Glob(filepath.Join("..", "..", "test", "npm", "*.vendor.mjs"))
	if err != nil || len(tests) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	studio := httptest.NewUnstartedServer(&studio{stages: map[string]*sdkStage{}})
	studio.Config.Protocols = new(http.Protocols) // the client of AWS begins with HTTP/2
	studio.Config.Protocols.SetHTTP1(true)
	studio.Config.Protocols.SetUnencryptedHTTP2(true)
	studio.Start()
	defer studio.Close()
	cmd := exec.CommandContext(t.Context(), "node", append([]string{"--test", "--test-timeout=300000", "--test-reporter=spec"}, tests...)...)
	cmd.Env = append(os.Environ(), "STUDIO="+studio.URL)
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
	player := replay.NewPlayer(script)
	player.Reason()
	s.stages[name] = &sdkStage{player: player}
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
	if forged(r, body) {
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `{"message":"The request signature we calculated does not match the signature you provided."}`) // ok, as above
		return
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	s.player.Handler().ServeHTTP(w, r)
}

// forged reports whether a request has a signature that is not that of the credentials in test/npm/aws.vendor.mjs: signing what
// the client signed again, as this program signs, must give the same.
func forged(r *http.Request, body []byte) bool {
	proof := r.Header.Get("Authorization")
	_, names, _ := strings.Cut(proof, "SignedHeaders=")
	names, _, _ = strings.Cut(names, ",")
	if !strings.HasPrefix(proof, "AWS4-") || strings.HasPrefix(names, ":authority") { // over HTTP/2 that is signed as the host
		return false
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || time.Since(at).Abs() > time.Minute {
		return true
	}
	again := &http.Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: http.Header{}}
	for name := range strings.SplitSeq(names, ";") {
		switch name {
		case "host":
		case "content-length": // which the server takes out
			again.Header.Set(name, strconv.FormatInt(r.ContentLength, 10))
		default:
			again.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	token := again.Header.Get("X-Amz-Security-Token")
	aws.Sign(again, sha256.Sum256(body), aws.Credentials{KeyID: "AKIDEXAMPLE", Secret: "secret-of-the-studio", Token: token}, aws.Target{Region: "us-east-1", Service: "bedrock"}, at)
	return strings.ReplaceAll(again.Header.Get("Authorization"), " ", "") != strings.ReplaceAll(proof, " ", "")
}
