package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/platform/config"
	"adze/internal/platform/scope"
	"adze/internal/platform/trust"
)

// A place is a person's machine with a workspace.
type place struct {
	t    *testing.T
	root string
	env  Env
	out  bytes.Buffer
	said bytes.Buffer
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, root: root}
	p.env = Env{
		Stdin: strings.NewReader(""), Stdout: &p.out, Stderr: &p.said, Dir: p.path("work"), Managed: p.path("etc"),
		Getenv: func(name string) string {
			return map[string]string{"HOME": p.path("home"), "ADZE_HOME": p.path("home/.adze")}[name]
		},
	}
	p.write("model.replay", "say Hello.")
	p.write("work/file", "")
	return p
}

func (p *place) path(rel string) string { return filepath.Join(p.root, filepath.FromSlash(rel)) }

func (p *place) write(rel, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(rel)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(rel), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// run runs the program and returns its exit code and what it said.
func (p *place) run(args ...string) (code int, out, said string) {
	p.t.Helper()
	p.out.Reset()
	p.said.Reset()
	p.env.Args = args
	code = Run(p.t.Context(), p.env)
	return code, p.out.String(), p.said.String()
}

// Proves PERM-05, PERM-47.
func TestInvalidSettings(t *testing.T) {
	for file, want := range map[string]string{
		"home/.adze/settings.json":         "home/.adze/settings.json:1:2: is not JSON",
		"home/.claude/settings.json":       "home/.claude/settings.json:1:2: is not JSON",
		"work/.adze/settings.json":         "work/.adze/settings.json:1:2: is not JSON",
		"work/.adze/settings.local.json":   "work/.adze/settings.local.json:1:2: is not JSON",
		"etc/managed-settings.json":        "nothing is started without the administrator's settings",
		"etc/managed-settings.d/10-a.json": "etc/managed-settings.d/10-a.json:1:2: is not JSON",
	} {
		p := newPlace(t)
		p.write(file, "{")
		code, out, said := p.run("-p", "hi", "--model", "replay:"+p.path("model.replay"))
		if code != exitSetup || out != "" || !strings.Contains(said, want) {
			t.Errorf("%s: exit code %d, %q, %q", file, code, out, said)
		}
	}
}

// Proves PERM-05, PERM-70, X-115.
func TestMeet(t *testing.T) {
	tests := []struct {
		name    string
		set     func(p *place)
		answer  string
		code    int
		shown   string
		trusted bool
	}{
		{"nothing to decide", func(p *place) {}, "", 0, "", false},
		{"trust given", func(p *place) { p.write("work/.adze/settings.json", `{"env":{"A":"b"}}`) }, "y\n", 0, "variable  A=b", true},
		{"trust refused", func(p *place) { p.write("work/CLAUDE.md", "x") }, "n\n", 0, "text      CLAUDE.md", false},
		{"no answer", func(p *place) { p.write("work/CLAUDE.md", "x") }, "", 0, "Trust this workspace?", false},
		{"control characters", func(p *place) { p.write("work/.adze/settings.json", `{"env":{"A":"\u001b[2J"}}`) }, "n\n", 0, "variable  A=", false},
		{"go on without a file", func(p *place) { p.write("home/.adze/settings.json", "{") }, "yes\n", 0, "Go on without the file?", false},
		{"do not go on", func(p *place) { p.write("home/.adze/settings.json", "{") }, "\n", 2, "Go on without the file?", false},
		{"the administrator's file", func(p *place) { p.write("etc/managed-settings.json", "{") }, "yes\n", 2, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			tt.set(p)
			p.env.StdinTerminal, p.env.StdoutTerminal = true, true
			p.env.Stdin = strings.NewReader(tt.answer)
			o := &options{}
			if code := p.env.exitCode(t.Context(), meet(t.Context(), &p.env, o)); code != tt.code {
				t.Errorf("exit code %d, %s", code, p.said.String())
			}
			if !strings.Contains(p.out.String(), tt.shown) || strings.Contains(p.out.String(), "\x1b") {
				t.Errorf("shown: %q", p.out.String())
			}
			prefs, _ := findSettings(&p.env, &options{})
			if got := prefs.workspace.lasting; got != tt.trusted {
				t.Errorf("trusted: %t", got)
			}
		})
	}
}

// What was trusted is what was shown: a hook that is changed or added later is not approved.
//
// Proves PERM-70.
func TestApprovedByContent(t *testing.T) {
	const hook = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"make %"}]}]}}`
	item := func(command string) trust.Item {
		return trust.Hook("Stop", "", []byte(`{"type":"command","command":"`+command+`"}`))
	}
	p := newPlace(t)
	p.write("work/.adze/settings.json", strings.Replace(hook, "%", "test", 1))
	approved := func(o *options, from scope.Scope, command string) bool {
		prefs, _ := findSettings(&p.env, o)
		return prefs.workspace.Approved(from, item(command))
	}
	if approved(&options{}, scope.Project, "make test") {
		t.Error("approved before trust")
	}
	if code, _, said := p.run("trust"); code != 0 {
		t.Fatal(said)
	}
	for name, tt := range map[string]struct {
		o       *options
		scope   scope.Scope
		command string
		want    bool
	}{
		"shown":                    {&options{}, scope.Project, "make test", true},
		"changed":                  {&options{}, scope.Project, "make evil", false},
		"one's own":                {&options{}, scope.User, "make evil", true},
		"one's own in the project": {&options{}, scope.Local, "make evil", true},
		"for one run":              {&options{trust: true}, scope.Project, "make evil", true},
		"a host":                   {&options{input: inputStream}, scope.Project, "make evil", true},
	} {
		if got := approved(tt.o, tt.scope, tt.command); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Local settings are the person's own unless they came with the workspace.
//
// Proves PERM-05.
func TestOwnSettings(t *testing.T) {
	p := newPlace(t)
	p.write("work/.adze/settings.local.json", "{}")
	owns := func(o *options) bool {
		prefs, _ := findSettings(&p.env, o)
		return prefs.workspace.owns(p.path("work/.adze/settings.local.json"))
	}
	if owns(&options{}) || owns(&options{input: inputStream}) || !owns(&options{trust: true}) {
		t.Errorf("%t %t %t", owns(&options{}), owns(&options{input: inputStream}), owns(&options{trust: true}))
	}
	p.write("work/.git/index", "damaged")
	if owns(&options{trust: true}) {
		t.Error("nobody knows whether git tracks it")
	}
	if err := os.RemoveAll(p.path("work/.git")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(p.path("work/.adze"), p.path("work/other")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("other", p.path("work/.adze")); err != nil {
		t.Fatal(err)
	}
	if owns(&options{trust: true}) {
		t.Error("a link may lead to what came with the workspace")
	}
}

func TestSave(t *testing.T) {
	p := newPlace(t)
	p.write("work/.git/HEAD", "ref: refs/heads/main")
	prefs, _ := findSettings(&p.env, &options{trust: true})
	var said []string
	say := func(text string) { said = append(said, text) }
	for range 2 {
		if err := prefs.save(t.Context(), say, scope.Local, config.Update{Type: "addRules", Behavior: "allow", Rules: []string{"Bash(ls)"}}); err != nil {
			t.Fatal(err)
		}
	}
	if rules := prefs.live.Settings().Rules(); len(rules) != 1 || rules[0].Scope != scope.Local {
		t.Errorf("%v", rules)
	}
	exclude, err := os.ReadFile(p.path("work/.git/info/exclude"))
	if err != nil || string(exclude) != "/.adze/settings.local.json\n" || len(said) != 1 {
		t.Errorf("%q, %v, %q", exclude, err, said)
	}
}
