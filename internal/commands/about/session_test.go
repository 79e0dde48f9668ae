package about

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/changelog"
	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/platform/fs/filestate"
	"adze/internal/session/archive"
	"adze/internal/session/store"
)

// logged gives a registry a transcript with one prompt.
func logged(t *testing.T, r *commands.Registry) {
	t.Helper()
	log, err := store.Open(store.Options{Home: r.Home, Dir: r.Dir, Session: r.Session.ID(), Version: "test", NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	if err := log.Append(msg.Entry{ID: msg.NewID(), Message: msg.UserText("hi"), Time: time.Now()}); err != nil {
		t.Fatal(err)
	}
	r.Log = log
}

// run runs a command and returns its page.
func run(t *testing.T, r *commands.Registry, name, arg string) string {
	t.Helper()
	a, err := r.Run(t.Context(), name, arg)
	if err != nil {
		t.Fatalf("/%s %s: %v", name, arg, err)
	}
	return lines(t, a)
}

// TestTag checks showing and removing a tag.
//
// Proves CMD-03.
func TestTag(t *testing.T) {
	r := newRegistry(t, t.TempDir())
	if _, err := r.Run(t.Context(), "tag", "x"); !errors.Is(err, commands.ErrNotKept) {
		t.Error(err)
	}
	logged(t, r)
	for _, tt := range [][2]string{{"", "has no tag. "}, {"to do\x1b[31m", "has the tag to do"}, {"", "has the tag to do"}, {"remove", "no tag now"}, {"", "has no tag. "}} {
		if got := run(t, r, "tag", tt[0]); !strings.Contains(got, tt[1]) || strings.Contains(got, "\x1b") {
			t.Errorf("/tag %q: %q", tt[0], got)
		}
	}
	if _, err := r.Run(t.Context(), "tag", "\x01"); err == nil {
		t.Error("a tag without words")
	}
}

// TestBranch checks that a branch has the original's messages, a title and the original's
// files, and that the original remains.
//
// Proves CMD-04.
func TestBranch(t *testing.T) {
	r := newRegistry(t, t.TempDir())
	if _, err := branch(t.Context(), r, "", nil); !errors.Is(err, commands.ErrNotKept) {
		t.Error(err)
	}
	logged(t, r)
	heir := ""
	inherit := func(_ context.Context, from *archive.Info, fork string) error {
		heir = from.ID + " " + fork
		return nil
	}
	a, err := branch(t.Context(), r, "another way", inherit)
	if err != nil {
		t.Fatal(err)
	}
	to := a.(commands.Switch).Session
	if heir != r.Session.ID()+" "+to {
		t.Errorf("%q", heir)
	}
	infos, err := archive.List(r.Home, archive.ListOptions{Dir: r.Dir})
	if err != nil || len(infos) != 2 {
		t.Fatal(infos, err)
	}
	for _, i := range infos {
		if (i.ID == to) != (i.Name() == "another way") || i.Messages != 1 {
			t.Errorf("%+v", i)
		}
	}
	if _, err := branch(t.Context(), r, "", func(context.Context, *archive.Info, string) error { return errors.New("no plan") }); err == nil || !strings.Contains(err.Error(), "no plan; /resume ") {
		t.Error(err)
	}
}

// Proves CMD-03.
func TestFiles(t *testing.T) {
	r := newRegistry(t, t.TempDir())
	if got := run(t, r, "files", ""); got != "The model has seen no file.\n" {
		t.Errorf("%q", got)
	}
	dir := t.TempDir()
	var seen []filestate.Entry
	for _, name := range []string{"same", "changed", "gone", "restored", "other"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, filestate.Entry{Path: path, Stamp: filestate.StampOf(info), Shown: true})
	}
	seen[0].Complete = true
	seen[1].Offset, seen[1].Lines, seen[1].Total = 10, 5, 99
	seen[2].Shown = false
	if err := os.WriteFile(seen[1].Path, []byte("longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(seen[2].Path); err != nil {
		t.Fatal(err)
	}
	// A resumed session knows only the hash.
	seen[3].Complete, seen[3].Stamp, seen[3].Hash = true, filestate.Stamp{}, sha256.Sum256([]byte("x"))
	seen[4].Complete, seen[4].Stamp, seen[4].Hash = true, filestate.Stamp{}, sha256.Sum256([]byte("y"))
	want := `The model has seen 5 files:
File      seen                      now
same      all of it                 as seen
changed   lines 10 to 14 of 99      changed since
gone      no longer in the context  cannot be read
restored  all of it                 as seen
other     all of it                 changed since
`
	if got := lines(t, filesPage(seen, filepath.Base)); got != want {
		t.Error(got)
	}
}

// TestEnv checks that values that may be secrets are not shown.
//
// Proves CMD-03.
func TestEnv(t *testing.T) {
	all := []Variable{
		{Name: "ADZE_API_KEY", Value: "sesame1", Set: true, Doc: "the key"}, {Name: "ADZE_CUSTOM_HEADERS", Value: "X: sesame2", Set: true},
		{Name: "HTTPS_PROXY", Value: "http://me:sesame3@proxy:3128", Set: true, Doc: "the proxy"}, {Name: "ADZE_EFFORT", Value: "low", Set: true},
		{Name: "ADZE_MODEL", Doc: "the model"}, {Name: "ADZE_NOTE", Value: "sk-ant-api03-" + strings.Repeat("sesame4", 12), Set: true},
		{Name: "ADZE_AUTH_TOKEN", Value: "sesame5", Set: true},
	}
	got := lines(t, envPage(all, ""))
	if strings.Contains(got, "sesame") || strings.Contains(got, "ADZE_MODEL") || !strings.Contains(got, "ADZE_EFFORT:          low") || !strings.Contains(got, "...@proxy:3128") {
		t.Error(got)
	}
	if got := lines(t, envPage(all, "PROXY")); !strings.Contains(got, "HTTPS_PROXY") || strings.Contains(got, "sesame") || strings.Contains(got, "ADZE_MODEL") {
		t.Error(got)
	}
	if got := lines(t, envPage(nil, "")); !strings.Contains(got, "No variable that adze reads is set.") {
		t.Error(got)
	}
}

// Proves CMD-03, X-113.
func TestHeapdump(t *testing.T) {
	r := newRegistry(t, t.TempDir())
	run(t, r, "heapdump", "")
	made, err := filepath.Glob(filepath.Join(r.Home, "debug", "heap-*.pprof"))
	if err != nil || len(made) != 1 {
		t.Fatal(made, err)
	}
	if info, err := os.Stat(made[0]); err != nil || info.Size() == 0 || info.Mode().Perm()&0o077 != 0 {
		t.Error(info, err)
	}
	if _, err := r.Run(t.Context(), "heapdump", ""); err == nil {
		t.Error("one was overwritten")
	}
}

// Proves X-134.
func TestNotesPage(t *testing.T) {
	var notes []changelog.Note
	for range 20 {
		notes = append(notes, changelog.Note{Kind: "Bugfix", Title: "It is right", Text: "It was wrong."})
	}
	notes = append(notes, changelog.Note{Kind: "Enhancement", Title: "More", Text: "Much of the Same."})
	for word, want := range map[string]string{"": "And 6 more. ", "same": "Enhancement: More\n  Much of the Same.\n", "all": "Bugfix: It is right\n  It was wrong.\n"} {
		a, err := notesPage(notes, "1.0", word)
		if err != nil || !strings.Contains(lines(t, a), want) {
			t.Errorf("%q: %v, %v", word, a, err)
		}
	}
	if _, err := notesPage(notes, "1.0", "nothing"); err == nil {
		t.Error("nothing was found")
	}
	if a, err := notesPage(nil, "1.0", "x"); err != nil || lines(t, a) != "No notes on adze 1.0.\n" {
		t.Error(a, err)
	}
}

// Proves CMD-04.
func TestSandboxPage(t *testing.T) {
	r := newRegistry(t, t.TempDir())
	r.Env.Enabled = func(key string) bool { return key == "sandbox.enabled" }
	r.Env.Examine = func(context.Context, bool) []commands.Check {
		return []commands.Check{{Name: "git", Fine: "2.1"}, {Name: "sandbox", Fine: "works", Notes: []string{"no network"}}}
	}
	r.Env.Options = func(bool) []commands.Option {
		return []commands.Option{{Key: "effort", Value: "low"}, {Key: "sandbox.network.allowedDomains", Value: "go.dev"}}
	}
	got := run(t, r, "sandbox", "")
	for _, want := range []string{"Sandbox: ", "on: commands write", "works", "go.dev", "note: no network"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if strings.Contains(got, "effort") || strings.Contains(got, "2.1") {
		t.Error(got)
	}
	r.Env = commands.Env{}
	if got := lines(t, sandboxPage(t.Context(), r)); !strings.Contains(got, "off: ") {
		t.Error(got)
	}
}

// TestUsage checks that the session's cost is shown together with the day's.
func TestUsage(t *testing.T) {
	r := newRegistry(t, t.TempDir())
	if got := run(t, r, "usage", ""); !strings.Contains(got, "Today: 0 sessions. ") || !strings.Contains(got, "Total cost:") {
		t.Error(got)
	}
}
