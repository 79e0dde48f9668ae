//go:build unix

package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/tool"
)

// post returns a hook that is sent to an address.
func post(url string, more ...string) json.RawMessage {
	return on(PreToolUse, fmt.Sprintf(`{"type":"http","url":%q%s}`, url, strings.Join(append([]string{""}, more...), ",")))
}

// Proves HOOK-05.
func TestHTTP(t *testing.T) {
	var got *http.Request
	var body []byte
	mux := http.NewServeMux()
	mux.HandleFunc("/deny", func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body) // ok: checked below
		io.WriteString(w, `{"decision":"block","reason":"not today"}`)
	})
	mux.HandleFunc("/plain", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{") })
	mux.HandleFunc("/error", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, allowing, 500) })
	mux.HandleFunc("/here", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/deny", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://localhost:1/deny", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // ok: the server notices the disconnect only after reading everything
		<-r.Context().Done()
	})
	mux.HandleFunc("/allow", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, allowing) })
	server := httptest.NewServer(mux)
	defer server.Close()
	tests := []struct {
		path, more string
		want       tool.Decision
		reason     string
	}{
		{"/deny", "", tool.Deny, "not today"},
		{"/here", "", tool.Deny, "not today"},
		{"/allow", "", tool.Allow, ""},
		{"/plain", "", tool.Undecided, ""},
		{"/broken", "", tool.Ask, "not valid JSON"},
		{"/error", "", tool.Ask, "answered with status 500"},
		{"/nowhere", "", tool.Ask, "answered with status 404"},
		{"/away", "", tool.Ask, "redirects to another host, localhost:1"},
		{"/slow", `"timeout":0.1`, tool.Ask, "its time limit"},
		{"/error", `"onFailure":"continue"`, tool.Undecided, ""},
	}
	for _, tt := range tests {
		var more []string
		if tt.more != "" {
			more = append(more, tt.more)
		}
		r, _ := start(t, Config{}, post(server.URL+tt.path, more...))
		out := r.Fire(t.Context(), OnPreToolUse(shell(t, "deploy")))
		if out.Decision != tt.want || !strings.Contains(out.Reason, tt.reason) {
			t.Errorf("%s: %d, %q", tt.path, out.Decision, out.Reason)
		}
	}
	if got.Method != "POST" || got.Header.Get("Content-Type") != "application/json" || !strings.Contains(string(body), `"command":"deploy"`) {
		t.Errorf("%s %s %s", got.Method, got.Header, body)
	}
}

// Proves HOOK-06.
func TestAddressesThatAreRefused(t *testing.T) {
	names := map[string]string{
		"meta.test": "169.254.169.254", "lan.test": "10.1.2.3", "home.test": "192.168.1.1", "cgn.test": "100.64.0.1", "zero.test": "0.0.0.0",
		"mapped.test": "::ffff:169.254.169.254", "nat64.test": "64:ff9b::a9fe:a9fe", "sixtofour.test": "2002:a9fe:a9fe::1", "compat.test": "::10.0.0.1",
		"unique.test": "fd00::1", "link.test": "fe80::1", "multi.test": "224.0.0.1", "future.test": "240.0.0.1", "bench.test": "198.18.0.1",
		"site.test": "fec0::1", "public.test": "93.184.216.34",
	}
	lookup := func(_ context.Context, host string) ([]netip.Addr, error) {
		if host == "both.test" { // one good address does not excuse the other
			return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("10.0.0.1")}, nil
		}
		if host == "none.test" {
			return nil, nil
		}
		return []netip.Addr{netip.MustParseAddr(names[host])}, nil
	}
	tests := []struct{ url, want string }{
		{"http://public.test/", "http is for this machine only; use https"},
		{"ftp://public.test/", "is not https"},
		{"file:///etc/passwd", "is not https"},
		{"https:///x", "names no host"},
		{"https://user:secret@public.test/", "contains a user name"},
		{"https://both.test/", "10.0.0.1, which is not a public address"},
		{"https://none.test/", "has no address"},
		{"https://169.254.169.254/latest", "169.254.169.254, which is not a public address"},
		{"https://[::ffff:10.0.0.1]/", "10.0.0.1, which is not a public address"},
		{"https://\x7f/", "cannot be read"},
	}
	for host, addr := range names {
		if host != "public.test" {
			tests = append(tests, struct{ url, want string }{"https://" + host + "/", netip.MustParseAddr(addr).Unmap().String() + ", which is not a public address"})
		}
	}
	for _, tt := range tests {
		r, _ := start(t, Config{lookup: lookup}, post("PLACEHOLDER"))
		r.settings[0].hooks[0].url = tt.url
		out := r.Fire(t.Context(), OnPreToolUse(shell(t, "ls")))
		if out.Decision != tool.Ask || !strings.Contains(out.Reason, tt.want) {
			t.Errorf("%s: %d, %q, want %q", tt.url, out.Decision, out.Reason, tt.want)
		}
		if strings.Contains(out.Reason, "secret") {
			t.Errorf("the reason tells the password: %s", out.Reason)
		}
	}
}

