package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"adze/internal/app/cli/flags"
	"adze/internal/app/wire"
	"adze/internal/model"
	"adze/internal/ui/headless"
)

func TestParse(t *testing.T) {
	dir := t.TempDir()
	type want struct {
		runOptions
		args []string
	}
	with := func(set func(*runOptions), args ...string) want {
		w := want{args: args}
		if set != nil {
			set(&w.runOptions)
		}
		return w
	}
	tests := []struct {
		name string
		args []string
		want want
	}{
		{"nothing", nil, with(nil)},
		{"prompt", []string{"-p", "fix it"}, with(func(o *runOptions) { o.print = true }, "fix it")},
		{"prompt of several words", []string{"fix", "it"}, with(nil, "fix", "it")},
		{"a dash is an argument", []string{"-"}, with(nil, "-")},
		{"the rest is the prompt", []string{"--print", "--", "--model"}, with(func(o *runOptions) { o.print = true }, "--model")},
		{"value after a blank", []string{"--model", "opus"}, with(func(o *runOptions) { o.spec.Model.Name = "opus" })},
		{"value after an equals sign", []string{"--model=a=b"}, with(func(o *runOptions) { o.spec.Model.Name = "a=b" })},
		{"value like a flag", []string{"--append-system-prompt", "- be terse"}, with(func(o *runOptions) { o.prompt.extra = "- be terse" })},
		{"empty value", []string{"--tools="}, with(func(o *runOptions) { o.spec.Access.Tools, o.spec.Access.Chosen = []string{""}, true })},
		{"switch with a value", []string{"--verbose=true", "--print=false"}, with(func(o *runOptions) { o.verbose = true })},
		{"formats", []string{"--output-format", "stream-json", "--input-format=stream-json", "--include-partial-messages"},
			with(func(o *runOptions) { o.output, o.input, o.spec.Raw = headless.StreamJSON, "stream-json", true })},
		{"models", []string{"--fallback-model=b", "--provider", "anthropic", "--effort", "high", "--thinking=adaptive"},
			with(func(o *runOptions) {
				o.spec.Model = wire.ModelSpec{Fallback: "b", Provider: "anthropic", Effort: model.EffortHigh, Thinks: true}
			})},
		{"no thinking", []string{"--thinking=disabled"}, with(func(o *runOptions) { o.spec.Model = wire.ModelSpec{Thinks: true, NoThinking: true} })},
		{"thinking budget", []string{"--max-thinking-tokens=2000"},
			with(func(o *runOptions) { o.spec.Model = wire.ModelSpec{ThinkingBudget: 2000, Budgeted: true} })},
		{"limits", []string{"--max-turns=3", "--max-budget-usd", "0.5", "--token-budget=1000"},
			with(func(o *runOptions) { o.spec.Limits = wire.Limits{MaxTurns: 3, MaxBudgetUSD: 0.5, TokenBudget: 1000} })},
		{"prompts", []string{"--system-prompt", "a", "--append-system-prompt-file", "b"},
			with(func(o *runOptions) { o.prompt = promptText{system: "a", replaced: true, extraFile: "b"} })},
		{"rules", []string{"--allowed-tools", "Read,Bash(git log, x)", "Edit", "say hi", "--deny=Bash"},
			with(func(o *runOptions) {
				o.spec.Access.Allow, o.spec.Access.Deny = []string{"Read,Bash(git log, x)", "Edit"}, []string{"Bash"}
			}, "say hi")},
		{"rules of clients", []string{"--allowedTools=A", "--disallowedTools", "B"},
			with(func(o *runOptions) { o.spec.Access.Allow, o.spec.Access.Deny = []string{"A"}, []string{"B"} })},
		{"rules end at a flag", []string{"--allow", "A", "-p", "x"},
			with(func(o *runOptions) { o.spec.Access.Allow, o.print = []string{"A"}, true }, "x")},
		{"permissions", []string{"--permission-mode=plan", "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"},
			with(func(o *runOptions) { o.spec.Access = wire.AccessSpec{Mode: "plan", Skip: true, MayBypass: true} })},
		{"directories", []string{"--add-dir", dir, dir, "and go"},
			with(func(o *runOptions) { o.spec.Access.Dirs = []string{dir, dir} }, "and go")},
		{"session", []string{"--session-id", "3F2A9C1E-5b7d-4e80-9a61-0c4d8e2f7b13", "--no-session-persistence"},
			with(func(o *runOptions) {
				o.spec.Session = wire.SessionSpec{ID: "3f2a9c1e-5b7d-4e80-9a61-0c4d8e2f7b13", Ephemeral: true}
			})},
		{"debug", []string{"--debug", "x"}, with(func(o *runOptions) { o.spec.Debug.On = true }, "x")},
		{"debug filter", []string{"--debug=api,!tool"}, with(func(o *runOptions) { o.spec.Debug = wire.DebugSpec{On: true, Filter: "api,!tool"} })},
		{"debug file", []string{"--debug-file", "x"}, with(func(o *runOptions) { o.spec.Debug = wire.DebugSpec{On: true, File: "x"} })},
		{"other", []string{"--settings", "{}", "--record-requests", "r", "-v", "-h"},
			with(func(o *runOptions) {
				o.project.Inline, o.spec.Model.Record, o.version, o.help = "{}", "r", true, true
			})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got want
			in, err := flags.Parse(got.flags(), tt.args)
			if err != nil {
				t.Fatal(err)
			}
			got.args = in.Args
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(want{}, runOptions{}, promptText{}, extensions{}), cmpopts.IgnoreUnexported(wire.Spec{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ args, want string }{
		{"--mdoel x", "unknown flag --mdoel; did you mean --model?"},
		{"-x", "unknown flag -x"},
		{"--model", "--model needs a value: --model NAME"},
		{"--verbose=1", `--verbose takes no value, got "1"`},
		{"--output-format xml", `--output-format: invalid value "xml" (want one of text, json, stream-json)`},
		{"--input-format xml", `invalid value "xml" (want one of text, stream-json)`},
		{"--effort 3", `invalid value "3" (want one of low, medium, high, xhigh, max)`},
		{"--thinking maybe", `invalid value "maybe" (want one of adaptive, enabled, disabled)`},
		{"--max-thinking-tokens many", "not a whole number of at least 0"},
		{"--max-turns 0", "not a whole number of at least 1"},
		{"--max-turns 1.5", "not a whole number"},
		{"--max-budget-usd 0", "not a positive number"},
		{"--max-budget-usd NaN", "not a positive number"},
		{"--token-budget -1", "not a whole number of at least 1"},
		{"--session-id x", `"x" is not a UUID`},
		{"--session-id 3f2a9c1e-5b7d-4e80-9a61_0c4d8e2f7b13", "is not a UUID"},
		{"--add-dir /no/such/dir", "/no/such/dir is not a directory"},
		{"--permission-prompt-tool ask", "neither stdio nor a tool of an MCP server"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			_, err := flags.Parse((&runOptions{}).flags(), strings.Fields(tt.args))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestClientFlags checks that the flags sent by SDK clients are accepted in both forms.
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
			if _, err := flags.Parse((&runOptions{}).flags(), args); err != nil {
				t.Errorf("%v: %v", args, err)
			}
		}
	}
	for _, name := range []string{
		"verbose", "allow-dangerously-skip-permissions", "no-session-persistence", "include-partial-messages", "include-hook-events",
		"strict-mcp-config", "debug", "replay-user-messages",
	} {
		if _, err := flags.Parse((&runOptions{}).flags(), []string{"--" + name}); err != nil {
			t.Errorf("--%s: %v", name, err)
		}
	}
	in, err := flags.Parse((&runOptions{}).flags(), []string{"--task-budget", "1", "--permission-prompts=none", "--agents={}", "prompt"})
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Notes) != 1 || len(in.Args) != 1 {
		t.Errorf("notes %q, arguments %q", in.Notes, in.Args)
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
		{"-p x --system-prompt a --system-prompt-file b", "--system-prompt and --system-prompt-file cannot be used together"},
		{"-p x --append-system-prompt a --append-system-prompt-file b", "cannot be used together"},
		{"-p x --thinking disabled --max-thinking-tokens 2000", "cannot be used together"},
		{"-p x --model a --fallback-model a", "is the main model"},
		{"-p x --dangerously-skip-permissions --permission-mode plan", "contradicts"},
		{"-p x --dangerously-skip-permissions --permission-mode bypassPermissions", ""},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			var o runOptions
			in, err := flags.Parse(o.flags(), strings.Fields(tt.args))
			if err != nil {
				t.Fatal(err)
			}
			err = o.check(in)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("-p hi --model=x --allowed-tools A B(c d) -- x")
	f.Add("--debug= --tools= --max-turns 9999999999999999999")
	f.Fuzz(func(t *testing.T, line string) {
		var o runOptions
		if in, err := flags.Parse(o.flags(), strings.Split(line, " ")); err == nil {
			o.check(in) // ok: it must only not panic
		}
	})
}
