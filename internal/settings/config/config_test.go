package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/jsonc"
	"adze/internal/platform/text/rank"
)

var keys = []Key{
	{Name: "model", Env: []string{"ADZE_MODEL", "ANTHROPIC_MODEL"}, Kind: Text, Default: "opus", Doc: "the model", Requirement: "SESS-54"},
	{Name: "read.maxTokens", Env: []string{"ADZE_FILE_READ_MAX_OUTPUT_TOKENS"}, Kind: Int, Default: "25000", Min: 100, Max: 1_000_000, Requirement: "LIM-02"},
	{Name: "read.dedup", Kind: Bool, Default: "true", Requirement: "READ-06"},
	{Name: "shell.blockingBudgetMs", Kind: Int, Default: "15000", Min: 1000, Max: 600_000, OrZero: true},
	{Name: "shell.passEnv", Kind: List, Accepted: "list of variable names"},
	{Name: "search.engine", Kind: Text, Default: "builtin", Choices: []string{"builtin", "system", "auto"}, Doc: "a | b"},
	{Name: "costWarningUsd", Kind: Float, Default: "5", Min: 0, Max: 1e6},
	{Name: "cleanupPeriodDays", Kind: Int, Min: 0, Max: 36500},
	{Name: "models", Kind: Object},
	{Env: []string{"ADZE_SIMPLE"}, Kind: Bool, Default: "off", Requirement: "REG-07"},
}

type got struct {
	Model     string
	MaxTokens int
	Dedup     bool
	Budget    int
	PassEnv   []string
	Engine    string
	Cost      float64
	Days      int
	Models    string
	Simple    bool
	Warnings  []string
	Invalid   []string
}

// given returns settings passed with --settings.
func given(value string) File { return TextOrFile(scope.Flag, "--settings", value) }

func run(t *testing.T, user, extra string, vars map[string]string) got {
	t.Helper()
	src := Sources{Getenv: func(name string) string { return vars[name] }, Closest: rank.Closest}
	if user != "" {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("settings.json", []byte(user), 0o600); err != nil {
			t.Fatal(err)
		}
		src.Files = []File{{Path: "settings.json"}}
	}
	if extra != "" {
		src.Files = append(src.Files, given(extra))
	}
	s, warnings := Load(src, keys)
	g := got{
		s.Text("model"), s.Int("read.maxTokens"), s.Bool("read.dedup"), s.Int("shell.blockingBudgetMs"),
		s.Strings("shell.passEnv"), s.Text("search.engine"), s.Float("costWarningUsd"), s.Int("cleanupPeriodDays"),
		string(s.Object("models")), s.Bool("ADZE_SIMPLE"), nil, nil,
	}
	for _, e := range s.Invalid() {
		g.Invalid = append(g.Invalid, e.Error())
	}
	for _, w := range warnings {
		g.Warnings = append(g.Warnings, w.String())
	}
	return g
}

func defaults(change func(*got)) got {
	g := got{Model: "opus", MaxTokens: 25000, Dedup: true, Budget: 15000, Engine: "builtin", Cost: 5}
	change(&g)
	return g
}

