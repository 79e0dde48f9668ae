package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/mcp/signin/signintest"
	"adze/internal/platform/net/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A stage is a server that requires a sign-in, and a client for it.
type stage struct {
	*signintest.Server
	t     *testing.T
	home  string
	entry *roster.Entry
	now   time.Time
	said  []string
}

func newStage(t *testing.T) *stage {
	s := &stage{Server: signintest.New(false), t: t, home: filepath.Join(t.TempDir(), "home"), now: time.Now()}
	t.Cleanup(s.Close)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none")) // no keyring
	s.entry = &roster.Entry{Name: "vault", Type: roster.HTTP, URL: s.Address()}
	return s
}

// logins returns the servers with a stored token.
func (s *stage) logins() ([]Login, error) {
	stored, err := s.keeper().store.List()
	return Logins(stored), err
}

// keeper returns another process's keeper.
func (s *stage) keeper() *TokenStore {
	return New(Config{
		Home: s.home, Version: "1", Now: func() time.Time { return s.now }, Say: func(text string) { s.said = append(s.said, text) },
		Network: func() transport.Config {
			return transport.Config{RootCAs: s.PEM(), Getenv: func(string) string { return "" }}
		},
	})
}

// login signs in as a user who consents.
func (s *stage) login(k *TokenStore, scopes ...string) error {
	a, err := k.Begin(s.t.Context(), s.entry, scopes...)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- s.Consent(s.t.Context(), a.URL) }()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	err = a.Wait(ctx)
	if browsed := <-done; browsed != nil && err == nil {
		err = browsed
	}
	return err
}

