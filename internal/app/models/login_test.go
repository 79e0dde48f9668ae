package models

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/net/keyring"
)

const goodKey = "sk-good-0123456789-0123456789"

// logIn returns a login for a provider at a test server, and its configuration.
func logIn(t *testing.T, address string, env map[string]string) (*Login, Config) {
	t.Helper()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	keys := OpenKeys(filepath.Join(t.TempDir(), "home"))
	vars := map[string]string{"ANTHROPIC_BASE_URL": address}
	for name, value := range env {
		vars[name] = value
	}
	c := Config{Settings: testSettings(t, "", vars), Keys: keys, Version: "1", Say: func(text string) { t.Error(text) }}
	l, err := NewLogin(c, "anthropic")
	if err != nil {
		t.Fatal(err)
	}
	return l, c
}

// TestCheckKey checks that a key is validated with one free request and not sent to any other
// host.
func TestCheckKey(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("unexpected request for %s", r.URL) }))
	defer elsewhere.Close()
	for _, tt := range []struct {
		name, key, base string
		answer          http.HandlerFunc
		want            string // expected in the error
		rejected        bool
	}{
		{"accepted", goodKey, "", nil, "", false},
		{"accepted with the version in the address", goodKey, "/v1/", nil, "", false},
		{"wrong", "sk-wrong-key", "", nil, "invalid key ***", true},
		{"redirect", goodKey, "", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }, "HTTP 302", false},
		{"failing", goodKey, "", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, "HTTP 503", false},
	} {
		asked := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked++; r.Method != "GET" || r.URL.Path != "/v1/models" || !strings.HasPrefix(r.UserAgent(), "adze/1 (") || r.Header.Get("Anthropic-Version") == "" {
				t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
			}
			switch key := r.Header.Get("X-Api-Key"); {
			case tt.answer != nil:
				tt.answer(w, r)
			case key != goodKey:
				w.WriteHeader(401)
				io.WriteString(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid key `+key+`"}}`)
			}
		}))
		l, _ := logIn(t, s.URL+tt.base, nil)
		err := l.Check(t.Context(), tt.key)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) || errors.Is(err, ErrRejected) != tt.rejected || asked != 1 {
			t.Errorf("%s: %v after %d requests", tt.name, err, asked)
		}
		s.Close()
	}
	for key, want := range map[string]string{"": "no key", "two words": "it contains a space", "line\nbreak": "a line break", "sk-ключ": "a character", goodKey: ""} {
		if err := CheckKey(key); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", key, err)
		}
	}
}

// TestStoredKey checks that a stored key has lower precedence than the environment and the
// settings, and is only sent to its host.
//
// Proves PROV-04.
func TestStoredKey(t *testing.T) {
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("X-Api-Key")+r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"id":"m","type":"message","model":"m","content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
	}))
	defer s.Close()
	l, c := logIn(t, s.URL, nil)
	if e, err := l.Store(t.Context(), goodKey, keyring.File); err != nil || e.Host != strings.TrimPrefix(s.URL, "http://") {
		t.Fatalf("stored %+v, %v", e, err)
	}
	home := filepath.Dir(c.Keys.store.Path())
	run := func(vars map[string]string) (*Backend, error) {
		t.Helper()
		if c.Keys = OpenKeys(home); c.Keys.Err() != nil {
			t.Fatal(c.Keys.Err())
		}
		c.Say, c.Settings = func(string) {}, testSettings(t, "", vars)
		b, err := Open(c, "m")
		if err != nil {
			return nil, err
		}
		for _, err := range b.Provider.Stream(t.Context(), &model.Request{Model: "m", MaxTokens: 10, Messages: []msg.Message{msg.UserText("hi")}}) {
			if err != nil {
				t.Error(err)
			}
		}
		return b, b.Close()
	}
	if b, err := run(map[string]string{"ANTHROPIC_BASE_URL": s.URL}); err != nil || b.KeySource != StoredSource {
		t.Errorf("%+v, %v", b, err)
	}
	if _, err := run(map[string]string{"ANTHROPIC_BASE_URL": s.URL, "ANTHROPIC_API_KEY": "of-the-environment"}); err != nil {
		t.Error(err)
	}
	if len(got) != 2 || got[0] != goodKey || got[1] != "of-the-environment" {
		t.Errorf("keys %q", got)
	}
	// Another address, such as the real one, does not receive it.
	for _, vars := range []map[string]string{nil, {"ANTHROPIC_BASE_URL": "https://gateway.example"}} {
		if _, err := run(vars); err == nil || !strings.Contains(err.Error(), "is not sent to") || !strings.Contains(err.Error(), "adze auth login anthropic") {
			t.Errorf("%v: %v", vars, err)
		}
	}
	if list := builtIn()[0].credentials(testSettings(t, "", map[string]string{"ANTHROPIC_BASE_URL": s.URL, "ANTHROPIC_API_KEY": goodKey}), c.Keys); len(list) != 2 ||
		!list[0].Used || list[0].Key != "…6789" || list[1].Used || list[1].Place != keyring.File {
		t.Errorf("credentials %+v", list)
	}
}