func TestLoad(t *testing.T) {
	tests := []struct {
		name  string
		user  string
		extra string
		vars  map[string]string
		want  got
	}{
		{name: "nothing", want: defaults(func(g *got) {})},
		{name: "empty file", user: " \n", want: defaults(func(g *got) {})},
		{
			name: "every kind",
			user: "\ufeff" + `{"$schema":"x","model":"sonnet","read":{"maxTokens":100,"dedup":false},"shell.blockingBudgetMs":0,
				"shell":{"passEnv":["A","B"]},"search":{"engine":"auto"},"costWarningUsd":0.5,"cleanupPeriodDays":30,"models":{"x":{"y":1}}}`,
			want: got{"sonnet", 100, false, 0, []string{"A", "B"}, "auto", 0.5, 30, `{"x":{"y":1}}`, false, nil, nil},
		},
		{
			name: "variables win, the program's own before others",
			user: `{"model":"sonnet","read":{"dedup":true}}`,
			vars: map[string]string{"ADZE_MODEL": "haiku", "ANTHROPIC_MODEL": "opus", "ADZE_SIMPLE": "1", "ADZE_FILE_READ_MAX_OUTPUT_TOKENS": "500"},
			want: defaults(func(g *got) { g.Model, g.Simple, g.MaxTokens = "haiku", true, 500 }),
		},
		{
			name: "the other name of a variable",
			vars: map[string]string{"ANTHROPIC_MODEL": "opus-x"},
			want: defaults(func(g *got) { g.Model = "opus-x" }),
		},
		{
			name:  "settings as an argument win over the file",
			user:  `{"model":"sonnet","costWarningUsd":1}`,
			extra: ` {"model":"haiku"}`,
			want:  defaults(func(g *got) { g.Model, g.Cost = "haiku", 1 }),
		},
		{
			name: "wrong values",
			user: "{\n  \"read\": {\"maxTokens\": 99,\n    \"dedup\": \"yes\"},\n  \"search\": {\"engine\": \"fast\"},\n  \"model\": 5, \"costWarningUsd\": \"much\"\n}",
			vars: map[string]string{"ADZE_SIMPLE": "maybe"},
			want: defaults(func(g *got) {
				g.Warnings = []string{
					`settings.json:2:25: read.maxTokens is set to 99, which is out of range (accepted: 100 to 1,000,000); the value is ignored`,
					`settings.json:3:14: read.dedup is set to "yes", which is not true or false (accepted: true or false); the value is ignored`,
					"settings.json:4:24: search.engine is set to \"fast\", which is not one of the choices (accepted: `builtin`, `system`, `auto`); the value is ignored",
					`settings.json:5:12: model is set to 5, which is not a text (accepted: text); the value is ignored`,
					`settings.json:5:33: costWarningUsd is set to "much", which is not a number (accepted: 0 to 1,000,000); the value is ignored`,
					`ADZE_SIMPLE: ADZE_SIMPLE is set to maybe, which is not true or false (accepted: true or false); the value is ignored`,
				}
			}),
		},
		{
			name: "an invalid variable does not override the file",
			user: `{"read":{"maxTokens":200}}`,
			vars: map[string]string{"ADZE_FILE_READ_MAX_OUTPUT_TOKENS": "7"},
			want: defaults(func(g *got) {
				g.MaxTokens = 200
				g.Warnings = []string{`ADZE_FILE_READ_MAX_OUTPUT_TOKENS: ADZE_FILE_READ_MAX_OUTPUT_TOKENS is set to 7, which is out of range (accepted: 100 to 1,000,000); the value is ignored`}
			}),
		},
		{
			name: "unknown keys",
			user: `{"read":{"maxToken":200},"zzz":1}`,
			want: defaults(func(g *got) {
				g.Warnings = []string{
					`settings.json:1:21: unknown setting read.maxToken; did you mean read.maxTokens?`,
					`settings.json:1:32: unknown setting zzz; it is kept but has no effect`,
				}
			}),
		},
		{
			name: "comments and trailing commas",
			user: "{\n  // mine\n  \"model\": \"sonnet\", /* yes */\n}",
			want: defaults(func(g *got) { g.Model = "sonnet" }),
		},
		{
			name: "not an object where settings lie below",
			user: `{"read": 5}`,
			want: defaults(func(g *got) {
				g.Warnings = []string{`settings.json:1:10: read is set to 5, which is not an object; the value is ignored`}
			}),
		},
		{
			name: "lists are joined, objects merged",
			user: `{"shell":{"passEnv":["A","B"]},"models":{"x":{"y":1,"z":[1]},"w":1}}`, extra: `{"shell":{"passEnv":["B","C"]},"models":{"x":{"z":[2]}}}`,
			want: defaults(func(g *got) {
				g.PassEnv, g.Models = []string{"A", "B", "C"}, `{"w":1,"x":{"y":1,"z":[2]}}`
			}),
		},
		{
			name: "malformed file",
			user: "{\n  \"model\": \"é\",, \n}",
			want: defaults(func(g *got) {
				g.Invalid = []string{`settings.json:2:16: is not JSON: ',' stands where a name in quotes is expected`}
			}),
		},
		{
			name: "file that ends too early",
			user: `{"model":"sonnet"`,
			want: defaults(func(g *got) {
				g.Invalid = []string{`settings.json:1:18: is not JSON: it ends where a comma or '}' is expected`}
			}),
		},
		{
			name: "not an object", user: `[1]`,
			want: defaults(func(g *got) { g.Invalid = []string{`settings.json:1:1: is not a JSON object`} }),
		},
		{
			name: "null", user: `null`,
			want: defaults(func(g *got) { g.Invalid = []string{`settings.json:1:1: is not a JSON object`} }),
		},
		{
			name: "malformed argument", extra: `{"model":}`, user: `{"model":"sonnet"}`,
			want: defaults(func(g *got) {
				g.Model = "sonnet"
				g.Invalid = []string{`--settings:1:10: is not JSON: '}' stands where a value is expected`}
			}),
		},
		{
			name: "argument names a file that is not there", extra: "no-such-file.json",
			want: defaults(func(g *got) {
				g.Invalid = []string{`no-such-file.json: cannot be read: no such file or directory`}
			}),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, run(t, tt.user, tt.extra, tt.vars)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOriginAndParts(t *testing.T) {
	dir := t.TempDir()
	file, extra := filepath.Join(dir, "settings.json"), filepath.Join(dir, "more.json")
	for name, text := range map[string]string{file: `{"zzz": {"kept": true}, "costWarningUsd": 1}`, extra: `{"costWarningUsd": 2}`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, _ := Load(Sources{Files: []File{{Scope: scope.User, Path: file}, given(extra)}, Getenv: func(name string) string { return map[string]string{"ADZE_MODEL": "m"}[name] }}, keys)
	want := map[string]string{"model": "ADZE_MODEL", "costWarningUsd": extra + ":1:20", "read.dedup": ""}
	for id, origin := range want {
		if got := s.Origin(id); got != origin {
			t.Errorf("%s comes from %q, want %q", id, got, origin)
		}
	}
	want2 := []Part{{Scope: scope.User, File: file, Line: 1, Column: 9, JSON: json.RawMessage(`{"kept":true}`)}}
	if diff := cmp.Diff(want2, s.Parts("zzz")); diff != "" {
		t.Errorf("unknown key: %s", diff)
	}
}

func TestUndeclaredKeys(t *testing.T) {
	s, _ := Load(Sources{}, keys)
	for name, read := range map[string]func(){
		"not declared":       func() { s.Int("secret.knob") },
		"of another kind":    func() { s.Int("model") },
		"without a name":     func() { Load(Sources{}, []Key{{Kind: Int}}) },
		"impossible default": func() { Load(Sources{}, []Key{{Name: "x", Kind: Int, Default: "5", Min: 6, Max: 7}}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", name)
				}
			}()
			read()
		}()
	}
}

func TestAccepts(t *testing.T) {
	got := map[string]string{}
	for i := range keys {
		got[keys[i].ID()] = keys[i].Accepts()
	}
	want := map[string]string{
		"model": "text", "read.maxTokens": "100 to 1,000,000", "read.dedup": "true or false", "shell.blockingBudgetMs": "0, or 1,000 to 600,000",
		"shell.passEnv": "list of variable names", "search.engine": "`builtin`, `system`, `auto`", "costWarningUsd": "0 to 1,000,000",
		"cleanupPeriodDays": "0 to 36,500", "models": "an object", "ADZE_SIMPLE": "true or false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(`{"read":{"maxTokens":5,"dedup":true},"zzz":[1,{"a":null}],"models":{}}`)
	f.Add("{\n\"model\":\"\\u00e9\",}")
	f.Add(`{"read":{"read":{"read":{}}},"read.dedup":false}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, warnings := Load(Sources{Files: []File{given("{" + text)}, Closest: rank.Closest}, keys)
		if n := s.Int("read.maxTokens"); n < 100 || n > 1_000_000 {
			t.Errorf("%d", n)
		}
		if _, err := jsonc.Parse([]byte("{" + text)); (err != nil) != (len(s.Invalid()) > 0) {
			t.Errorf("%v, but %v", err, s.Invalid())
		}
		for _, w := range warnings {
			if !strings.HasPrefix(w.Where, "--settings:") {
				t.Errorf("%+v", w)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	src := Sources{Files: []File{given(`{"model":"sonnet","read":{"maxTokens":100,"dedup":false},"models":{"x":{"y":1}}}`)}, Getenv: os.Getenv}
	for b.Loop() {
		Load(src, keys)
	}
}