// call calls a server method through the keeper and returns the response.
func (s *stage) call(k *TokenStore, method string) (string, error) {
	base := transport.New(transport.Config{RootCAs: s.PEM(), Getenv: func(string) string { return "" }})
	defer base.CloseIdleConnections()
	client := &http.Client{Transport: k.Carry(s.entry, base)}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.entry.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"arguments":{}}}`))
	if err != nil {
		s.t.Fatal(err)
	}
	for name, value := range s.entry.Headers {
		req.Header.Set(name, value)
	}
	res, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return fmt.Sprintf("%d %s", res.StatusCode, body), err
}

// works reports an error unless the server answers.
func (s *stage) works(k *TokenStore, method string) {
	s.t.Helper()
	if text, err := s.call(k, method); err != nil || !strings.HasPrefix(text, "200 ") {
		s.t.Errorf("%s: %s, %v", method, text, err)
	}
}

// wants reports an error unless the server requires a sign-in.
func (s *stage) wants(k *TokenStore) *mcp.AuthError {
	s.t.Helper()
	text, err := s.call(k, "tools/call")
	var auth *mcp.AuthError
	if !errors.As(err, &auth) || auth.Server != "vault" {
		s.t.Fatalf("not asked to sign in: %s, %v", text, err)
	}
	return auth
}

// count returns the number of requests of a kind.
func (s *stage) count(request string) (n int) {
	for _, asked := range s.Asked() {
		if asked == request {
			n++
		}
	}
	return n
}

// TestSignIn checks the whole flow: requests, storage, lifetime and sign-out.
//
// Proves MCP-25, X-070.
func TestSignIn(t *testing.T) {
	s := newStage(t)
	k := s.keeper()
	s.wants(k)
	k.Cache.Note(s.entry)
	if err := s.login(k); err != nil {
		t.Fatal(err)
	}
	s.works(k, "tools/call")
	if k.Cache.Needed(s.entry) {
		t.Error("the cache still requires a sign-in")
	}
	if info, err := os.Stat(filepath.Join(s.home, "credentials.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	list, err := s.logins()
	if err != nil || len(list) != 1 || list[0].Server != "vault" || "https://"+list[0].Host != s.URL {
		t.Errorf("logins %+v, %v", list, err)
	}
	// Another process also has the token, and replaces it before it expires.
	other := s.keeper()
	s.works(other, "ping")
	s.now = s.now.Add(59*time.Minute + 30*time.Second)
	s.works(other, "ping")
	if n := s.count("POST /token refresh_token"); n != 1 {
		t.Errorf("replaced %d times", n)
	}
	// The first process uses the token stored by the other; using a refresh token twice would
	// void all tokens.
	s.works(k, "ping")
	// A rejected token is replaced.
	s.Expire(false)
	s.works(k, "tools/call")
	if n := s.count("POST /token refresh_token"); n != 2 {
		t.Errorf("replaced %d times", n)
	}
	if err := k.Logout(t.Context(), "vault"); err != nil || len(s.said) > 0 {
		t.Errorf("logout: %v, %q", err, s.said)
	}
	if access, refresh := s.Tokens(); len(refresh) != 0 || s.count("POST /revoke") != 1 {
		t.Errorf("it was not revoked: %d, %d", len(access), len(refresh))
	}
	s.wants(k)
	s.wants(s.keeper())
	if err := k.Logout(t.Context(), "vault"); !errors.Is(err, ErrNotSignedIn) {
		t.Errorf("logout twice: %v", err)
	}
	if faults := s.Faults(); len(faults) > 0 {
		t.Errorf("the service complains: %q", faults)
	}
}

// TestIdleConnectionCloses checks that posts never reuse a connection, since a service may
// close an idle one while the user signs in, or between two tokens.
//
// Proves MCP-25.
func TestIdleConnectionCloses(t *testing.T) {
	s := newStage(t)
	used := map[string]bool{}
	s.Intercept = func(_ http.ResponseWriter, r *http.Request) bool {
		if used[r.RemoteAddr] && r.Method == http.MethodPost && r.URL.Path != "/mcp" {
			panic(http.ErrAbortHandler)
		}
		used[r.RemoteAddr] = true
		return false
	}
	k := s.keeper()
	if err := s.login(k); err != nil {
		t.Fatal(err)
	}
	s.Expire(false)
	s.works(k, "ping")
	if err := k.Logout(t.Context(), "vault"); err != nil || len(s.said) > 0 {
		t.Errorf("logout: %v, %q", err, s.said)
	}
}

// TestRevoked checks that a token that is also void at the service is removed, and that the
// user has to sign in again.
func TestRevoked(t *testing.T) {
	s := newStage(t)
	k := s.keeper()
	if err := s.login(k); err != nil {
		t.Fatal(err)
	}
	s.Expire(true)
	s.wants(k)
	if list, err := s.logins(); len(list) != 0 || err != nil {
		t.Errorf("still stored: %v, %v", list, err)
	}
	if err := s.login(k); err != nil {
		t.Fatal(err)
	}
	s.works(k, "ping")
	// A service outage does not require a new sign-in.
	s.Expire(false)
	s.Change(func(server *signintest.Server) { server.Down = true })
	var auth *mcp.AuthError
	if _, err := s.call(k, "ping"); err == nil || errors.As(err, &auth) || !strings.Contains(err.Error(), "503") {
		t.Errorf("a service that is down: %v", err)
	}
	s.Change(func(server *signintest.Server) { server.Down = false })
	s.works(k, "ping")
}

// TestNotReplaced checks that a token that cannot be replaced is used until it is rejected, and
// that an error response with status 200 is an error.
func TestNotReplaced(t *testing.T) {
	s := newStage(t)
	s.Answer = func(m map[string]any) { delete(m, "refresh_token") }
	k := s.keeper()
	if err := s.login(k); err != nil {
		t.Fatal(err)
	}
	for _, passed := range []time.Duration{59 * time.Minute, 2 * time.Minute} {
		s.now = s.now.Add(passed)
		s.works(k, "ping")
		s.works(k, "ping")
	}
	if n := s.count("POST /token refresh_token"); n != 0 || s.count("POST /mcp") != 5 { // one request got the challenge
		t.Errorf("asked %q", s.Asked())
	}
	s.Expire(false)
	s.wants(k)
	s.wants(k)

	s.Change(func(server *signintest.Server) { server.Answer = nil })
	if err := s.login(k); err != nil {
		t.Fatal(err)
	}
	s.Expire(false)
	s.Change(func(server *signintest.Server) {
		server.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/token" {
				io.WriteString(w, `{"error":"bad_refresh_token","error_description":"\u202eit is void"}`)
				return true
			}
			return false
		}
	})
	s.wants(k)
	if err := s.login(k); err == nil || !strings.Contains(err.Error(), "bad_refresh_token it is void") {
		t.Errorf("signed in: %v", err)
	}
}

// TestRenewOnce checks that concurrent requests and processes refresh the token once.
func TestRenewOnce(t *testing.T) {
	s := newStage(t)
	first := s.keeper()
	if err := s.login(first); err != nil {
		t.Fatal(err)
	}
	keepers := []*TokenStore{first, s.keeper()}
	s.works(keepers[1], "ping")
	s.Expire(false)
	var group sync.WaitGroup
	for i := range 12 {
		group.Go(func() { s.works(keepers[i%2], "ping") })
	}
	group.Wait()
	if n := s.count("POST /token refresh_token"); n != 1 || len(s.Faults()) > 0 {
		t.Errorf("replaced %d times; %q", n, s.Faults())
	}
}

// TestScopes checks that scopes come from the challenge, then from the metadata, or are empty,
// and that authorized scopes are kept.
//
// Proves MCP-25.
func TestScopes(t *testing.T) {
	s := newStage(t)
	k := s.keeper()
	asked := func(scopes ...string) string {
		t.Helper()
		a, err := k.Begin(t.Context(), s.entry, scopes...)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		u, err := url.Parse(a.URL)
		if err != nil {
			t.Fatal(err)
		}
		if !u.Query().Has("scope") {
			return "none"
		}
		return u.Query().Get("scope")
	}
	if got := asked(); got != "none" {
		t.Errorf("without scopes: %s", got)
	}
	s.Change(func(server *signintest.Server) {
		server.Resource = func(m map[string]any) map[string]any {
			m["scopes_supported"] = []string{"a", "b c", "d\"e", "f"}
			return m
		}
	})
	if got := asked(); got != "a f" {
		t.Errorf("described: %s", got)
	}
	s.Change(func(server *signintest.Server) { server.Basic, server.Scope = "basic", "tools" })
	if got := asked("more"); got != "basic more" {
		t.Errorf("named: %s", got)
	}
	if err := s.login(k); err != nil {
		t.Fatal(err)
	}
	s.works(k, "ping")
	if auth := s.wants(k); auth.Scope != "tools" {
		t.Errorf("the scope that is missing: %q", auth.Scope)
	}
	if got := asked(); got != "basic tools" {
		t.Errorf("stepping up: %s", got)
	}
	first := k
	if k = s.keeper(); asked() != "basic tools" {
		t.Errorf("stepping up in another process: %s", asked())
	}
	s.now = s.now.Add(20 * time.Minute)
	if k = s.keeper(); asked() != "basic tools" {
		t.Errorf("stepping up in another process, later: %s", asked())
	}
	s.now, k = s.now.Add(-20*time.Minute), first
	if err := s.login(k); err != nil {
		t.Fatal(err)
	}
	s.works(k, "tools/call")
	s.Change(func(server *signintest.Server) {
		server.Service = func(m map[string]any) map[string]any {
			m["scopes_supported"] = []string{"offline_access"}
			return m
		}
	})
	if got := asked(); got != "basic tools offline_access" {
		t.Errorf("for the next token: %s", got)
	}
	s.entry.OAuth = &roster.OAuth{Scopes: []string{"mine"}}
	if got := asked(); got != "basic tools mine offline_access" {
		t.Errorf("configured: %s", got)
	}
}

// TestServices checks discovery, client authentication and refusals; nothing is stored after a
// refusal.
//
// Proves MCP-25.
func TestServices(t *testing.T) {
	set := func(name string, value any) func(map[string]any) map[string]any {
		return func(m map[string]any) map[string]any {
			if m[name] = value; value == nil {
				delete(m, name)
			}
			return m
		}
	}
	none := func(map[string]any) map[string]any { return nil }
	move := func(from, to string) func(*stage) {
		return func(s *stage) {
			s.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
				switch r.URL.Path {
				case from:
					http.NotFound(w, r)
					return true
				case to:
					r.URL.Path = from
				}
				return false
			}
		}
	}
	const service, resource = "/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"
	answer := func(path, kind, body string) func(*stage) {
		return func(s *stage) {
			s.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != path {
					return false
				}
				w.Header().Set("Content-Type", kind)
				io.WriteString(w, body)
				return true
			}
		}
	}
	redirect := func(path, to string) func(*stage) {
		return func(s *stage) {
			s.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != path {
					return false
				}
				http.Redirect(w, r, strings.ReplaceAll(to, "HERE", s.URL), http.StatusFound)
				return true
			}
		}
	}
	for _, tt := range []struct {
		name string
		set  func(*stage)
		want string // substring of the error; empty means success
	}{
		{"as a rule", func(*stage) {}, ""},
		{"no address in the challenge", func(s *stage) { s.Challenge = `realm="x"` }, ""},
		{"resource at the root", func(s *stage) { s.Challenge = "x"; move(resource+"/mcp", resource)(s) }, ""},
		{"resource is the origin", func(s *stage) { s.Resource, s.Audience = set("resource", s.URL), s.URL }, ""},
		{"OpenID Connect", move(service, "/.well-known/openid-configuration"), ""},
		{"issuer with a path", func(s *stage) {
			move(service, service+"/tenant")(s)
			s.Resource = set("authorization_servers", []string{s.URL + "/tenant"})
			s.Service = set("issuer", s.URL+"/tenant")
			s.Callback = func(q url.Values) { q.Set("iss", s.URL+"/tenant") }
		}, ""},
		{"OpenID Connect before the path", func(s *stage) {
			move(service, "/.well-known/openid-configuration/tenant")(s)
			s.Resource = set("authorization_servers", []string{s.URL + "/tenant"})
			s.Service = set("issuer", s.URL+"/tenant")
			s.Callback = func(q url.Values) { q.Set("iss", s.URL+"/tenant") }
		}, ""},
		{"OpenID Connect after the path", func(s *stage) {
			move(service, "/tenant/.well-known/openid-configuration")(s)
			s.Resource = set("authorization_servers", []string{s.URL + "/tenant"})
			s.Service = set("issuer", s.URL+"/tenant")
			s.Callback = func(q url.Values) { q.Set("iss", s.URL+"/tenant") }
		}, ""},
		{"2025-03-26 with a description", func(s *stage) { s.Resource, s.Challenge = none, "x" }, ""},
		{"2025-03-26 with an issuer within", func(s *stage) {
			s.Resource, s.Challenge, s.Service = none, "x", set("issuer", s.URL+"/oauth")
			s.Callback = func(q url.Values) { q.Set("iss", s.URL+"/oauth") }
		}, ""},
		{"2025-03-26 with another issuer", func(s *stage) { s.Resource, s.Challenge, s.Service = none, "x", set("issuer", "https://evil.example") }, "identifies itself as"},
		{"an issuer within another", func(s *stage) { s.Service = set("issuer", s.URL+"/oauth") }, "identifies itself as"},
		{"2025-03-26 without", func(s *stage) { s.Resource, s.Service, s.Challenge = none, none, "x" }, ""},
		{"2025-03-26 at a web page", func(s *stage) {
			s.Challenge = "x"
			s.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if strings.HasPrefix(r.URL.Path, "/.well-known/") {
					io.WriteString(w, "<html>hello</html>")
					return true
				}
				return false
			}
		}, ""},
		{"basic", func(s *stage) { s.Method = "client_secret_basic" }, ""},
		{"post", func(s *stage) { s.Method = "client_secret_post" }, ""},
		{"configured description", func(s *stage) {
			s.Resource = set("authorization_servers", []string{"https://elsewhere.invalid"})
			s.entry.OAuth = &roster.OAuth{MetadataURL: s.URL + service}
		}, ""},
		{"registered by hand", func(s *stage) {
			s.Service, s.Method = set("registration_endpoint", nil), "client_secret_basic"
			port := freePort(s.t)
			s.AddClient("mine", "a/secret", fmt.Sprintf("http://localhost:%d/callback", port))
			s.entry.OAuth = &roster.OAuth{ClientID: "mine", ClientSecret: "a/secret", CallbackPort: port}
		}, ""},
		{"a document as the name", func(s *stage) {
			s.Service = set("client_id_metadata_document_supported", true)
			port := freePort(s.t)
			s.AddClient("https://a.example/client.json", "", fmt.Sprintf("http://localhost:%d/callback", port))
			s.entry.OAuth = &roster.OAuth{ClientID: "https://a.example/client.json", CallbackPort: port}
		}, ""},
		{"an unexpected client metadata document", func(s *stage) { s.entry.OAuth = &roster.OAuth{ClientID: "https://a.example/client.json"} }, ""},
		{"no issuer in the answer, none promised", func(s *stage) {
			s.Service = set("authorization_response_iss_parameter_supported", nil)
			s.Callback = func(q url.Values) { q.Del("iss") }
		}, ""},
		{"redirected on the host", redirect(service, "HERE/.well-known/openid-configuration"), "does not describe itself"},
		{"lifetime as a string", func(s *stage) { s.Answer = func(m map[string]any) { m["expires_in"] = "3600" } }, ""},

		{"no registration", func(s *stage) { s.Service = set("registration_endpoint", nil) }, "put clientId and callbackPort"},
		{"no PKCE", func(s *stage) { s.Service = set("code_challenge_methods_supported", nil) }, "does not offer PKCE"},
		{"plain PKCE", func(s *stage) { s.Service = set("code_challenge_methods_supported", []string{"plain"}) }, "does not offer PKCE"},
		{"another resource", func(s *stage) { s.Resource = set("resource", "https://other.example/mcp") }, "describes another one"},
		{"a neighbour", func(s *stage) { s.Resource = set("resource", s.URL+"/mc") }, "describes another one"},
		{"no resource", func(s *stage) { s.Resource = set("resource", nil) }, "describes another one"},
		{"no issuers", func(s *stage) { s.Resource = set("authorization_servers", []string{}) }, "no authorization metadata"},
		{"another issuer", func(s *stage) { s.Service = set("issuer", "https://evil.example") }, "identifies itself as https://evil.example"},
		{"an issuer without TLS", func(s *stage) { s.Resource = set("authorization_servers", []string{"http://auth.example"}) }, "not encrypted"},
		{"a file as issuer", func(s *stage) { s.Resource = set("authorization_servers", []string{"file:///etc"}) }, "not an address of the web"},
		{"link-local issuer", func(s *stage) { s.Resource = set("authorization_servers", []string{"https://169.254.169.254"}) }, "link-local"},
		{"script to sign in at", func(s *stage) { s.Service = set("authorization_endpoint", "javascript:alert(1)") }, "page to sign in at is refused"},
		{"shell to sign in at", func(s *stage) { s.Service = set("authorization_endpoint", "https://a.example/`reboot`") }, "page to sign in at is refused"},
		{"token without TLS", func(s *stage) { s.Service = set("token_endpoint", "http://a.example/token") }, "not encrypted"},
		{"token at a private address", func(s *stage) { s.Service = set("token_endpoint", "https://169.254.1.1/token") }, "link-local"},
		{"large", answer(service, "application/json", `{"issuer":"`+strings.Repeat("x", 2<<20)), "more than 1048576 bytes"},
		{"description elsewhere", redirect(resource+"/mcp", "https://127.0.0.1:1/x"), "status 302"},
		{"description in a file", redirect(resource+"/mcp", "file:///etc/passwd"), "status 302"},
		{"redirected for ever", redirect(resource+"/mcp", "HERE"+resource+"/mcp"), "status 302"},
		{"mixed up", func(s *stage) { s.Callback = func(q url.Values) { q.Set("iss", "https://evil.example") } }, "from another authorization server"},
		{"issuer promised", func(s *stage) { s.Callback = func(q url.Values) { q.Del("iss") } }, "does not identify its"},
		{"refused", func(s *stage) {
			s.Callback = func(q url.Values) {
				q.Del("code")
				q.Set("error", "access_denied")
				q.Set("error_description", "\x1b]0;own\x07no\u202e "+strings.Repeat("x", 9000))
			}
		}, "refused: access_denied ]0;ownno"},
		{"another code", func(s *stage) { s.Callback = func(q url.Values) { q.Set("code", "x") } }, "invalid_grant"},
		{"no token", func(s *stage) { s.Answer = func(m map[string]any) { delete(m, "access_token") } }, "without a token"},
		{"broken token", func(s *stage) { s.Answer = func(m map[string]any) { m["access_token"] = "a\r\nX: y" } }, "without a token"},
		{"MAC token", func(s *stage) { s.Answer = func(m map[string]any) { m["token_type"] = "mac" } }, `the type "mac"`},
		{"a page in place of a token", answer("/token", "text/html", "<html>"), "not the JSON"},
		{"port taken", func(s *stage) {
			u, _ := url.Parse(s.URL)
			var port int
			fmt.Sscan(u.Port(), &port)
			s.entry.OAuth = &roster.OAuth{CallbackPort: port}
		}, "no port to listen"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			tt.set(s)
			k := s.keeper()
			err := s.login(k)
			if tt.want == "" {
				if err != nil {
					t.Fatalf("%v; asked %q; faults %q", err, s.Asked(), s.Faults())
				}
				s.works(k, "tools/call")
				s.Expire(false)
				s.works(k, "tools/call")
				if err := k.Logout(t.Context(), "vault"); err != nil || len(s.said) > 0 || len(s.Faults()) > 0 {
					t.Errorf("logout: %v, %q, %q", err, s.said, s.Faults())
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\x1b\x07\n") {
				t.Errorf("%v", err)
			}
			if list, err := s.logins(); len(list) > 0 || err != nil {
				t.Errorf("stored %v, %v", list, err)
			}
		})
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	s := signintest.New(true)
	defer s.Close()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	var port int
	fmt.Sscan(u.Port(), &port)
	return port
}

