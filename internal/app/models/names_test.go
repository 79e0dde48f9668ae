package models

import (
	"strings"
	"testing"

	"adze/internal/model/chat"
	"adze/internal/model/gemini"
	"adze/internal/model/messages"
	"adze/internal/model/responses"
	"adze/internal/model/wire"
)

const ownSettings = `{"providers":{
	"mine":{"dialect":"responses","baseUrl":"https://mine.example","apiKeyEnv":"MINE_KEY","model":"big","smallModel":"little",
		"models":{"big":{"contextWindow":64000,"maxOutput":4000,"images":true,"tools":true,"price":{"input":1,"output":2}},"little":{}}},
	"single":{"dialect":"messages","baseUrl":"http://127.0.0.1:9","models":{"only/one":{"contextWindow":9000,"maxOutput":900}}}}}`

// namesWith returns names for settings and variables given as NAME=VALUE fields.
func namesWith(t *testing.T, flag, extra, vars string) *names {
	t.Helper()
	env := map[string]string{}
	for pair := range strings.FieldsSeq(vars) {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	s := testSettings(t, extra, env)
	say := func(text string) { t.Error(text) }
	rows := newTable(s, say)
	chosen, err := rows.choose(flag, s, Keys{})
	if err != nil {
		t.Fatal(err)
	}
	return newNames(Config{Settings: s, Models: Table(s, say)}, rows, chosen)
}

// TestNames checks that a name resolves to a provider and model, and that the resulting ID is
// stable wherever it is read.
//
// Proves SESS-51, PROV-41.
func TestNames(t *testing.T) {
	const (
		claude  = "ANTHROPIC_API_KEY=k"
		both    = claude + " OPENAI_API_KEY=k"
		gateway = claude + " ANTHROPIC_BASE_URL=https://gateway.example"
		bedrock = claude + " CLAUDE_CODE_USE_BEDROCK=1"
	)
	tests := []struct {
		vars, flag, name string
		want             string // provider and model there
		id               string
	}{
		{claude, "", "default", "anthropic claude-opus-5-5", "claude-opus-5-5"},
		{claude, "", "opus[1m]", "anthropic claude-opus-5-5", "claude-opus-5-5"},
		{claude, "", "anthropic/haiku", "anthropic claude-haiku-5-5", "claude-haiku-5-5"},
		{claude, "", "mine-alone", "anthropic mine-alone", "mine-alone"},
		{claude, "", "meta/llama", "anthropic meta/llama", "meta/llama"},
		{claude, "", "openai/", "anthropic openai/", "anthropic/openai/"},
		{claude, "", "openai/gpt-6-sol", "openai gpt-6-sol", "gpt-6-sol"},
		{claude, "", "openai/sol", "openai gpt-6-sol", "gpt-6-sol"},
		{claude, "", "gpt-6-sol", "anthropic gpt-6-sol", "anthropic/gpt-6-sol"},
		{both, "", "gpt-6-sol", "openai gpt-6-sol", "gpt-6-sol"},
		{both, "", "openai/default", "openai gpt-6-sol", "gpt-6-sol"},
		{both, "openai", "default", "openai gpt-6-sol", "gpt-6-sol"},
		{both, "openai", "opus", "openai opus", "openai/opus"},
		{both, "openai", "claude-opus-5-5", "openai claude-opus-5-5", "openai/claude-opus-5-5"},
		{both, "openai", "anthropic/opus", "anthropic claude-opus-5-5", "claude-opus-5-5"},
		{both, "openai", "o9-preview", "openai o9-preview", "openai/o9-preview"},
		{claude, "grok", "default", "grok grok-4.7", "grok-4.7"},
		{claude, "gemini", "flash-lite", "gemini gemini-3.5-flash-lite", "gemini-3.5-flash-lite"},
		{gateway, "", "opus", "anthropic claude-opus-5-5", "claude-opus-5-5"},
		{gateway, "", "anthropic/claude-opus-5.5", "anthropic anthropic/claude-opus-5.5", "anthropic/anthropic/claude-opus-5.5"},
		{gateway, "", "openai/gpt-9", "anthropic openai/gpt-9", "anthropic/openai/gpt-9"},
		{gateway + " OPENAI_API_KEY=k", "", "openai/gpt-9", "openai gpt-9", "gpt-9"},
		{bedrock, "", "opus", "bedrock claude-opus-5-5", "bedrock/claude-opus-5-5"},
		{bedrock, "", "claude-opus-5-5", "bedrock claude-opus-5-5", "bedrock/claude-opus-5-5"},
		{bedrock, "", "us.anthropic.claude-opus-4-6-v1:0", "bedrock us.anthropic.claude-opus-4-6-v1:0", "bedrock/us.anthropic.claude-opus-4-6-v1:0"},
		{bedrock, "", "anthropic/opus", "anthropic claude-opus-5-5", "claude-opus-5-5"},
		{claude, "", "vertex/sonnet", "vertex claude-sonnet-5-5", "vertex/claude-sonnet-5-5"},
		{claude, "", "mine/big", "mine big", "mine/big"},
		{claude, "", "mine/openai/gpt-6-sol", "mine openai/gpt-6-sol", "mine/openai/gpt-6-sol"},
		{claude, "mine", "default", "mine big", "mine/big"},
		{claude, "mine", "small", "mine little", "mine/little"},
		{claude, "mine", "claude-opus-5-5", "mine claude-opus-5-5", "mine/claude-opus-5-5"},
		{claude, "", "openrouter/anthropic/claude-opus-5.5", "openrouter anthropic/claude-opus-5.5", "openrouter/anthropic/claude-opus-5.5"},
		{claude, "openrouter", "openai/gpt-6-sol", "openrouter openai/gpt-6-sol", "openrouter/openai/gpt-6-sol"},
		{both, "openrouter", "openai/gpt-6-sol", "openrouter openai/gpt-6-sol", "openrouter/openai/gpt-6-sol"},
		{both + " OPENROUTER_API_KEY=k", "", "openai/gpt-6-sol", "openai gpt-6-sol", "gpt-6-sol"},
		{"OPENAI_API_KEY=k OPENAI_BASE_URL=https://x.example", "", "openai/gpt-6-sol", "openai openai/gpt-6-sol", "openai/openai/gpt-6-sol"},
		{"OPENAI_BASE_URL=http://127.0.0.1:9", "", "openai/llama", "openai llama", "openai/llama"},
		{"OPENAI_BASE_URL=http://127.0.0.1:9", "", "meta/llama", "openai meta/llama", "openai/meta/llama"},
		{"OPENROUTER_API_KEY=k", "", "anthropic/claude-opus-5.5", "openrouter anthropic/claude-opus-5.5", "openrouter/anthropic/claude-opus-5.5"},
		{both, "openrouter", "mine/big", "mine big", "mine/big"},
		{claude, "", "ollama/qwen3:8b", "ollama qwen3:8b", "ollama/qwen3:8b"},
		{claude, "ollama", "hf.co/unsloth/gpt-oss-20b:Q4", "ollama hf.co/unsloth/gpt-oss-20b:Q4", "ollama/hf.co/unsloth/gpt-oss-20b:Q4"},
		{claude, "", "single/default", "single only/one", "single/only/one"},
		{"", "", "default", "mine big", "mine/big"},
	}
	for _, tt := range tests {
		n := namesWith(t, tt.flag, ownSettings, tt.vars)
		m, err := n.resolve(tt.name)
		if err != nil {
			t.Errorf("%s %s: %v", tt.flag, tt.name, err)
			continue
		}
		to := n.route(m.ID)
		if got := to.row.name + " " + to.sent; got != tt.want || m.ID != tt.id {
			t.Errorf("%q, %s %s: %s with the id %s; want %s with %s", tt.vars, tt.flag, tt.name, got, m.ID, tt.want, tt.id)
		}
		if again, err := n.resolve(m.ID); err != nil || again.ID != m.ID || n.route(again.ID) != to {
			t.Errorf("%s: the id %s becomes %s, %v", tt.name, m.ID, again.ID, err)
		}
	}
	for _, flag := range []string{"ollama", "openrouter"} {
		if m, err := namesWith(t, flag, ``, "").resolve("default"); err == nil || !strings.Contains(err.Error(), "--model "+flag+"/NAME") {
			t.Errorf("the default of %s is %s, %v", flag, m.ID, err)
		}
	}
	n := namesWith(t, "", `{}`, "OPENAI_BASE_URL=http://127.0.0.1:9")
	if m, err := n.resolve("default"); err == nil || !strings.Contains(err.Error(), "--model openai/NAME or ADZE_MODEL") {
		t.Errorf("the default of a server on this machine is %s, %v", m.ID, err)
	}
}

// TestOther checks that a conversation stays with its provider as long as it is available.
func TestOther(t *testing.T) {
	for _, tt := range []struct {
		vars, name, id string
		want           bool
	}{
		{"ANTHROPIC_API_KEY=k OPENAI_API_KEY=k", "default", "gpt-6-sol", true},
		{"ANTHROPIC_API_KEY=k", "default", "gpt-6-sol", false},
		{"ANTHROPIC_API_KEY=k OPENAI_API_KEY=k", "openai/terra", "gpt-6-sol", false},
		{"ANTHROPIC_API_KEY=k", "opus", "claude-haiku-5-5", false},
		{"ANTHROPIC_API_KEY=k", "opus", "mine/big", true},
		{"ANTHROPIC_API_KEY=k", "opus", "yours/big", false},
		{"ANTHROPIC_API_KEY=k", "replay:x", "mine/big", false},
		{"", "mine/big", "claude-opus-5-5", false},
	} {
		n := namesWith(t, "", ownSettings, tt.vars)
		if got := Other(Config{Settings: n.settings, Models: n.models}, tt.name, tt.id); got != tt.want {
			t.Errorf("%+v: %t", tt, got)
		}
	}
}

// TestEarlier checks that the ID of an earlier answer's model keeps its meaning.
func TestEarlier(t *testing.T) {
	const local = "ANTHROPIC_API_KEY=k OPENAI_API_KEY=k OPENAI_BASE_URL=http://127.0.0.1:9"
	for _, tt := range []struct{ vars, flag, id, want string }{
		{local, "", "openai/llama", "openai llama"},
		{local, "", "opus", "anthropic claude-opus-5-5"},
		{local, "openai", "claude-opus-5-5", "anthropic claude-opus-5-5"},
		{local, "openai", "meta/llama", "anthropic meta/llama"},
		{local, "", "mine/openai/x", "mine openai/x"},
		{"OPENAI_API_KEY=k", "", "claude-opus-5-5", "openai claude-opus-5-5"},
	} {
		n := namesWith(t, tt.flag, ownSettings, tt.vars)
		n = newNames(Config{Settings: n.settings, Models: n.models, Earlier: tt.id}, n.rows, n.chosen)
		m, err := n.resolve(tt.id)
		if err != nil {
			t.Fatal(err)
		}
		if to := n.route(m.ID); to.row.name+" "+to.sent != tt.want {
			t.Errorf("%+v: %s %s", tt, to.row.name, to.sent)
		}
	}
}

// TestOwnModels checks that the settings define the capabilities of user-defined providers'
// models.
//
// Proves PROV-12.
func TestOwnModels(t *testing.T) {
	n := namesWith(t, "mine", ownSettings, "")
	m, err := n.resolve("big")
	if err != nil || m.ContextWindow != 64_000 || m.MaxOutput != 4_000 || !m.Images || m.Price == nil || m.Price.Output != 2 || !m.Known {
		t.Errorf("%+v, %v", m, err)
	}
	n = namesWith(t, "", `{"models":{"openai/gpt-6-sol":{"contextWindow":50000,"maxOutput":5000}},"modelPricing":{"gpt-6-sol":{"input":9,"output":9}}}`, "OPENAI_API_KEY=k")
	if m, err := n.resolve("sol"); err != nil || m.ContextWindow != 50_000 || m.Price.Input != 9 || m.ID != "gpt-6-sol" {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := n.resolve("unheard"); err != nil || m.Known || m.ContextWindow != 128_000 {
		t.Errorf("%+v, %v", m, err)
	}
}

// Proves PROV-58.
func TestSmallModels(t *testing.T) {
	for _, tt := range []struct{ flag, vars, main, want string }{
		{"", "ANTHROPIC_API_KEY=k", "default", "claude-haiku-5-5"},
		{"", "ANTHROPIC_API_KEY=k ANTHROPIC_BASE_URL=https://x.example", "default", ""},
		{"", "ANTHROPIC_API_KEY=k OPENAI_API_KEY=k", "openai/best", "gpt-6-luna"},
		{"", "CLAUDE_CODE_USE_BEDROCK=1", "default", "bedrock/claude-haiku-5-5"},
		{"gemini", "", "default", "gemini-3.5-flash-lite"},
		{"grok", "", "default", ""},
		{"mine", "", "default", "mine/little"},
		{"single", "", "default", ""},
	} {
		n := namesWith(t, tt.flag, ownSettings, tt.vars)
		m, err := n.resolve(tt.main)
		if err != nil {
			t.Fatal(err)
		}
		if got := n.small(m.ID); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

// TestOwnRowProblems checks that an invalid provider is skipped and the reason reported.
func TestOwnRowProblems(t *testing.T) {
	for row, want := range map[string]string{
		`"grok":{"dialect":"responses","baseUrl":"https://x.example"}`:                                 "taken by a provider that is built in",
		`"My Own":{"dialect":"responses","baseUrl":"https://x.example"}`:                               "a name begins with a small letter",
		`"a/b":{"dialect":"responses","baseUrl":"https://x.example"}`:                                  "a name begins with a small letter",
		`"x":{"dialect":"smoke","baseUrl":"https://x.example"}`:                                        `unknown dialect "smoke" (want chat, responses, messages or gemini)`,
		`"x":{"dialect":"responses"}`:                                                                  "baseUrl is missing",
		`"x":{"dialect":"responses","baseUrl":"example"}`:                                              `baseUrl "example" is not an address`,
		`"x":{"dialect":"responses","baseURL":"https://x.example","keyEnv":"K"}`:                       `unknown field "keyEnv"`,
		`"x":{"dialect":"responses","baseUrl":"https://x.example","apiKeyEnv":"A","apiKeyHelper":"b"}`: "both apiKeyEnv and apiKeyHelper",
		`"x":{"dialect":"responses","baseUrl":"https://x.example","quirks":{"systemRole":1}}`:          "quirks: SystemRole must be of type string, not number",
		`"x":{"dialect":"responses","baseUrl":"https://x.example","quirks":{"nothing":true}}`:          `quirks: unknown field "nothing"`,
		`"x":{"dialect":"responses","baseUrl":"https://x.example","models":[]}`:                        "models must be of type",
		`"x":7`: "must be of type",
	} {
		var said []string
		s := testSettings(t, `{"providers":{`+row+`}}`, nil)
		rows := newTable(s, func(text string) { said = append(said, text) })
		if len(rows) != len(builtIn()) || len(said) != 1 || !strings.Contains(said[0], want) {
			t.Errorf("%s: %d rows, told %q", row, len(rows), said)
		}
	}
}

// TestOwnKey checks that an unset variable is named in the error.
func TestOwnKey(t *testing.T) {
	s := testSettings(t, ownSettings, nil)
	c := Config{Settings: s, Provider: "mine", Models: Table(s, nil), Getenv: func(string) string { return "" }, Say: func(text string) { t.Error(text) }}
	if _, err := Open(c, "default"); err == nil || !strings.Contains(err.Error(), "MINE_KEY, which its apiKeyEnv names, is not set") {
		t.Errorf("opened: %v", err)
	}
	c.Getenv = func(string) string { return "secret" }
	if b, err := Open(c, "default"); err != nil || b.KeySource != "MINE_KEY" || b.Name != "mine" || b.Why != "--provider" {
		t.Errorf("%+v, %v", b, err)
	}
	c.Settings = testSettings(t, `{"providers":{"far":{"dialect":"responses","baseUrl":"http://far.example","model":"m"}}}`, nil)
	c.Provider = "far"
	if _, err := Open(c, "default"); err == nil || !strings.Contains(err.Error(), "ADZE_ALLOW_INSECURE_HTTP=1") {
		t.Errorf("unencrypted: %v", err)
	}
}

// TestLocalAddress checks address parsing: OLLAMA_HOST is often a listen address.
func TestLocalAddress(t *testing.T) {
	for said, want := range map[string]string{
		"":                        "",
		"0.0.0.0":                 "http://127.0.0.1:11434",
		"0.0.0.0:9":               "http://127.0.0.1:9",
		"[::]:9":                  "http://127.0.0.1:9",
		":9":                      "http://127.0.0.1:9",
		"127.0.0.1:11499":         "http://127.0.0.1:11499",
		"localhost":               "http://localhost:11434",
		"[::1]":                   "http://[::1]:11434",
		"http://127.0.0.1:9/v1":   "http://127.0.0.1:9/v1",
		"https://ollama.example/": "https://ollama.example/",
	} {
		if got := localAddress(said, "http://127.0.0.1:11434/v1"); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// TestNormalized checks addresses with and without a version, a trailing slash and a path.
//
// Proves PROV-03.
func TestNormalized(t *testing.T) {
	for _, tt := range []struct {
		d          wire.Dialect
		base, want string
	}{
		{messages.Dialect{}, "https://x.example", "https://x.example"},
		{messages.Dialect{}, "https://x.example/", "https://x.example"},
		{messages.Dialect{}, "https://x.example/v1", "https://x.example"},
		{messages.Dialect{}, "https://x.example/v1/", "https://x.example"},
		{messages.Dialect{}, "https://x.example/v1/messages", "https://x.example"},
		{messages.Dialect{}, "https://x.example/anthropic/v1", "https://x.example/anthropic"},
		{messages.Dialect{}, "https://x.example/api?key=1", "https://x.example/api?key=1"},
		{responses.Dialect{}, "https://x.example", "https://x.example/v1"},
		{responses.Dialect{}, "https://x.example/", "https://x.example/v1"},
		{responses.Dialect{}, "https://x.example/v1", "https://x.example/v1"},
		{responses.Dialect{}, "https://x.example/v1/", "https://x.example/v1"},
		{responses.Dialect{}, "https://x.example/v1/responses", "https://x.example/v1"},
		{responses.Dialect{}, "https://x.example/openai", "https://x.example/openai"},
		{responses.Dialect{}, "not an address", "not an address"},
		{chat.Dialect{}, "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"},
		{chat.Dialect{}, "https://x.example/api/v1/chat/completions", "https://x.example/api/v1"},
		{gemini.Dialect{}, "https://x.example/v1beta", "https://x.example"},
		{gemini.Dialect{}, "https://x.example/v1beta/models/", "https://x.example"},
		{gemini.Dialect{}, "https://x.example/gemini", "https://x.example/gemini"},
	} {
		if got := normalized(tt.d, tt.base); got != tt.want {
			t.Errorf("%T %s: %s, want %s", tt.d, tt.base, got, tt.want)
		}
	}
}
