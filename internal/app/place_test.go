package app

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"adze/internal/app/apptest"
	"adze/internal/app/cli"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/sandbox"
)

// A place is a user's machine together with the program's output.
type place struct {
	*apptest.Place
	env  cli.Env
	out  bytes.Buffer
	said bytes.Buffer
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{Place: apptest.New(t)}
	p.env = cli.Env{
		Stdin: strings.NewReader(""), Stdout: &p.out, Stderr: &p.said, Dir: p.Path("work"), Managed: p.Path("etc"), Getenv: p.Getenv,
	}
	return p
}

// run runs the program and returns its exit code, output and messages.
func (p *place) run(args ...string) (code int, out, said string) {
	p.T.Helper()
	p.out.Reset()
	p.said.Reset()
	p.env.Args = args
	code = Run(p.T.Context(), p.env)
	return code, p.out.String(), p.said.String()
}

// Proves PERM-05, PERM-47.
func TestInvalidSettings(t *testing.T) {
	for file, want := range map[string]string{
		"home/.adze/settings.json":         "home/.adze/settings.json:1:2: is not JSON",
		"home/.claude/settings.json":       "home/.claude/settings.json:1:2: is not JSON",
		"work/.adze/settings.json":         "work/.adze/settings.json:1:2: is not JSON",
		"work/.adze/settings.local.json":   "work/.adze/settings.local.json:1:2: is not JSON",
		"etc/managed-settings.json":        "does not start without the administrator's settings",
		"etc/managed-settings.d/10-a.json": "etc/managed-settings.d/10-a.json:1:2: is not JSON",
	} {
		p := newPlace(t)
		p.Write(file, "{")
		code, out, said := p.run("-p", "hi", "--model", "replay:"+p.Path("model.replay"))
		if code != exitSetup || out != "" || !strings.Contains(said, want) {
			t.Errorf("%s: exit code %d, %q, %q", file, code, out, said)
		}
	}
}

// TestMain acts as the program when it starts itself, as the sandbox helper and the reaper.
// Otherwise each such start would run all tests again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == sandbox.HelperArg || os.Args[1] == osproc.ReaperArg) {
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}
