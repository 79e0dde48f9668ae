package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/app/cli"
)

// A place is a user's machine with a workspace.
type place struct {
	t    *testing.T
	root string
	env  cli.Env
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
	p.env = cli.Env{
		Stdin: strings.NewReader(""), Stdout: &p.out, Stderr: &p.said, Dir: p.path("work"), Managed: p.path("etc"),
		Getenv: func(name string) string {
			return map[string]string{"HOME": p.path("home"), "ADZE_HOME": p.path("home/.adze")}[name]
		},
	}
	t.Setenv("HOME", p.path("home")) // start-up files of the shell that runs commands are not the tester's
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
