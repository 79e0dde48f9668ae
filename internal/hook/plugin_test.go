//go:build unix

package hook

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// pluginSource returns a plugin's source with options.
func pluginSource(root string, options map[string]string, hooks string) Source {
	return Source{Name: "plugin " + filepath.Base(root), Scope: scope.User, JSON: []byte(hooks), Plugin: &Plugin{
		Root: root, Data: root + ".data", Options: func(context.Context) (map[string]string, error) { return options, nil },
	}}
}

// TestPluginOptionsAreNoCode checks that a command gets each value, with quotes, spaces and
// code in it, as one word, wherever it appears.
//
// Proves HOOK-11.
func TestPluginOptionsAreNoCode(t *testing.T) {
	value := `'; touch pwned; "$(touch pwned)" ` + "`touch pwned`" + ` * $HOME \`
	for _, template := range []string{
		`printf '<%s>' ${user_config.my-key}`,
		`printf '<%s>' "${user_config.my-key}"`,
		`printf '<%s>' '${user_config.my-key}'`,
		`echo "it's" >/dev/null; printf '<%s>' ${user_config.my-key}`,
		`echo it\'s >/dev/null; printf '<%s>' "${user_config.my-key}"`,
	} {
		dir := t.TempDir()
		src := pluginSource("/p", map[string]string{"my-key": value}, string(on(UserPromptSubmit, command(template+" >out"))))
		r, _ := start(t, Config{Dir: dir, Sources: []Source{src}})
		r.Fire(t.Context(), OnUserPromptSubmit("hi"))
		got, err := os.ReadFile(filepath.Join(dir, "out"))
		if err != nil || string(got) != "<"+value+">" {
			t.Errorf("%s: %s, %v", template, got, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
			t.Errorf("%s: the value was run", template)
		}
	}
}

