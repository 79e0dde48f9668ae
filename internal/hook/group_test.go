//go:build unix

package hook

import (
	"slices"
	"testing"

	"adze/internal/platform/fs/scope"
)

// TestPluginHooksAreReadWhenNeeded checks that a plugin's hooks are parsed once, when an event
// needs them, with the same result as parsing at the start.
//
// Proves HOOK-03, HOOK-27.
func TestPluginHooksAreReadWhenNeeded(t *testing.T) {
	var told []string
	mistaken := `{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"echo one"}]},{"hooks":7}],"Nothing":[]}`
	escaped := `{"UserPrompt\u0053ubmit":[{"hooks":[{"type":"command","command":"echo two && true"}]}]}`
	other := `{"PreCompact":[{"matcher":"UserPromptSubmit","hooks":[]}],"Stop":[{"hooks":[{"type":"command","command":"a \u0026\u0026 b"}]}]}`
	r, problems := New(Config{Notify: func(text string) { told = append(told, text) }, Sources: []Source{
		pluginSource("/one", nil, mistaken), pluginSource("/two", nil, escaped), pluginSource("/three", nil, `not JSON "UserPromptSubmit"`),
		pluginSource("/four", nil, `{"Stop":[{"hooks":[{"type":"command","command":"a \u0026\u0026 b"}]}]}`), pluginSource("/five", nil, other),
		{Name: "user", Scope: scope.User, JSON: on(UserPromptSubmit, command("echo three"))},
		{Name: "managed", Scope: scope.Managed, JSON: on(UserPromptSubmit, command("echo first"))},
	}})
	t.Cleanup(r.Close)
	if len(problems) > 0 || len(told) > 0 {
		t.Errorf("a start tells %v, %v", problems, told)
	}
	read := func() (names []string) {
		for _, g := range r.settings {
			if g.read {
				names = append(names, g.source.Name)
			}
		}
		return names
	}
	if got := read(); !slices.Equal(got, []string{"managed", "plugin two", "user"}) {
		t.Errorf("a start reads the hooks of %v", got)
	}
	for range 2 {
		var commands []string
		for _, h := range r.matching(OnUserPromptSubmit("hi"), "/") {
			commands = append(commands, h.command)
		}
		if want := []string{"echo first", "echo one", "echo two && true", "echo three"}; !slices.Equal(commands, want) {
			t.Errorf("%q run, want %q", commands, want)
		}
	}
	if got := read(); !slices.Equal(got, []string{"managed", "plugin one", "plugin two", "plugin three", "plugin five", "user"}) {
		t.Errorf("the event reads the hooks of %v", got)
	}
	if want := []string{
		"plugin one: hooks.Nothing: unknown event",
		"plugin one: hooks.UserPromptSubmit[1].hooks: expected a list, found 7; it is left out",
		`plugin three: hooks: expected an object, found not JSON "UserPromptSubmit"; it is left out`,
	}; !slices.Equal(told, want) {
		t.Errorf("%q is told, want %q", told, want)
	}
	if r.Has(PreCompact) || !r.Has(Stop) || len(r.List()) != 6 {
		t.Errorf("there are hooks %v", r.List())
	}
}

func BenchmarkManyPlugins(b *testing.B) {
	hooks := string(on(PostToolUse, command("${CLAUDE_PLUGIN_ROOT}/scripts/check.sh && true")))
	var sources []Source
	for range 300 {
		sources = append(sources, pluginSource("/p", nil, hooks))
	}
	for b.Loop() {
		r, _ := New(Config{Sources: sources})
		if r.Has(InstructionsLoaded) || r.Has(SessionStart) || r.Has(UserPromptSubmit) {
			b.Fatal("there are hooks")
		}
		r.Close()
	}
}
