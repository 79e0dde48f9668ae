package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/app/apptest"
	memorycli "adze/internal/app/cli/memory"
	"adze/internal/app/wire"
	"adze/internal/feature/memory"
	"adze/internal/settings"
)

// A place is a user's machine together with the program's output.
type place struct {
	*apptest.Place
	env  Env
	out  bytes.Buffer
	said bytes.Buffer
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{Place: apptest.New(t)}
	p.env = Env{
		Stdin: strings.NewReader(""), Stdout: &p.out, Stderr: &p.said, Dir: p.Path("work"), Managed: p.Path("etc"), Getenv: p.Getenv,
	}
	return p
}

func (p *place) project() *settings.Project {
	project, _ := settings.Open(p.env.source(settings.Source{})) // ok: the tests check the resulting settings
	return project
}

// Proves PERM-05, PERM-70, X-115.
func TestMeet(t *testing.T) {
	tests := []struct {
		name    string
		set     func(p *place)
		answer  string
		fails   bool
		shown   string
		trusted bool
	}{
		{"nothing to decide", func(p *place) {}, "", false, "", false},
		{"trust given", func(p *place) { p.Write("work/.adze/settings.json", `{"env":{"A":"b"}}`) }, "y\n", false, "variable     A=b", true},
		{"local settings are shown", func(p *place) { p.Write("work/.adze/settings.local.json", `{"apiKeyHelper":"evil"}`) }, "y\n", false, "helper       apiKeyHelper: \"evil\"", true},
		{"a broken file of the project", func(p *place) { p.Write("work/.adze/settings.json", "{"); p.Write("work/CLAUDE.md", "x") }, "y\ny\n", false, "Continue without the file?", false},
		{"texts need no trust", func(p *place) { p.Write("work/CLAUDE.md", "x") }, "", false, "", false},
		{"trust refused", func(p *place) { p.Write("work/CLAUDE.md", "x"); p.Write("work/.adze/settings.json", "{}") }, "n\n", false, "instructions CLAUDE.md", false},
		{"no answer", func(p *place) { p.Write("work/.mcp.json", "{}") }, "", false, "Trust this workspace?", false},
		{"control characters", func(p *place) { p.Write("work/.adze/settings.json", `{"env":{"A":"\u001b[2J"}}`) }, "n\n", false, "variable     A=", false},
		{"go on without a file", func(p *place) { p.Write("home/.adze/settings.json", "{") }, "yes\n", false, "Continue without the file?", false},
		{"do not go on", func(p *place) { p.Write("home/.adze/settings.json", "{") }, "\n", true, "Continue without the file?", false},
		{"the administrator's file", func(p *place) { p.Write("etc/managed-settings.json", "{") }, "yes\n", true, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			tt.set(p)
			p.env.StdinTerminal, p.env.StdoutTerminal = true, true
			p.env.Stdin = strings.NewReader(tt.answer)
			o := &runOptions{spec: wire.Spec{Bare: true}} // bare: memories would prompt too
			if _, err := o.meet(t.Context(), &p.env); (err != nil) != tt.fails {
				t.Errorf("%v, %s", err, p.said.String())
			}
			if !strings.Contains(p.out.String(), tt.shown) || strings.Contains(p.out.String(), "\x1b") {
				t.Errorf("shown: %q", p.out.String())
			}
			if tt.shown == "" && p.out.Len() > 0 {
				t.Errorf("asked: %q", p.out.String())
			}
			if got := p.project().Trust.Lasting(); got != tt.trusted {
				t.Errorf("trusted: %t", got)
			}
		})
	}
}

// Proves MEM-03.
func TestMemoriesAreOffered(t *testing.T) {
	p := newPlace(t)
	key := strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(p.Path("work"))
	theirs := "home/.claude/projects/" + key + "/memory"
	p.Write(theirs+"/a.md", "---\nname: a\ndescription: b\ntype: user\n---\nText.")
	offer := func(answer string) string {
		p.out.Reset()
		p.env.Stdin = strings.NewReader(answer)
		if err := memorycli.Offer(p.env.streams(), p.project(), false); err != nil {
			t.Fatal(err)
		}
		return p.out.String()
	}
	mine, _, _ := memory.Folder(p.project())
	if got := offer("n\n"); !strings.Contains(got, "Another program has 1 memory for this project in "+p.Path(theirs)) {
		t.Error(got)
	}
	if got := offer("y\n"); got != "" {
		t.Errorf("prompted again: %s", got)
	}
	if err := os.Remove(filepath.Join(filepath.Dir(mine.Dir), memorycli.Declined)); err != nil {
		t.Fatal(err)
	}
	if got := offer("y\n"); !strings.Contains(got, "1 memory copied to "+mine.Dir) {
		t.Error(got)
	}
	if all, err := mine.List(); len(all) != 1 || err != nil {
		t.Error(all, err)
	}
	if got := offer("y\n"); got != "" {
		t.Errorf("there is something already: %s", got)
	}
	left, err := os.ReadDir(p.Path(theirs))
	if err != nil || len(left) != 1 {
		t.Error("something was written there", left, err)
	}
}

func TestWithoutPauses(t *testing.T) {
	got := pausePattern.ReplaceAllString("delay 1s\nfragments 3 every=2ms\nsay delay 1s\n", "")
	if diff := cmp.Diff("say delay 1s\n", got); diff != "" {
		t.Error(diff)
	}
}

func TestIsUUID(t *testing.T) {
	for s, want := range map[string]bool{
		"3f2a9c1e-5b7d-4e80-9a61-0c4d8e2f7b13": true, "3F2A9C1E-5B7D-4E80-9A61-0C4D8E2F7B13": true,
		"": false, "3f2a9c1e5b7d4e809a610c4d8e2f7b13": false, "3f2a9c1e-5b7d-4e80-9a61-0c4d8e2f7b1g": false,
	} {
		if isUUID(s) != want {
			t.Errorf("%q", s)
		}
	}
}
