// Package signintest implements a tool server that requires a sign-in and its authorization
// server, with TLS on the local machine. Both are strict and make all the checks the standards
// require.
package signintest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Server is both servers at one address. Its fields are set before use, or under
// [Server.Change].
type Server struct {
	*httptest.Server
	// Resource and Service modify the servers' metadata; may be nil. Returning a nil map means
	// no metadata.
	Resource, Service func(map[string]any) map[string]any
	// Challenge follows "Bearer " in the header of a 401; empty means the default.
	Challenge string
	// Callback modifies the parameters of the browser's redirect; may be nil.
	Callback func(url.Values)
	// Answer modifies the service's token responses; may be nil.
	Answer func(map[string]any)
	// Method is the required client authentication method; empty means "none".
	Method string
	// Scope is required to call tools, and Basic for everything else; may be empty.
	Scope, Basic string
	// Audience is the resource that tokens are for; empty means the tools' address.
	Audience string
	// Life is the lifetime of tokens in seconds; 0 means an hour.
	Life int
	// Down makes the service fail.
	Down bool
	// Intercept answers a request in place of the servers if it returns true; may be nil.
	Intercept func(http.ResponseWriter, *http.Request) bool

	mu      sync.Mutex
	clients map[string]client
	codes   map[string]code
	access  map[string]*token // issued access tokens
	refresh map[string]*token
	asked   []string
	faults  []string
}

type client struct {
	secret   string
	redirect []string
}

// A code can be exchanged for one token.
type code struct {
	client, redirect, challenge, resource, scope string
}

type token struct {
	family          *family
	client          string
	resource, scope string
	used            bool // refresh tokens only
}

// A family is the set of tokens from one sign-in. If a refresh token is used twice, all of them
// become void.
type family struct{ void bool }

// New starts a server, without TLS if plain.
func New(plain bool) *Server {
	s := &Server{clients: map[string]client{}, codes: map[string]code{}, access: map[string]*token{}, refresh: map[string]*token{}}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if plain {
		s.Start()
	} else {
		s.StartTLS()
	}
	return s
}

// PEM returns the server's certificate.
func (s *Server) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// Address returns the tools' address.
func (s *Server) Address() string { return s.URL + "/mcp" }

// Change calls f while no request is being handled.
func (s *Server) Change(f func(*Server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

// AddClient registers a client manually.
func (s *Server) AddClient(id, secret string, redirect ...string) {
	s.Change(func(*Server) { s.clients[id] = client{secret, redirect} })
}

// Expire expires all access tokens, and refresh tokens too if all is set.
func (s *Server) Expire(all bool) {
	s.Change(func(*Server) {
		clear(s.access)
		if all {
			clear(s.refresh)
		}
	})
}

// Tokens returns all valid access and refresh tokens.
func (s *Server) Tokens() (access, refresh []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for text, t := range s.refresh {
		if !t.used && !t.family.void {
			refresh = append(refresh, text)
		}
	}
	return slices.Sorted(maps.Keys(s.access)), refresh
}

// Asked returns the requests so far, as "METHOD PATH", plus the grant type for token requests.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Faults returns the clients' protocol violations.
func (s *Server) Faults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.faults)
}

func (s *Server) fault(w http.ResponseWriter, status int, code, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.faults = append(s.faults, text)
	write(w, status, map[string]any{"error": code, "error_description": text})
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	line := r.Method + " " + r.URL.Path
	if r.URL.Path == "/token" {
		line += " " + r.FormValue("grant_type")
	}
	s.asked = append(s.asked, line)
	if s.Intercept != nil && s.Intercept(w, r) {
		return
	}
	described := func(change func(map[string]any) map[string]any, m map[string]any) {
		if change != nil {
			m = change(m)
		}
		if m == nil {
			http.NotFound(w, r)
			return
		}
		write(w, http.StatusOK, m)
	}
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		described(s.Resource, map[string]any{"resource": s.Address(), "authorization_servers": []string{s.URL}})
	case "/.well-known/oauth-authorization-server":
		described(s.Service, s.description())
	case "/register":
		s.register(w, r)
	case "/authorize":
		s.authorize(w, r)
	case "/token":
		s.issue(w, r)
	case "/revoke":
		s.revoke(w, r)
	case "/mcp":
		s.tools(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) description() map[string]any {
	return map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
		"registration_endpoint": s.URL + "/register", "revocation_endpoint": s.URL + "/revoke",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{s.method()},
		"authorization_response_iss_parameter_supported": true,
	}
}

