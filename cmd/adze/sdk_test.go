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

	"adze/internal/model/modeltest/servers"
	"adze/internal/model/replay"
	"adze/internal/platform/net/aws"
)

// TestAgentSDK lets published clients drive the built program against a server that plays
// scripts: the Agent SDK for TypeScript, in its current version and one a year old, and the
// adapter for editors that use the Agent Client Protocol. The tests are in test/npm, where the
// clients must be installed.
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
	studio := httptest.NewServer(&scriptServer{stages: map[string]*sdkStage{}})
	defer studio.Close()
	for _, client := range []struct{ sdk, tests string }{
		{"@anthropic-ai/claude-agent-sdk", "*.test.mjs"},
		{"agent-sdk-of-2025", "[^ac]*.test.mjs control.test.mjs"}, // acp and current excluded
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

// TestVendorClients lets model vendors' clients drive our scripted servers in their dialects,
// so that the servers that test this program's own clients are themselves tested with real
// clients.
//
// Proves PROV-60.
func TestVendorClients(t *testing.T) {
	tests, err := filepath.Glob(filepath.Join("..", "..", "test", "npm", "*.vendor.mjs"))
	if err != nil || len(tests) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	studio := httptest.NewUnstartedServer(&scriptServer{stages: map[string]*sdkStage{}})
	studio.Config.Protocols = new(http.Protocols) // the AWS client starts with HTTP/2
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

// A scriptServer plays a script for each test: POST / with a script returns the path at which it is
// played. GET of that path returns the requests received, and the problems with them.
type scriptServer struct {
	mu     sync.Mutex
	stages map[string]*sdkStage
}

type sdkStage struct {
	player *replay.Player

	mu       sync.Mutex
	requests []json.RawMessage
}

func (s *scriptServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

func (s *scriptServer) open(w http.ResponseWriter, r *http.Request) {
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
	player := replay.NewPlayerIn(servers.Named(script.Dialect()), script)
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
		json.NewEncoder(w).Encode(map[string]any{"requests": s.requests, "problem": problem}) // ok: the test may have ended
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

// forged reports whether a request's signature does not match the credentials in
// test/npm/aws.vendor.mjs. It signs the same content with this program's implementation and
// compares.
func forged(r *http.Request, body []byte) bool {
	proof := r.Header.Get("Authorization")
	_, names, _ := strings.Cut(proof, "SignedHeaders=")
	names, _, _ = strings.Cut(names, ",")
	if !strings.HasPrefix(proof, "AWS4-") || strings.HasPrefix(names, ":authority") { // signed as the host over HTTP/2
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
		case "content-length": // removed by the server
			again.Header.Set(name, strconv.FormatInt(r.ContentLength, 10))
		default:
			again.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	token := again.Header.Get("X-Amz-Security-Token")
	aws.Sign(again, sha256.Sum256(body), aws.Credentials{KeyID: "AKIDEXAMPLE", Secret: "secret-of-the-studio", Token: token}, aws.Target{Region: "us-east-1", Service: "bedrock"}, at)
	return strings.ReplaceAll(again.Header.Get("Authorization"), " ", "") != strings.ReplaceAll(proof, " ", "")
}
