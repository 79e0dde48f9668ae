package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Proves SESS-11, SESS-23.
func TestFork(t *testing.T) {
	opt := options(t)
	src := open(t, opt)
	for _, e := range conversation()[:3] {
		if err := src.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := src.Note(Title("Mine")); err != nil {
		t.Fatal(err)
	}
	const future = `{"type":"future_thing","sessionId":"s-1","nested":{"sessionId":"s-1","a":[1,2]}}` + "\n"
	const bad = "not a record \x00\n"
	appendTo(t, src.Path(), future+bad)

	fork := opt
	fork.Session = "s-2"
	path, err := Fork(src.Path(), fork, "") // while it is open
	if err != nil {
		t.Fatal(err)
	}
	text := content(t, path)
	if !strings.Contains(text, bad) || !strings.Contains(text, `{"type":"future_thing","sessionId":"s-2","nested":{"sessionId":"s-1","a":[1,2]}}`) {
		t.Error("a record of an unknown type was not copied as it is")
	}
	if n := strings.Count(text, `"forkedFrom":{"sessionId":"s-1","messageUuid":"e`); n != 3 {
		t.Errorf("%d messages with an origin:\n%s", n, text)
	}
	l, c, err := Resume(fork, LoadOptions{Structured: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(conversation()[:3], c.Entries); diff != "" || c.Session != "s-2" || c.State.Title != "Mine (fork)" {
		t.Error(diff, c.Session, c.State.Title)
	}
	if err := errors.Join(l.Append(conversation()[3]), l.Close()); err != nil {
		t.Fatal(err)
	}
	if got := load(t, src.Path()); len(got.Entries) != 3 {
		t.Errorf("the source has %d entries now", len(got.Entries))
	}

	fork.Session = "s-3"
	if path, err = Fork(path, fork, "e2"); err != nil {
		t.Fatal(err)
	}
	if got, _ := ids(t, content(t, path), LoadOptions{}); got != "e1 e2" {
		t.Errorf("up to a message: %s", got)
	}
	if n := strings.Count(content(t, path), "forkedFrom"); n != 2 {
		t.Errorf("the fork of a fork says %d times where it comes from", n)
	}
	if _, err := Fork(path, fork, ""); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("to a session that exists: %v", err)
	}
	fork.Session = "s-4"
	if _, err := Fork(path, fork, "zz"); !errors.Is(err, ErrUnknownMessage) {
		t.Errorf("unknown message: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(left) != 4 { // including the origin file
		t.Errorf("%q is left, %v", left, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Proves SESS-24.
func TestAnnotate(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	if err := l.Append(text("e1", "hi")); err != nil {
		t.Fatal(err)
	}
	if err := Annotate(l.Path(), Title("x")); !errors.Is(err, ErrLocked) {
		t.Errorf("in use: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	appendTo(t, l.Path(), `{"torn`)
	when := start.Add(-time.Hour)
	if err := os.Chtimes(l.Path(), when, when); err != nil {
		t.Fatal(err)
	}
	if err := Annotate(l.Path(), Title("Name"), Tag("t")); err != nil {
		t.Fatal(err)
	}
	c := load(t, l.Path())
	if c.State.Title != "Name" || c.State.Tag != "t" || c.Bad != 0 || c.Torn {
		t.Errorf("%+v", c)
	}
	if !strings.Contains(content(t, l.Path()), `"customTitle":"Name","sessionId":"s-1"`) {
		t.Error("the note does not say whose it is")
	}
	if info, err := os.Stat(l.Path()); err != nil || !info.ModTime().Equal(when) {
		t.Errorf("the session is newer for having a name: %v, %v", info.ModTime(), err)
	}
	if err := Annotate(filepath.Join(opt.Home, "none.jsonl"), Title("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no session: %v", err)
	}
}

// Proves SESS-24.
func TestTitles(t *testing.T) {
	for in, want := range map[string]string{
		"a": "a", "  two\n words\t": "two words", strings.Repeat("é", 300): strings.Repeat("é", 200), "\x1b[31mred\x07": "[31mred", "a\u202eb": "ab",
	} {
		if got, err := CheckTitle(in); got != want || err != nil {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"", " \n", "\x00\u200b"} {
		if got, err := CheckTitle(in); err == nil {
			t.Errorf("%q: %q", in, got)
		}
	}
	long := strings.Repeat("word ", 40)
	auto := AutoTitleOf(long)
	if n := len([]rune(auto)); n > MaxAutoTitle || !strings.HasSuffix(auto, "word…") {
		t.Errorf("%d characters: %s", n, auto)
	}
	if got := AutoTitleOf(strings.Repeat("x", 500)); len([]rune(got)) != MaxAutoTitle {
		t.Errorf("one long word: %s", got)
	}
}

func TestRemove(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	if err := l.Append(text("e1", "hi")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.SaveResult("c", "txt", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	if err := Remove(l.Path()); !errors.Is(err, ErrLocked) {
		t.Errorf("in use: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Remove(l.Path()); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(Projects(opt.Home)); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
	if err := Remove(l.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("again: %v", err)
	}
}

// TestStickyNotes checks that titles are near the end of a log, because lists read only the
// end.
//
// Proves SESS-24.
func TestStickyNotes(t *testing.T) {
	opt := options(t)
	opt.NoSync = true
	l := open(t, opt)
	write := func(l *Log, n int) {
		t.Helper()
		for range n {
			if err := l.Append(text("e", strings.Repeat("x", 10_000))); err != nil {
				t.Fatal(err)
			}
		}
	}
	tail := func() string {
		all := content(t, l.Path())
		return all[max(0, len(all)-2*tailReach):]
	}
	write(l, 1)
	if err := errors.Join(l.Note(Title("Old")), l.Note(Title("Mine")), l.Note(Model("m"))); err != nil {
		t.Fatal(err)
	}
	write(l, 10)
	if strings.Contains(tail(), "Mine") {
		t.Fatal("the title survives without a repeated record")
	}
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
	if got := tail(); !strings.Contains(got, `"customTitle":"Mine"`) || strings.Contains(got, "Old") || strings.Contains(got, `"type":"model"`) {
		t.Error("the title record is not repeated, or too much is")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, _, err := Resume(opt, LoadOptions{all: true})
	if err != nil {
		t.Fatal(err)
	}
	write(l, 10)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(tail(), `"customTitle":"Mine"`) {
		t.Error("the title record is not repeated after resuming")
	}
}