// Proves X-070.
func TestSignIn(t *testing.T) {
	var challenge string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/auth": // authorization page
			q := r.URL.Query()
			if challenge = q.Get("code_challenge"); q.Get("code_challenge_method") != "S256" || q.Has("client_id") {
				t.Errorf("asked with %v", q)
			}
			http.Redirect(w, r, strings.Replace(q.Get("callback_url"), "localhost", "127.0.0.1", 1)+"?code=c0de", http.StatusFound)
		case "/api/v1/auth/keys":
			var in struct {
				Code     string
				Verifier string `json:"code_verifier"`
				Method   string `json:"code_challenge_method"`
			}
			if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
				t.Error(err)
			}
			sum := sha256.Sum256([]byte(in.Verifier))
			if in.Code != "c0de" || in.Method != "S256" || base64.RawURLEncoding.EncodeToString(sum[:]) != challenge {
				w.WriteHeader(403)
				return
			}
			json.NewEncoder(w).Encode(map[string]string{"key": goodKey})
		default:
			t.Errorf("unexpected request for %s", r.URL)
		}
	}))
	defer s.Close()
	l, _ := logIn(t, s.URL+"/api", nil)
	if _, err := l.SignIn(t.Context(), nil); err == nil {
		t.Error("signed in where that is not offered")
	}
	l.Browser, l.account.Authorize, l.account.Exchange = true, "https://site.example/auth", "auth/keys"
	done := make(chan error, 1)
	key, err := l.SignIn(t.Context(), func(address string) error {
		if u, err := url.Parse(address); err != nil || u.Query().Get("callback_url") == "" {
			t.Errorf("address %s", address)
		}
		go func() {
			res, err := http.Get(address)
			if err == nil {
				res.Body.Close()
			}
			done <- err
		}()
		return nil
	})
	if key != goodKey || err != nil {
		t.Errorf("key %q, %v", key, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestAccounts checks that key checks use the provider's documented URL and that every provider
// with a key has one.
func TestAccounts(t *testing.T) {
	want := map[string]string{
		"anthropic": "https://api.anthropic.com/v1/models?limit=1", "openai": "https://api.openai.com/v1/models",
		"gemini": "https://generativelanguage.googleapis.com/v1beta/models?pageSize=1", "grok": "https://api.x.ai/v1/models",
		"openrouter": "https://openrouter.ai/api/v1/key",
	}
	s := testSettings(t, "", nil)
	for _, name := range Logins() {
		l, err := NewLogin(Config{Settings: s, Say: func(text string) { t.Error(text) }}, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		req, err := l.request(t.Context(), http.MethodGet, l.account.Probe, nil)
		if err != nil || want[name] != "" && req.URL.String() != want[name] || req.URL.Host != l.Host || l.Page == "" || l.account.Probe == "" {
			t.Errorf("%s: %v, %v", name, req.URL, err)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("no login at %v", want)
	}
	for _, name := range []string{"bedrock", "vertex", "foundry", "ollama"} {
		if _, err := NewLogin(Config{Settings: s}, name); err == nil || !strings.Contains(err.Error(), "no API key to store") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if l, err := NewLogin(Config{Settings: s, Say: func(string) {}}, "openrouter"); err != nil || !l.Browser {
		t.Errorf("openrouter: %+v, %v", l, err)
	}
}
