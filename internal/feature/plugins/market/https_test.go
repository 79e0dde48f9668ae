package market

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"adze/internal/domain/plugin"
)

// serve serves over https, and makes the bench trust the server.
func (b *bench) serve(handler http.Handler) *httptest.Server {
	b.t.Helper()
	server := httptest.NewTLSServer(handler)
	b.t.Cleanup(server.Close)
	cert := filepath.Join(b.t.TempDir(), "cert.pem")
	if err := os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		b.t.Fatal(err)
	}
	environ := b.cfg.Environ
	b.cfg.Environ = func() []string { return append(environ(), "GIT_SSL_CAINFO="+cert, "NO_PROXY=*", "no_proxy=*") }
	return server
}

// TestHTTPS checks that a repository is fetched over https and that progress is reported.
func TestHTTPS(t *testing.T) {
	b := newBench(t)
	repo, commit := newRepository(t, merge(list(`{"name": "a", "source": "./a"}`), map[string]string{"a/x": "x"}))
	var mu sync.Mutex
	var said []string
	b.cfg.Report = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, text)
	}
	server := b.serve(&cgi.Handler{Path: filepath.Join(gitIn(t, repo, "--exec-path"), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + repo, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}, InheritEnv: []string{"PATH"}})
	src, err := ParseSource(server.URL+"/.git", "/", "")
	if err != nil {
		t.Fatal(err)
	}
	l, err := b.Add(t.Context(), src)
	if err != nil || l.Commit != commit {
		t.Fatal(l, err)
	}
	b.install("a")
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(strings.Join(said, "\n"), "Receiving objects: 100%") {
		t.Errorf("reported is %q", said)
	}
}

// TestPassword checks that git neither prompts nor waits for a password that a server requires;
// the fetch fails with an error.
func TestPassword(t *testing.T) {
	program, mark := trap(t)
	b := newBench(t)
	b.cfg.Environ = func() []string { return environ(t, program) }
	server := b.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	if _, err := b.Add(t.Context(), plugin.Source{Kind: plugin.Git, At: server.URL + "/x.git"}); err == nil || !strings.Contains(err.Error(), "git: ") {
		t.Error(err)
	}
	sprung(t, mark)
	if left := b.left(); len(left) > 0 {
		t.Error("left are", left)
	}
}

// TestRedirectedProtocol checks that a server can't redirect git to another protocol.
func TestRedirectedProtocol(t *testing.T) {
	repo, _ := newRepository(t, list())
	for _, to := range []string{"file://" + repo, "http://127.0.0.1:1/x", "ext::sh"} {
		b := newBench(t)
		server := b.serve(http.RedirectHandler(to, http.StatusMovedPermanently))
		if _, err := b.Add(t.Context(), plugin.Source{Kind: plugin.Git, At: server.URL + "/x.git"}); err == nil {
			t.Errorf("%s is followed", to)
		}
	}
}

// TestRedirectedHost checks that a server can't redirect git to another host or repository.
func TestRedirectedHost(t *testing.T) {
	repo, _ := newRepository(t, list())
	asked := false
	other := httptest.NewTLSServer(&cgi.Handler{Path: filepath.Join(gitIn(t, repo, "--exec-path"), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + repo, "GIT_HTTP_EXPORT_ALL=1"}, InheritEnv: []string{"PATH"}})
	t.Cleanup(other.Close)
	watch := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked = true; other.Config.Handler.ServeHTTP(w, r) })
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect} {
		b := newBench(t)
		target := b.serve(watch)
		server := b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, target.URL+"/.git/info/refs?"+r.URL.RawQuery, status)
		}))
		_, err := b.Add(t.Context(), plugin.Source{Kind: plugin.Git, At: server.URL + "/x.git"})
		if err == nil || !strings.Contains(err.Error(), "name its new address") {
			t.Errorf("%d: %v", status, err)
		}
		if asked {
			t.Errorf("%d: request sent to the other host", status)
		}
	}
}

// TestHangingServer checks that a fetch from an unresponsive server can be canceled.
func TestHangingServer(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	server := b.serve(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	if _, err := b.Add(ctx, plugin.Source{Kind: plugin.Git, At: server.URL + "/x.git"}); err == nil {
		t.Error("it is added")
	}
	if left := b.left(); len(left) > 0 {
		t.Error("left are", left)
	}
}
