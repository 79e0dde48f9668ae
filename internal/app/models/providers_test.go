package models

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/fs/scope"
	"adze/internal/settings"
	"adze/internal/settings/config"
)

func testSettings(t *testing.T, extra string, vars map[string]string) *config.Settings {
	t.Helper()
	var files []config.File
	if extra != "" {
		files = append(files, config.TextOrFile(scope.Flag, "--settings", extra))
	}
	s, warnings := config.Load(config.Sources{Files: files, Getenv: func(name string) string { return vars[name] }}, settings.Keys())
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	return s
}

func choose(t *testing.T, flag string, s *config.Settings) (choice, error) {
	return newTable(s, func(text string) { t.Error(text) }).choose(flag, s, Keys{})
}

// Proves PROV-02.
func TestChooseProvider(t *testing.T) {
	tests := []struct {
		name, flag, settings string
		env                  map[string]string
		want, why            string
		problem              string
	}{
		{name: "nothing"},
		{name: "key", env: map[string]string{"ANTHROPIC_API_KEY": "k"}, want: "anthropic", why: "ANTHROPIC_API_KEY"},
		{name: "own key first", env: map[string]string{"ANTHROPIC_API_KEY": "k", "ADZE_API_KEY": "k"}, want: "anthropic", why: "ADZE_API_KEY"},
		{name: "token", env: map[string]string{"ANTHROPIC_AUTH_TOKEN": "k"}, want: "anthropic", why: "ANTHROPIC_AUTH_TOKEN"},
		{name: "helper", settings: `{"apiKeyHelper":"x"}`, want: "anthropic", why: "--settings:1:17"},
		{name: "address", env: map[string]string{"ANTHROPIC_BASE_URL": "http://localhost"}, want: "anthropic", why: "ANTHROPIC_BASE_URL"},
		{name: "openai", env: map[string]string{"OPENAI_API_KEY": "k"}, want: "openai", why: "OPENAI_API_KEY"},
		{name: "gemini", env: map[string]string{"GOOGLE_API_KEY": "k"}, want: "gemini", why: "GOOGLE_API_KEY"},
		{name: "grok", env: map[string]string{"XAI_API_KEY": "k"}, want: "grok", why: "XAI_API_KEY"},
		{name: "openrouter", env: map[string]string{"OPENROUTER_API_KEY": "k"}, want: "openrouter", why: "OPENROUTER_API_KEY"},
		{name: "a local server is not chosen", env: map[string]string{"OLLAMA_HOST": "127.0.0.1"}},
		{name: "unless it is named", flag: "ollama", want: "ollama", why: "--provider"},
		{name: "a user-defined provider", settings: `{"providers":{"mine":{"baseUrl":"https://x.example"}}}`, want: "mine", why: "--settings:1:14"},
		{name: "one's own after keys", settings: `{"providers":{"mine":{"baseUrl":"https://x.example"}}}`, env: map[string]string{"XAI_API_KEY": "k"}, want: "grok", why: "XAI_API_KEY"},
		{name: "one's own by name", flag: "mine", settings: `{"providers":{"mine":{"baseUrl":"https://x.example"}}}`, want: "mine", why: "--provider"},
		{name: "an address alone is not a cloud provider", env: map[string]string{"ANTHROPIC_BEDROCK_BASE_URL": "https://x.example"}},
		{name: "several keys", env: map[string]string{"XAI_API_KEY": "k", "OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}, want: "anthropic", why: "ANTHROPIC_API_KEY"},
		{name: "a cloud before keys", env: map[string]string{"ANTHROPIC_API_KEY": "k", "CLAUDE_CODE_USE_VERTEX": "1"}, want: "vertex", why: "CLAUDE_CODE_USE_VERTEX"},
		{name: "clouds in order", env: map[string]string{"CLAUDE_CODE_USE_FOUNDRY": "1", "CLAUDE_CODE_USE_BEDROCK": "true"}, want: "bedrock", why: "CLAUDE_CODE_USE_BEDROCK"},
		{name: "setting before a cloud", settings: `{"provider":"openai"}`, env: map[string]string{"CLAUDE_CODE_USE_BEDROCK": "1"}, want: "openai", why: "--settings:1:13"},
		{name: "variable before the setting", settings: `{"provider":"openai"}`, env: map[string]string{"ADZE_PROVIDER": "grok"}, want: "grok", why: "ADZE_PROVIDER"},
		{name: "flag before all", flag: "anthropic", settings: `{"provider":"openai"}`, env: map[string]string{"ADZE_PROVIDER": "grok"}, want: "anthropic", why: "--provider"},
		{name: "unknown", flag: "antropic", problem: "did you mean anthropic? The providers are: " + strings.Join(Names(), ", ")},
		{name: "unknown variable", env: map[string]string{"ADZE_PROVIDER": "zzz"}, problem: `unknown provider "zzz" (ADZE_PROVIDER)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := choose(t, tt.flag, testSettings(t, tt.settings, tt.env))
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) {
					t.Errorf("got %v, want %q", err, tt.problem)
				}
				return
			}
			name := ""
			if got.provider != nil {
				name = got.provider.name
			}
			if diff := cmp.Diff([]string{tt.want, tt.why}, []string{name, got.why}); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

// TestNoCredentials checks that without credentials one help screen is shown and nothing is
// run.
//
// Proves PROV-02.
func TestNoCredentials(t *testing.T) {
	for _, vars := range []map[string]string{{}, {"ADZE_PROVIDER": "anthropic"}, {"ADZE_PROVIDER": "vertex"}, {"ANTHROPIC_BASE_URL": "https://example.com"}} {
		_, err := Open(Config{Settings: testSettings(t, "", vars), Getenv: func(string) string { return "" }, Say: func(text string) { t.Error(text) }}, "default")
		if err == nil {
			t.Errorf("%v: no error", vars)
			continue
		}
		for _, want := range []string{"ANTHROPIC_API_KEY", "http://127.0.0.1", "adze demo"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v does not mention %s", vars, err, want)
			}
		}
	}
}

func TestKeySource(t *testing.T) {
	tests := []struct {
		vars map[string]string
		want string
	}{
		{map[string]string{"ANTHROPIC_API_KEY": "k"}, "ANTHROPIC_API_KEY"},
		{map[string]string{"OPENAI_API_KEY": "k"}, "OPENAI_API_KEY"},
		{map[string]string{"GOOGLE_API_KEY": "k"}, "GOOGLE_API_KEY"},
		{map[string]string{"ADZE_XAI_API_KEY": "k", "XAI_API_KEY": "k"}, "ADZE_XAI_API_KEY"},
		{map[string]string{"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "eu-west-1"}, "the AWS configuration"},
		{map[string]string{"CLAUDE_CODE_USE_VERTEX": "1", "ANTHROPIC_VERTEX_PROJECT_ID": "p"}, "the Google Cloud configuration"},
		{map[string]string{"CLAUDE_CODE_USE_FOUNDRY": "1", "ANTHROPIC_FOUNDRY_RESOURCE": "r"}, "the Azure configuration"},
		{map[string]string{"CLAUDE_CODE_USE_FOUNDRY": "1", "ANTHROPIC_FOUNDRY_RESOURCE": "r", "ANTHROPIC_FOUNDRY_API_KEY": "k"}, "ANTHROPIC_FOUNDRY_API_KEY"},
		{map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_AUTH_TOKEN": "t"}, "ANTHROPIC_AUTH_TOKEN"},
		{map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}, "none"},
		{map[string]string{"ANTHROPIC_BASE_URL": "http://localhost:1"}, "none"},
		{map[string]string{"ANTHROPIC_BASE_URL": "https://x.example", "ANTHROPIC_CUSTOM_HEADERS": "Authorization: Bearer x"}, "ANTHROPIC_CUSTOM_HEADERS"},
	}
	for _, tt := range tests {
		b, err := Open(Config{Settings: testSettings(t, "", tt.vars), Getenv: func(name string) string { return tt.vars[name] }, Say: func(text string) { t.Error(text) }}, "default")
		if err != nil || b.KeySource != tt.want {
			t.Errorf("%v: got %+v, %v", tt.vars, b, err)
		}
	}
}

func TestParseHeaders(t *testing.T) {
	got, err := parseHeaders("X-Team: core\n\n  X-Trace:a:b \nno header\nbad name: x\n")
	if diff := cmp.Diff(http.Header{"X-Team": {"core"}, "X-Trace": {"a:b"}}, got); diff != "" {
		t.Error(diff)
	}
	if err == nil || !strings.Contains(err.Error(), "no header, bad name") {
		t.Errorf("got %v", err)
	}
}

func TestExtraBody(t *testing.T) {
	for value, good := range map[string]bool{`{"a":1}`: true, `[1]`: false, `1`: false, `null`: false} {
		set := settings.DecodeProviders(testSettings(t, "", map[string]string{"ADZE_EXTRA_BODY": value})).Network
		raw, err := extraBody(set.ExtraBody, set.ExtraOrigin)
		if good != (err == nil) || good != (raw != nil) {
			t.Errorf("%s: got %s, %v", value, raw, err)
		}
	}
}

// TestProviderTable checks that every provider has a service and declared settings, and that its
// address cannot be set by a workspace.
//
// Proves PROV-02, PROV-03.
func TestProviderTable(t *testing.T) {
	s := testSettings(t, "", nil)
	for i := range builtIn() {
		p := &builtIn()[i]
		switch {
		case p.connect == nil && p.service == nil:
			t.Errorf("%s has no service", p.name)
		case p.service != nil && (p.service(s, "").Dialect == nil || p.service(s, "").Address == ""):
			t.Errorf("%s has no dialect or no address", p.name)
		case !p.local && p.connect == nil && (p.key == "" || p.account.Page == ""):
			t.Errorf("%s has no key or no account page", p.name)
		}
		for _, way := range p.ways() {
			if _, known := s.Key(way.key); way.key != "" && !known {
				t.Errorf("%s: %s is not a setting", p.name, way.key)
			}
		}
		for _, id := range []string{p.key, p.token} {
			if k, known := s.Key(id); id != "" && (!known || !k.Secret) {
				t.Errorf("%s: %s is not secret", p.name, id)
			}
		}
		if !slices.Contains(settings.Addresses(), p.baseURL) {
			t.Errorf("%s: a workspace could set %s", p.name, p.baseURL)
		}
	}
}