func (s *Server) method() string {
	if s.Method == "" {
		return "none"
	}
	return s.Method
}

func (s *Server) audience() string {
	if s.Audience == "" {
		return s.Address()
	}
	return s.Audience
}

// secret returns an unguessable string.
func secret(kind string) string { return kind + "-" + rand.Text() }

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var wish struct {
		Name     string   `json:"client_name"`
		Redirect []string `json:"redirect_uris"`
		Grants   []string `json:"grant_types"`
		Method   string   `json:"token_endpoint_auth_method"`
		Type     string   `json:"application_type"`
	}
	if json.NewDecoder(r.Body).Decode(&wish) != nil || len(wish.Redirect) == 0 || wish.Name == "" {
		s.fault(w, http.StatusBadRequest, "invalid_client_metadata", "a registration without a name or an address")
		return
	}
	for _, to := range wish.Redirect {
		if u, err := url.Parse(to); err != nil || u.Scheme != "http" || u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" {
			s.fault(w, http.StatusBadRequest, "invalid_redirect_uri", "the address %s", to)
			return
		}
	}
	if wish.Method != s.method() || wish.Type != "native" || !slices.Contains(wish.Grants, "refresh_token") {
		s.fault(w, http.StatusBadRequest, "invalid_client_metadata", "a registration with %+v", wish)
		return
	}
	id := secret("client")
	c := client{redirect: wish.Redirect}
	answer := map[string]any{"client_id": id, "redirect_uris": wish.Redirect, "token_endpoint_auth_method": wish.Method}
	if wish.Method != "none" {
		c.secret = secret("secret/+ ") // contains characters that must be escaped
		answer["client_secret"] = c.secret
	}
	s.clients[id] = c
	write(w, http.StatusCreated, answer)
}

