//go:build unix

package change_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"

	"adze/internal/platform/fs/filestate"
	"adze/internal/tool/change"
)

// know records a whole file, or its lines first to last, with its content.
func (w *world) know(name string, first, last int) {
	w.t.Helper()
	data := w.content(name)
	info, err := os.Stat(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	e := filestate.Entry{
		Path: w.path(name), Hash: sha256.Sum256([]byte(data)), Stamp: filestate.StampOf(info), Origin: filestate.Read,
		Offset: 1, Total: strings.Count(data, "\n"), Complete: last == 0, Content: []byte(data),
	}
	if last > 0 {
		e.Offset, e.Limit, e.Lines = first, last-first+1, last-first+1
	}
	w.State.Record(e)
}

// editor returns a world for the Edit tool with a file of 60 lines.
func editor(t *testing.T) (w *world, edit func(old, fresh string) error) {
	for _, k := range kinds() {
		if k.name != "Edit" {
			continue
		}
		w = newWorld(t, k)
	}
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	w.write("f", b.String())
	return w, func(old, fresh string) error {
		call := w.bind([]byte(fmt.Sprintf(`{"file_path":"f","old_string":%q,"new_string":%q}`, old, fresh)))
		_, err := call.Run(t.Context(), nil)
		return err
	}
}

// TestStaleEditShowsTheDifference checks that editing an externally changed file shows the
// change, which then counts as read (model-side review, section 3.2).
//
// Proves EDIT-02.
func TestStaleEditShowsTheDifference(t *testing.T) {
	w, edit := editor(t)
	w.know("f", 0, 0)
	theirs := strings.Replace(w.content("f"), "line 30\n", "line thirty\nand more\n", 1)
	w.write("f", theirs)
	err := edit("line 50", "LINE 50")
	for _, want := range []string{"f was modified since it was read. This is the change:\n@@ -27,7 +27,8 @@\n line 27\n", "\n-line 30\n+line thirty\n+and more\n line 31\n", "if your change still fits, send it again."} {
		if code(err) != change.CodeChanged || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if w.content("f") != theirs {
		t.Error("something was written")
	}
	if err := edit("line 50", "LINE 50"); err != nil || w.content("f") != strings.Replace(theirs, "line 50", "LINE 50", 1) {
		t.Errorf("the same again: %v", err)
	}
}

// TestStaleEditOfMuch checks that a change too long to show has to be read.
func TestStaleEditOfMuch(t *testing.T) {
	for name, theirs := range map[string]string{
		"many lines": strings.ReplaceAll(fmt.Sprint(make([]int, 60)), " ", "\nother\n") + "\n",
		"a long one": strings.Repeat("x", 5000) + "\n",
	} {
		w, edit := editor(t)
		w.know("f", 0, 0)
		w.write("f", theirs)
		for range 2 {
			err := edit("line 50", "x")
			if code(err) != change.CodeChanged || !strings.Contains(err.Error(), "Read it again") || strings.Count(err.Error(), "\n") > 42 || len(err.Error()) > 2500 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	w, edit := editor(t) // the previous content is unknown
	w.read("f")
	w.write("f", "other\n")
	if err := edit("line 50", "x"); code(err) != change.CodeChanged || !strings.HasSuffix(err.Error(), "Read it again before you change it.") {
		t.Error(err)
	}
}

// TestStaleEditOfAPart checks that the part of a file that was read stays known, together with
// the part of the change that was shown.
func TestStaleEditOfAPart(t *testing.T) {
	w, edit := editor(t)
	w.know("f", 20, 40)
	theirs := strings.Replace(w.content("f"), "line 10\n", "line 10\nmore\nand more\n", 1)
	w.write("f", theirs)
	if err := edit("line 40", "x"); code(err) != change.CodeChanged || !strings.Contains(err.Error(), "\n+more\n") {
		t.Fatal(err)
	}
	for _, old := range []string{"line 20\n", "line 40\n", "more\nand more\n"} {
		if err := edit(old, "x\n"); err != nil {
			t.Errorf("%q: %v", old, err)
		}
	}
}

// TestNewsOfPrintedFiles checks that a file printed completely by a command is known as if
// read, and that lines printed by a search are not.
//
// Proves SHOUT-06.
func TestNewsOfPrintedFiles(t *testing.T) {
	w, _ := editor(t)
	for name, lines := range map[string]int{"whole": 3, "part": 2} {
		w.write(name, "a\nb\nc\n")
		info, err := os.Stat(w.path(name))
		if err != nil {
			t.Fatal(err)
		}
		w.State.Saw(filestate.Entry{
			Path: w.path(name), Hash: sha256.Sum256([]byte(w.content(name))), Stamp: filestate.StampOf(info), Total: 3,
			Seen: []filestate.Span{{First: 1, Last: lines}},
		})
		w.write(name, "a\nb\nc\nd\n")
	}
	for i, want := range []string{w.path("whole"), ""} {
		got := strings.Join(w.News(context.Background()), "\n")
		if !strings.HasSuffix(got, want) || want == "" && got != "" || strings.Contains(got, w.path("part")) {
			t.Errorf("%d: %s", i, got)
		}
	}
}

// TestNews checks that changes to files the model knows are reported once, at the start of a
// turn (model-side review, sections 2.6 and 5.13).
func TestNews(t *testing.T) {
	w, edit := editor(t)
	news := func() string { return strings.Join(w.News(context.Background()), "\n---\n") }
	w.know("f", 0, 0)
	for _, name := range []string{"gone", "much", "touched", "secret", "partly"} {
		w.write(name, "a\nb\nc\n")
		w.know(name, 0, 0)
	}
	w.know("partly", 1, 2)
	w.Hidden = func(path string) bool { return strings.HasSuffix(path, "secret") }
	if got := news(); got != "" {
		t.Errorf("nothing changed: %s", got)
	}
	w.write("f", strings.Replace(w.content("f"), "line 30\n", "line thirty\n", 1))
	w.write("much", strings.Repeat("x\n", 100))
	w.write("touched", "a\nb\nc\n")
	w.write("secret", "x")
	w.write("partly", "a\nB\nc\n")
	if err := os.Remove(w.path("gone")); err != nil {
		t.Fatal(err)
	}
	got := news()
	for _, want := range []string{
		w.path("f") + " was changed since you last saw it", "\n-line 30\n+line thirty\n", w.path("partly") + " was changed", "\n-b\n+B\n",
		"these files were changed or removed, by the user or by a command; read them again before you rely on them:\n" + w.path("much") + "\n" + w.path("gone"),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the news lack %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "touched") || strings.Contains(got, "secret") {
		t.Errorf("the news are:\n%s", got)
	}
	if again := news(); again != "" {
		t.Errorf("told again: %s", again)
	}
	if err := edit("line thirty", "line 30"); err != nil {
		t.Errorf("an edit of the announced content: %v", err)
	}
	if got := news(); got != "" {
		t.Errorf("an edit of our own is news: %s", got)
	}
	var many []string
	for i := range 9 {
		name := fmt.Sprintf("many%d", i)
		w.write(name, "a\n")
		w.know(name, 0, 0)
		w.write(name, "b\n")
		many = append(many, name)
	}
	got = news()
	if n := strings.Count(got, "+b"); n != 5 || strings.Count(got, "many") != len(many) {
		t.Errorf("%d differences:\n%s", n, got)
	}
	var none *change.Files
	if none.News(context.Background()) != nil {
		t.Error("news of no files")
	}
}
