package app

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/ui/headless"
)

func TestParseFlags(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name string
		args []string
		want options
	}{
		{"nothing", nil, options{}},
		{"prompt", []string{"-p", "fix it"}, options{print: true, args: []string{"fix it"}}},
		{"prompt of several words", []string{"fix", "it"}, options{args: []string{"fix", "it"}}},
		{"a dash is an argument", []string{"-"}, options{args: []string{"-"}}},
		{"the rest is the prompt", []string{"--print", "--", "--model"}, options{print: true, args: []string{"--model"}}},
		{"value after a blank", []string{"--model", "opus"}, options{model: "opus"}},
		{"value after an equals sign", []string{"--model=a=b"}, options{model: "a=b"}},
		{"value like a flag", []string{"--append-system-prompt", "- be terse"}, options{appended: "- be terse"}},
		{"empty value", []string{"--tools="}, options{tools: []string{""}}},
		{"switch with a value", []string{"--verbose=true", "--print=false"}, options{verbose: true}},
		{"formats", []string{"--output-format", "stream-json", "--input-format=stream-json", "--include-partial-messages"},
			options{output: headless.StreamJSON, input: "stream-json", partial: true}},
		{"models", []string{"--fallback-model=b", "--provider", "anthropic", "--effort", "high", "--thinking=adaptive"},
			options{fallback: "b", provider: "anthropic", effort: model.EffortHigh, thinking: "adaptive"}},
		{"thinking budget", []string{"--max-thinking-tokens=2000"}, options{thinkingTokens: 2000}},
		{"limits", []string{"--max-turns=3", "--max-budget-usd", "0.5", "--token-budget=1000"},
			options{maxTurns: 3, maxBudget: 0.5, tokenBudget: 1000}},
		{"prompts", []string{"--system-prompt", "a", "--append-system-prompt-file", "b"}, options{system: "a", appendedFile: "b"}},
		{"rules", []string{"--allowed-tools", "Read,Bash(git log, x)", "Edit", "say hi", "--deny=Bash"},
			options{allow: []string{"Read,Bash(git log, x)", "Edit"}, args: []string{"say hi"}, deny: []string{"Bash"}}},
		{"rules of clients", []string{"--allowedTools=A", "--disallowedTools", "B"}, options{allow: []string{"A"}, deny: []string{"B"}}},
		{"rules end at a flag", []string{"--allow", "A", "-p", "x"}, options{allow: []string{"A"}, print: true, args: []string{"x"}}},
		{"permissions", []string{"--permission-mode=plan", "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"},
			options{mode: "plan", bypass: true, bypassAllowed: true}},
		{"directories", []string{"--add-dir", dir, dir, "and go"}, options{dirs: []string{dir, dir}, args: []string{"and go"}}},
		{"session", []string{"--session-id", "3F2A9C1E-5b7d-4e80-9a61-0c4d8e2f7b13", "--no-session-persistence"},
			options{session: "3f2a9c1e-5b7d-4e80-9a61-0c4d8e2f7b13", ephemeral: true}},
		{"debug", []string{"--debug", "x"}, options{debug: true, args: []string{"x"}}},
		{"debug filter", []string{"--debug=api,!tool"}, options{debug: true, filter: "api,!tool"}},
		{"debug file", []string{"--debug-file", "x"}, options{debug: true, debugFile: "x"}},
		{"other", []string{"--settings", "{}", "--record-requests", "r", "-v", "-h"},
			options{settings: "{}", record: "r", version: true, help: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got options
			if err := parseFlags(runFlags(), tt.args, &got); err != nil {
				t.Fatal(err)
			}
			got.given = nil
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(options{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseFlagsErrors(t *testing.T) {
	tests := []struct{ args, want string }{
		{"--mdoel x", "there is no flag --mdoel; did you mean --model?"},
		{"-x", "there is no flag -x"},
		{"--model", "--model needs a value: --model NAME"},
		{"--verbose=1", `--verbose takes no value, got "1"`},
		{"--output-format xml", `--output-format: "xml" is not one of text, json, stream-json`},
		{"--input-format xml", `"xml" is not one of text, stream-json`},
		{"--effort 3", `"3" is not one of low, medium, high, max`},
		{"--thinking maybe", `"maybe" is not one of adaptive, enabled, disabled`},
		{"--max-thinking-tokens many", "not a whole number of at least 0"},
		{"--max-turns 0", "not a whole number of at least 1"},
		{"--max-turns 1.5", "not a whole number"},
		{"--max-budget-usd 0", "not a positive number"},
		{"--max-budget-usd NaN", "not a positive number"},
		{"--token-budget -1", "not a whole number of at least 1"},
		{"--session-id x", `"x" is not a UUID`},
		{"--session-id 3f2a9c1e-5b7d-4e80-9a61_0c4d8e2f7b13", "is not a UUID"},
		{"--add-dir /no/such/dir", "/no/such/dir is not a directory"},
		{"--permission-prompt-tool mcp__x__y", "tools of MCP servers cannot be asked"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			err := parseFlags(runFlags(), strings.Fields(tt.args), &options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// What SDK clients send is accepted in both forms.
func TestClientFlags(t *testing.T) {
	values := map[string]string{
		"output-format": "stream-json", "input-format": "stream-json", "model": "m", "fallback-model": "f", "effort": "low",
		"max-turns": "1", "max-budget-usd": "1", "task-budget": "1", "max-thinking-tokens": "1024", "thinking": "disabled",
		"permission-mode": "plan", "permission-prompt-tool": "stdio", "permission-prompts": "none",
		"allowedTools": "A,B(x *)", "disallowedTools": "C", "tools": "Read,Bash", "resume-session-at": "x",
		"session-id": "3f2a9c1e-5b7d-4e80-9a61-0c4d8e2f7b13", "add-dir": t.TempDir(), "mcp-config": "{}", "settings": "{}",
		"managed-settings": "{}", "setting-sources": "user,project", "plugin-dir": "p", "agent": "a", "betas": "b",
		"debug-file": "f", "project-config-root": "d",
	}
	for name, value := range values {
		for _, args := range [][]string{{"--" + name + "=" + value}, {"--" + name, value}} {
			if err := parseFlags(runFlags(), args, &options{}); err != nil {
				t.Errorf("%v: %v", args, err)
			}
		}
	}
	for _, name := range []string{
		"verbose", "allow-dangerously-skip-permissions", "no-session-persistence", "include-partial-messages", "include-hook-events",
		"strict-mcp-config", "debug", "replay-user-messages",
	} {
		if err := parseFlags(runFlags(), []string{"--" + name}, &options{}); err != nil {
			t.Errorf("--%s: %v", name, err)
		}
	}
	var o options
	if err := parseFlags(runFlags(), []string{"--mcp-config", "{}", "--betas=x", "prompt"}, &o); err != nil {
		t.Fatal(err)
	}
	if len(o.notes) != 2 || len(o.args) != 1 {
		t.Errorf("notes %q, arguments %q", o.notes, o.args)
	}
}

func TestCheckOptions(t *testing.T) {
	tests := []struct{ args, want string }{
		{"-p x --output-format json", ""},
		{"-p x --output-format stream-json --verbose", ""},
		{"-p x --output-format stream-json", "needs --verbose"},
		{"--input-format stream-json", "needs --output-format stream-json"},
		{"--input-format stream-json --output-format stream-json --verbose x", "prompts come from stdin"},
		{"-p x --include-partial-messages", "needs --output-format stream-json"},
		{"-p x --system-prompt a --system-prompt-file b", "--system-prompt and --system-prompt-file cannot be given together"},
		{"-p x --append-system-prompt a --append-system-prompt-file b", "cannot be given together"},
		{"-p x --thinking disabled --max-thinking-tokens 2000", "cannot be given together"},
		{"-p x --model a --fallback-model a", "is the main model"},
		{"-p x --dangerously-skip-permissions --permission-mode plan", "contradicts"},
		{"-p x --dangerously-skip-permissions --permission-mode bypassPermissions", ""},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			var o options
			if err := parseFlags(runFlags(), strings.Fields(tt.args), &o); err != nil {
				t.Fatal(err)
			}
			err := o.check()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzParseFlags(f *testing.F) {
	f.Add("-p hi --model=x --allowed-tools A B(c d) -- x")
	f.Add("--debug= --tools= --max-turns 9999999999999999999")
	f.Fuzz(func(t *testing.T, line string) {
		var o options
		args := strings.Split(line, " ")
		if err := parseFlags(runFlags(), args, &o); err == nil {
			o.check()
		}
	})
}