// Proves HOOK-11, X-188.
func TestPluginCommand(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a plugin")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nenv | grep -E '^(ADZE|CLAUDE)_PLUGIN|_API_KEY' | LC_ALL=C sort >\"$1\"\nprintf '%s' \"$2\" >>\"$1\"\n"
	if err := os.WriteFile(filepath.Join(root, "run.sh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(`ADZE_PLUGIN_DATA=ROOT.data
ADZE_PLUGIN_OPTION_TOKEN=t o
ADZE_PLUGIN_OPTION_token=t o
ADZE_PLUGIN_ROOT=ROOT
CLAUDE_PLUGIN_DATA=ROOT.data
CLAUDE_PLUGIN_OPTION_TOKEN=t o
CLAUDE_PLUGIN_OPTION_token=t o
CLAUDE_PLUGIN_ROOT=ROOT
t o`, "=ROOT", "="+root)
	for _, entry := range []string{
		command("${CLAUDE_PLUGIN_ROOT}/run.sh out ${user_config.token}"),
		command(`"${ADZE_PLUGIN_ROOT}"/run.sh out "${user_config.token}"`),
		command("$CLAUDE_PLUGIN_ROOT/../'a plugin'/run.sh out ${user_config.token}"),
		`{"type":"command","command":["${CLAUDE_PLUGIN_ROOT}/run.sh","out","${user_config.token}"]}`,
	} {
		dir := t.TempDir()
		src := pluginSource(root, map[string]string{"token": "t o"}, string(on(UserPromptSubmit, entry)))
		r, _ := start(t, Config{Dir: dir, Sources: []Source{src}, Environ: func() []string {
			return []string{"PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=k"}
		}})
		r.Fire(t.Context(), OnUserPromptSubmit("hi"))
		got, err := os.ReadFile(filepath.Join(dir, "out"))
		if strings.Contains(entry, "$CLAUDE_PLUGIN_ROOT/") {
			if err == nil {
				t.Errorf("%s: an unquoted variable of the shell's own was not split", entry)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", entry, err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", entry, diff)
		}
	}
}

// Proves HOOK-11.
func TestPluginOptionMissing(t *testing.T) {
	broken := pluginSource("/p", nil, string(on(PreToolUse, command("true"))))
	broken.Plugin.Options = func(context.Context) (map[string]string, error) { return nil, errors.New("the keyring is locked") }
	for _, tt := range []struct {
		src  Source
		want string
	}{
		{pluginSource("/p", map[string]string{"a": "1"}, string(on(PreToolUse, command("echo ${user_config.a} ${user_config.b}")))), "set the plugin's option b"},
		{broken, "the keyring is locked"},
	} {
		r, _ := start(t, Config{Sources: []Source{tt.src}})
		out := r.Fire(t.Context(), OnPreToolUse(shell(t, "ls")))
		if out.Decision != tool.Ask || !strings.Contains(out.Reason, tt.want) {
			t.Errorf("%d: %s", out.Decision, out.Reason)
		}
	}
}

// Proves HOOK-27, HOOK-28.
func TestHooksOfTwoPlugins(t *testing.T) {
	hooks := string(on(UserPromptSubmit, command("echo from ${CLAUDE_PLUGIN_ROOT}")))
	again := string(on(UserPromptSubmit, command("echo own")))
	r, _ := start(t, Config{Sources: []Source{
		pluginSource("/one", nil, hooks), pluginSource("/two", nil, hooks), pluginSource("/two", nil, hooks),
		{Name: "user", Scope: scope.User, JSON: []byte(again)}, {Name: "project", Scope: scope.Project, JSON: []byte(again)},
	}})
	got := contextOf(t, r)
	for text, n := range map[string]int{"from /one\n": 1, "from /two\n": 1, ": own": 1} {
		if strings.Count(got, text) != n {
			t.Errorf("%q is not there %d times: %s", text, n, got)
		}
	}
	r, _ = start(t, Config{Policy: Policy{ManagedOnly: true}, Sources: []Source{pluginSource("/one", nil, hooks)}})
	if r.Has(UserPromptSubmit) {
		t.Error("a plugin's hook runs where only managed ones may")
	}
}

// FuzzPluginShell checks that a shell parses the filled-in command as intended, for any command
// that it can parse.
func FuzzPluginShell(f *testing.F) {
	f.Add(`echo ${user_config.x}`, "v")
	f.Add(`echo "a'${user_config.x}" '${user_config.x}'`, `$(id)'"`)
	f.Add("cat <<'E'\n${user_config.x}\nE\n", "`id`")
	bash, err := exec.LookPath("bash")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, template, value string) {
		p := &Plugin{Root: "/p", Data: "/d", Options: func(context.Context) (map[string]string, error) {
			return map[string]string{"x": value}, nil
		}}
		v, err := p.values(t.Context(), template)
		if err != nil {
			return
		}
		filled := v.shell(template)
		if len(value) > 8 && !strings.Contains(template, value) && strings.Contains(filled, value) {
			t.Errorf("the value is in the command: %q", filled)
		}
		if strings.Contains(template, "\x00") || exec.CommandContext(t.Context(), bash, "-n", "-c", template).Run() != nil {
			return
		}
		if quoteAt(filled, len(filled)) != quoteAt(template, len(template)) {
			t.Errorf("quotes are open in %q that were closed in %q", filled, template)
		}
	})
}

// TestPluginIsChecked checks that hooks of any type from a modified plugin do not run, and that
// the user gets the reason.
func TestPluginIsChecked(t *testing.T) {
	dir := t.TempDir()
	asked := false
	src := pluginSource("/p", nil, string(on(UserPromptSubmit, command("touch ran"), `{"type":"prompt","prompt":"Is it fine?"}`)))
	src.Plugin.Check = func() error { return errors.New("its files were changed") }
	r, _ := start(t, Config{Dir: dir, Sources: []Source{src}, Judges: Judges{Prompt: func(context.Context, PromptRequest) (Opinion, error) {
		asked = true
		return Opinion{}, nil
	}}})
	out := r.Fire(t.Context(), OnUserPromptSubmit("hi"))
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil || asked {
		t.Error("a hook ran")
	}
	if text := strings.Join(out.Messages, "\n"); strings.Count(text, "its files were changed") != 2 {
		t.Errorf("the user is told %q", text)
	}
}