// Proves HOOK-06.
func TestHeadersAndPolicy(t *testing.T) {
	var header http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { header = r.Header }))
	defer server.Close()
	headers := `"headers":{"X-Token":"Bearer ${TOKEN}","X-Key":"$ANTHROPIC_API_KEY","X-Other":"a${OTHER}b"},"allowedEnvVars":["TOKEN","ANTHROPIC_API_KEY"]`
	environ := func() []string { return []string{"TOKEN=t", "OTHER=o", "ANTHROPIC_API_KEY=k"} }
	for _, workspace := range []bool{false, true} {
		r, _ := start(t, Config{Environ: environ, Sources: []Source{{Name: "s", Workspace: workspace, Trusted: true, JSON: post(server.URL, headers)}}})
		if out := r.Fire(t.Context(), OnPreToolUse(shell(t, "ls"))); out.Decision != tool.Undecided {
			t.Fatal(out.Reason)
		}
		key := "k"
		if workspace {
			key = ""
		}
		if header.Get("X-Token") != "Bearer t" || header.Get("X-Other") != "ab" || header.Get("X-Key") != key {
			t.Errorf("workspace %v: %v", workspace, header)
		}
	}
	header = nil
	r, _ := start(t, Config{Environ: func() []string { return []string{"TOKEN=a\r\nX-Evil: 1"} }}, post(server.URL, headers))
	if out := r.Fire(t.Context(), OnPreToolUse(shell(t, "ls"))); out.Decision != tool.Ask || !strings.Contains(out.Reason, "the header X-Token contains a line break") || header != nil {
		t.Errorf("%s, sent %v", out.Reason, header)
	}
	policy := Policy{AllowedURLs: []string{"https://hooks.corp.test/*", server.URL + "/ok*"}}
	for path, want := range map[string]tool.Decision{"/ok": tool.Undecided, "/ok/more": tool.Undecided, "/no": tool.Ask} {
		r, _ := start(t, Config{Policy: policy}, post(server.URL+path))
		if out := r.Fire(t.Context(), OnPreToolUse(shell(t, "ls"))); out.Decision != want {
			t.Errorf("%s: %d, %s", path, out.Decision, out.Reason)
		}
	}
	r, _ = start(t, Config{Policy: Policy{AllowedURLs: []string{}}}, post(server.URL))
	if out := r.Fire(t.Context(), OnPreToolUse(shell(t, "ls"))); !strings.Contains(out.Reason, "allowedHttpHookUrls") {
		t.Errorf("an empty list allows: %s", out.Reason)
	}
}

func TestWildcard(t *testing.T) {
	tests := []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"a*", "abc", true}, {"*c", "abc", true}, {"a*c", "abc", true},
		{"a*c", "ac", true}, {"a*c", "abd", false}, {"a*b*c", "a1b2c", true}, {"a*b*c", "a1c2b", false}, {"ab*b", "ab", false}, {"b*", "ab", false},
	}
	for _, tt := range tests {
		if got := wildcard(tt.pattern, tt.text); got != tt.want {
			t.Errorf("wildcard(%q, %q) = %v", tt.pattern, tt.text, got)
		}
	}
}

func TestLongAnswerOfAServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, strings.Repeat("x", 60_000))
	}))
	defer server.Close()
	dir := t.TempDir()
	r, _ := start(t, Config{Results: saved(dir)}, json.RawMessage(strings.Replace(string(post(server.URL)), "PreToolUse", "UserPromptSubmit", 1)))
	if got := contextOf(t, r); !strings.Contains(got, dir) || len(got) > 3000 {
		t.Errorf("%d characters", len(got))
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || filepath.Ext(files[0].Name()) != ".txt" {
		t.Errorf("%v, %v", files, err)
	}
}