// TestVetting checks that a public server's services cannot be on this machine or in its
// network under any name, and that a local server's may be.
func TestVetting(t *testing.T) {
	s := newStage(t)
	k := s.keeper()
	for _, tt := range []struct {
		server string
		good   bool
	}{
		{"https://93.184.216.34/mcp", false},
		{"https://192.168.1.2/mcp", false}, // private network, not this machine
		{"https://localhost/mcp", true},
		{"https://127.0.0.1:9/mcp", true},
	} {
		f, err := k.fetcher(t.Context(), &roster.Entry{URL: tt.server})
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		err = f.get(t.Context(), s.URL+"/.well-known/oauth-authorization-server", &m)
		if (err == nil) != tt.good || err != nil && !strings.Contains(err.Error(), "leads to a loopback address") {
			t.Errorf("%s: %v", tt.server, err)
		}
		f.close()
	}
	if n := s.count("GET /.well-known/oauth-authorization-server"); n != 2 {
		t.Errorf("%d requests", n)
	}
	for _, url := range []string{"http://mcp.example/mcp", "http://192.168.1.2/mcp", "ws://mcp.example/mcp"} {
		if _, err := k.Begin(t.Context(), &roster.Entry{Name: "plain", Type: roster.HTTP, URL: url, OAuth: &roster.OAuth{}}); err == nil || !strings.Contains(err.Error(), "https only") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if err := clean(errors.New("asking a\u202eb.example:\x1b[2J no\nroute")); err.Error() != "asking ab.example:[2J no route" {
		t.Errorf("%q", err)
	}
}

// TestTokenStaysWithItsServer checks that a token goes only to its server: not to another
// address with the same name, not to another host, not over a configured header, and not to an
// entry whose address changed.
//
// Proves MCP-25.
func TestTokenStaysWithItsServer(t *testing.T) {
	s := newStage(t)
	k := s.keeper()
	if err := s.login(k); err != nil {
		t.Fatal(err)
	}
	sent := func(e *roster.Entry, to, header string) string {
		t.Helper()
		var got string
		base := roundTrip(func(req *http.Request) (*http.Response, error) {
			got = req.Header.Get("Authorization")
			return &http.Response{StatusCode: 200, Body: http.NoBody, Request: req}, nil
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to, nil)
		if err != nil {
			t.Fatal(err)
		}
		if header != "" {
			req.Header.Set("Authorization", header)
		}
		if _, err := k.Carry(e, base).RoundTrip(req); err != nil {
			t.Fatal(err)
		}
		return got
	}
	access, _ := s.Tokens()
	if got := sent(s.entry, s.Address(), ""); got != "Bearer "+access[0] {
		t.Errorf("sent %q", got)
	}
	changed := *s.entry
	changed.URL += "2"
	other := *s.entry
	other.Name = "other"
	plain := *s.entry
	plain.URL = strings.Replace(s.entry.URL, "https", "http", 1)
	for _, tt := range []struct {
		e            *roster.Entry
		to, has, got string
	}{
		{s.entry, "https://evil.example/mcp", "", ""},
		{s.entry, "https://127.0.0.1:1/mcp", "", ""},
		{s.entry, plain.URL, "", ""},
		{s.entry, s.Address(), "Basic x", "Basic x"},
		{&changed, changed.URL, "", ""},
		{&other, other.URL, "", ""},
		{&plain, plain.URL, "", ""},
	} {
		if got := sent(tt.e, tt.to, tt.has); got != tt.got {
			t.Errorf("%s to %s: %q", tt.e.Name, tt.to, got)
		}
	}
	s.entry.Headers = map[string]string{"Authorization": "Bearer wrong"}
	var auth *mcp.AuthError
	if _, err := s.call(k, "ping"); err == nil || errors.As(err, &auth) || !strings.Contains(err.Error(), "of its configuration") {
		t.Errorf("a wrong header: %v", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestSecretsStayInTheirFile checks that no token, code, secret or verifier appears in
// messages, errors or files other than the token file, although the server repeats its input.
//
// Proves MCP-25.
func TestSecretsStayInTheirFile(t *testing.T) {
	s := newStage(t)
	s.Method = "client_secret_post"
	k := s.keeper()
	if err := s.login(k); err != nil {
		t.Fatal(err)
	}
	access, refresh := s.Tokens()
	var texts []string
	s.Change(func(server *signintest.Server) {
		server.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
			r.ParseForm()
			w.WriteHeader(500)
			fmt.Fprintf(w, `{"error":%q,"error_description":"oops"}`, r.URL.Path)
			return true
		}
	})
	s.now = s.now.Add(2 * time.Hour)
	_, err := s.call(k, "ping")
	if err == nil {
		t.Fatal("it works without a service")
	}
	texts = append(texts, err.Error(), fmt.Sprintf("%+v", s.entry), strings.Join(s.said, "\n"))
	files := 0
	err = filepath.WalkDir(s.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "credentials.json" {
			return err
		}
		data, err := os.ReadFile(path)
		texts, files = append(texts, string(data), path), files+1
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, text := range texts {
		for _, secret := range slices.Concat(access, refresh) {
			if strings.Contains(text, secret) {
				t.Errorf("a secret is in %s", text)
			}
		}
	}
}

// TestWithoutBrowser checks pasting the address from a browser on another machine, giving up,
// and being too late, and that a second attempt is independent of the first.
//
// Proves MCP-25.
func TestWithoutBrowser(t *testing.T) {
	s := newStage(t)
	k := s.keeper()
	a, err := k.Begin(t.Context(), s.entry)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if a, err = k.Begin(t.Context(), s.entry); err != nil {
		t.Fatal(err)
	}
	client := s.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Get(a.URL)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if err := a.Paste("what?"); err == nil {
		t.Error("anything is taken for an address")
	}
	if err := a.Paste(res.Header.Get("Location")); err != nil {
		t.Fatal(err)
	}
	if err := a.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.works(k, "tools/call")
	for _, e := range []*roster.Entry{
		{Name: "local", Type: roster.Stdio}, {Name: "broken", Type: roster.HTTP, Problem: fs.ErrInvalid},
		{Name: "other", Type: roster.HTTP, URL: s.Address(), Headers: map[string]string{"authorization": "Bearer x"}},
	} {
		if _, err := k.Begin(t.Context(), e); err == nil {
			t.Errorf("%s: signed in", e.Name)
		}
	}
}

// TestWithoutHome checks that without a state home a token is kept as long as the process runs.
func TestWithoutHome(t *testing.T) {
	s := newStage(t)
	s.home = ""
	k := s.keeper()
	if err := s.login(k); err != nil {
		t.Fatal(err)
	}
	s.works(k, "ping")
	s.Expire(false)
	s.works(k, "ping")
	s.wants(s.keeper())
}

// Proves MCP-26.
func TestCache(t *testing.T) {
	s := newStage(t)
	k := s.keeper()
	other := &roster.Entry{Name: "vault", URL: "https://other.example"}
	path := filepath.Join(s.home, "mcp-needs-auth-cache.json")
	begin := s.now
	k.Cache.Note(s.entry)
	for _, tt := range []struct {
		minutes time.Duration
		want    bool
	}{{0, true}, {14, true}, {16, false}, {-30, false}} {
		s.now = begin.Add(tt.minutes * time.Minute)
		if got := s.keeper().Cache.Needed(s.entry); got != tt.want {
			t.Errorf("after %d minutes: %v", tt.minutes, got)
		}
	}
	s.now = begin
	if k.Cache.Needed(other) {
		t.Error("no request to a server at another address")
	}
	k.Cache.Note(other)
	k.Cache.Clear(s.entry)
	if k.Cache.Needed(s.entry) || !k.Cache.Needed(other) {
		t.Error("the wrong one was cleared")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	// A challenge seen by another process is known to the process in which the user signs in,
	// even if the server accepts its first requests.
	s.Change(func(server *signintest.Server) {
		server.Challenge = `scope="for tools"`
		server.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/mcp" {
				return false
			}
			body, _ := io.ReadAll(r.Body) // ok: it is short
			if strings.Contains(string(body), "initialize") {
				w.WriteHeader(http.StatusOK)
				return true
			}
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			return false
		}
	})
	s.wants(s.keeper())
	k.Cache.Note(s.entry)
	if a, err := s.keeper().Begin(t.Context(), s.entry); err != nil || !strings.Contains(a.URL, "scope=for+tools") {
		t.Errorf("%v, %v", a, err)
	} else {
		a.Close()
	}
	for _, broken := range []string{"", "{", "null", `[1]`, `{"mcp:vault:1":7}`, strings.Repeat("x", maxCache+1)} {
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if s.keeper().Cache.Needed(s.entry) {
			t.Errorf("%.20q requires a sign-in", broken)
		}
		if k.Cache.Note(s.entry); !k.Cache.Needed(s.entry) {
			t.Errorf("%.20q was not rewritten", broken)
		}
	}
}

// Proves MCP-28.
func TestHeaders(t *testing.T) {
	k := New(Config{Dir: t.TempDir(), Environ: func() []string { return []string{"PATH=" + os.Getenv("PATH"), "GREETING=hello"} }})
	for _, tt := range []struct{ command, header, want string }{
		{`printf '{"X-Token":"%s"}' "$GREETING"`, "hello", ""},
		{`printf '{"X-Token":"%s %s"}' "$ADZE_MCP_SERVER_NAME" "$ADZE_MCP_SERVER_URL"`, "vault https://vault.example", ""},
		{`printf '{"X-Token":"%s"}' "$HOME"`, "", ""},
		{`echo '{}'`, "", ""},
		{"", "", ""},
		{`echo hunter2`, "", "must print a JSON object"},
		{`echo '{"X-Token": 7, "Y": "hunter2"}'`, "", "must print a JSON object"},
		{`echo null`, "", "must print a JSON object"},
		{`echo '["hunter2"]'`, "", "must print a JSON object"},
		{`echo '{"X Token":"hunter2"}'`, "", "cannot be sent"},
		{`echo '{"Host":"hunter2"}'`, "", "cannot be sent"},
		{`printf '{"X-Token":"hunter2\\r\\nEvil: 1"}'`, "", "cannot be sent"},
		{`echo '{"X-Token":"hunter2"}'; echo "no hunter2 here" >&2; exit 3`, "", "exit status 3: no *** here"},
		{`head -c 100000 /dev/zero`, "", "more than"},
	} {
		got, err := k.Headers(t.Context(), &roster.Entry{Name: "vault", URL: "https://vault.example", HeadersHelper: tt.command})
		if tt.want == "" && (err != nil || got["X-Token"] != tt.header) {
			t.Errorf("%s: %q, %v", tt.command, got, err)
		}
		if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s: %v", tt.command, err)
		}
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("enough"))
	defer cancel()
	if _, err := k.Headers(ctx, &roster.Entry{HeadersHelper: "exec sleep 20"}); err == nil || err.Error() != "enough" {
		t.Errorf("given up: %v", err)
	}
}

func TestChallenge(t *testing.T) {
	for text, want := range map[string]challenge{
		"":       {},
		"Bearer": {},
		`Bearer resource_metadata="https://a.example/x?y=1", scope="a b"`:       {metadata: "https://a.example/x?y=1", scope: "a b"},
		`bearer scope=a,error="insufficient_scope" , error_description="\"x\""`: {scope: "a", code: "insufficient_scope", text: `"x"`},
		`Basic realm="x, scope=y", Bearer scope="z"`:                            {scope: "z"},
		`Bearer scope="z", Digest scope="no", error="no"`:                       {scope: "z"},
		`Bearer scope="first", scope="second"`:                                  {scope: "first"},
		`Negotiate dG9rZW4=, Bearer error="e"`:                                  {code: "e"},
		`Bearer scope="open`:                                                    {scope: "open"},
		`Bearer scope="open\`:                                                   {scope: "open"},
		`Bearer , ,, =, "`:                                                      {},
	} {
		if got := challengeOf(http.Header{"Www-Authenticate": {text}}); got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// The server's name is not the first word, because front ends capitalize it.
func TestNothingToSignInTo(t *testing.T) {
	s := newStage(t)
	_, err := s.keeper().Begin(t.Context(), &roster.Entry{Name: "self", Type: roster.Stdio})
	if err == nil || !strings.HasPrefix(err.Error(), "the server self is a program") {
		t.Error(err)
	}
}