func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	c, ok := s.clients[q.Get("client_id")]
	switch {
	case !ok || !slices.Contains(c.redirect, q.Get("redirect_uri")):
		s.fault(w, http.StatusBadRequest, "invalid_request", "an unknown client or address")
		return
	case q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43:
		s.fault(w, http.StatusBadRequest, "invalid_request", "no challenge")
		return
	case q.Get("resource") != s.audience():
		s.fault(w, http.StatusBadRequest, "invalid_target", "the resource %q", q.Get("resource"))
		return
	case len(q.Get("state")) < 16:
		s.fault(w, http.StatusBadRequest, "invalid_request", "no state")
		return
	}
	text := secret("code")
	s.codes[text] = code{q.Get("client_id"), q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("resource"), q.Get("scope")}
	back := url.Values{"code": {text}, "state": {q.Get("state")}, "iss": {s.URL}}
	if s.Callback != nil {
		s.Callback(back)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// identified returns the client that sent a request, or "".
func (s *Server) identified(r *http.Request) string {
	id, given, basic := r.BasicAuth()
	if basic {
		id, _ = url.QueryUnescape(id)
		given, _ = url.QueryUnescape(given)
	} else {
		id, given = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	c, ok := s.clients[id]
	if !ok || c.secret != given || s.method() == "client_secret_basic" != basic || s.method() == "none" && given != "" {
		return ""
	}
	return id
}

func (s *Server) issue(w http.ResponseWriter, r *http.Request) {
	if s.Down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	id := s.identified(r)
	if id == "" {
		s.fault(w, http.StatusUnauthorized, "invalid_client", "an unknown client")
		return
	}
	if r.PostFormValue("resource") != s.audience() {
		s.fault(w, http.StatusBadRequest, "invalid_target", "the resource %q", r.PostFormValue("resource"))
		return
	}
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		text := r.PostFormValue("code")
		c, ok := s.codes[text]
		delete(s.codes, text)
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if !ok || c.client != id || c.redirect != r.PostFormValue("redirect_uri") || c.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			s.fault(w, http.StatusBadRequest, "invalid_grant", "a code that is not valid")
			return
		}
		s.grant(w, &family{}, id, c.resource, c.scope)
	case "refresh_token":
		t := s.refresh[r.PostFormValue("refresh_token")]
		switch {
		case t == nil || t.client != id || t.family.void:
			write(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		case t.used:
			t.family.void = true
			s.fault(w, http.StatusBadRequest, "invalid_grant", "a refresh token was used twice")
		default:
			t.used = true
			s.grant(w, t.family, id, t.resource, t.scope)
		}
	default:
		s.fault(w, http.StatusBadRequest, "unsupported_grant_type", "the grant type %q", r.PostFormValue("grant_type"))
	}
}

func (s *Server) grant(w http.ResponseWriter, f *family, id, resource, scope string) {
	life := s.Life
	if life == 0 {
		life = 3600
	}
	access, refresh := secret("access"), secret("refresh")
	s.access[access] = &token{family: f, client: id, resource: resource, scope: scope}
	s.refresh[refresh] = &token{family: f, client: id, resource: resource, scope: scope}
	answer := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": life, "refresh_token": refresh, "scope": scope}
	if s.Answer != nil {
		s.Answer(answer)
	}
	write(w, http.StatusOK, answer)
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	if s.identified(r) == "" {
		s.fault(w, http.StatusUnauthorized, "invalid_client", "an unknown client")
		return
	}
	for _, all := range []map[string]*token{s.access, s.refresh} {
		if t := all[r.PostFormValue("token")]; t != nil {
			t.family.void = true
		}
	}
	w.WriteHeader(http.StatusOK)
}

// tools is the tool server, with an echo tool.
func (s *Server) tools(w http.ResponseWriter, r *http.Request) {
	text, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	t := s.access[text]
	if t == nil || t.family.void {
		header := `Bearer resource_metadata="` + s.URL + `/.well-known/oauth-protected-resource/mcp"`
		if s.Basic != "" {
			header += `, scope="` + s.Basic + `"`
		}
		if s.Challenge != "" {
			header = "Bearer " + s.Challenge
		}
		w.Header().Set("WWW-Authenticate", header)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Version   string          `json:"protocolVersion"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"params"`
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if body, err := io.ReadAll(r.Body); err != nil || json.Unmarshal(body, &m) != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.Method == "tools/call" && s.Scope != "" && !slices.Contains(strings.Fields(t.scope), s.Scope) {
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+s.Scope+`", resource_metadata="`+s.URL+`/.well-known/oauth-protected-resource/mcp"`)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	switch m.Method {
	case "initialize":
		answer["result"] = map[string]any{"protocolVersion": m.Params.Version, "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "vault", "version": "1"}}
	case "ping":
		answer["result"] = map[string]any{}
	case "tools/list":
		answer["result"] = map[string]any{"tools": []any{map[string]any{"name": "echo", "description": "Repeats the text that it gets.", "inputSchema": map[string]any{"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}}}}}}
	case "tools/call":
		answer["result"] = map[string]any{"content": []any{map[string]any{"type": "text", "text": "echo: " + string(m.Params.Arguments)}}}
	default:
		answer["error"] = map[string]any{"code": -32601, "message": "unknown method"}
	}
	write(w, http.StatusOK, answer)
}

// Consent acts as a browser whose user consents: it follows redirects until it returns to the
// program.
func (s *Server) Consent(ctx context.Context, address string) error {
	transport := s.Client().Transport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	browser := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	res, err := browser.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", res.StatusCode, text)
	}
	return err
}
