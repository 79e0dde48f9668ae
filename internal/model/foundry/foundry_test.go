package foundry

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/modeltest"
	"adze/internal/model/wire"
	"adze/internal/msg"
	"adze/internal/platform/net/oauth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func provider(t *testing.T, c Config, wc wire.Config, h http.Handler) *wire.Provider {
	t.Helper()
	s, err := Service(c)
	if err != nil {
		t.Fatal(err)
	}
	wc.Version, wc.Transport, wc.BaseURL = "1", modeltest.Transport(h), c.BaseURL
	p, err := wire.New(s, wc)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Proves PROV-60, PROV-01.
func TestConformance(t *testing.T) {
	modeltest.Run(t, modeltest.Dialect{Server: messages.Server{}}, func(t *testing.T, h http.Handler) model.Provider {
		return provider(t, Config{Resource: "res", HasKey: true}, wire.Config{APIKey: "key-of-the-test"}, h)
	})
}

// Proves PROV-03.
func TestRequest(t *testing.T) {
	directory := modeltest.Transport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() != "https://login.microsoftonline.com/tenant/oauth2/v2.0/token" {
			t.Errorf("asked %s", r.URL)
		}
		io.WriteString(w, `{"access_token":"entra-token","expires_in":3600}`)
	}))
	env := map[string]string{"AZURE_TENANT_ID": "tenant", "AZURE_CLIENT_ID": "c", "AZURE_CLIENT_SECRET": "s"}
	for name, c := range map[string]struct {
		conf   Config
		key    string
		url    string
		header [2]string
	}{
		"key":     {Config{Resource: "my-res", HasKey: true}, "key-of-the-test", "https://my-res.services.ai.azure.com/anthropic/v1/messages", [2]string{"X-Api-Key", "key-of-the-test"}},
		"token":   {Config{Resource: "my-res"}, "", "https://my-res.services.ai.azure.com/anthropic/v1/messages", [2]string{"Authorization", "Bearer entra-token"}},
		"address": {Config{BaseURL: "https://gateway.example/anthropic"}, "", "https://gateway.example/anthropic/v1/messages", [2]string{"Authorization", "Bearer entra-token"}},
		"gateway": {Config{BaseURL: "https://gateway.example/anthropic", SkipAuth: true}, "", "https://gateway.example/anthropic/v1/messages", [2]string{"Authorization", ""}},
	} {
		c.conf.Env = oauth.Env{Getenv: func(name string) string { return env[name] }, Home: t.TempDir()}
		p := provider(t, c.conf, wire.Config{APIKey: c.key, AuthTransport: directory}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.String() != c.url || r.Header.Get(c.header[0]) != c.header[1] || r.Header.Get("Anthropic-Version") != "2023-06-01" {
				t.Errorf("%s: posted to %s with %v", name, r.URL, r.Header)
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"id":"m","type":"message","content":[],"stop_reason":"end_turn"}`)
		}))
		req := &model.Request{Model: "claude-opus-5-5", MaxTokens: 100, Messages: []msg.Message{msg.UserText("hi")}}
		for _, err := range p.Stream(t.Context(), req) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, c := range []Config{{}, {Resource: "https://x"}, {Resource: "evil.example/"}} {
		if _, err := Service(c); err == nil || !strings.Contains(err.Error(), "ANTHROPIC_FOUNDRY_RESOURCE") {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}

// Proves PROV-55.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		kind   model.Kind
		says   string
	}{
		{404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, model.NoModel, "Deploy the model"},
		{401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`, model.Auth, "ANTHROPIC_FOUNDRY_API_KEY"},
		{401, `{"error":{"code":"PermissionDenied","message":"The principal lacks the required data action"}}`, model.Auth, "Cognitive Services User"},
		{429, `{"error":{"code":"429","message":"Requests have exceeded the rate limit."}}`, model.RateLimited, ""},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, model.Overloaded, ""},
		{502, `<html>`, model.ServerFault, ""},
	} {
		e := Dialect{}.Error(c.status, []byte(c.body))
		if said := model.Explain(e, "x", true); e.Kind != c.kind || !strings.Contains(said, c.says) {
			t.Errorf("%s: kind %v, said %s", c.body, e.Kind, said)
		}
	}
}
