//go:build unix

package bash

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/replace"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tool/command"
)

// newEditor returns a bench whose tool can edit files.
func newEditor(t *testing.T, adjust func(*Config)) *bench {
	t.Helper()
	b := newBench(t, func(c *Config) {
		c.Sandbox = nil
		c.Files = &change.Files{Dir: c.Dir, State: filestate.New(), Replacer: replace.New(t.TempDir())}
		t.Cleanup(c.Files.Wait)
		if adjust != nil {
			adjust(c)
		}
	})
	return b
}

func (b *bench) bind(t *testing.T, command string) *call {
	t.Helper()
	c, err := b.Bind(json.RawMessage(input(command)))
	if err != nil {
		t.Fatal(err)
	}
	return c.(*call)
}

func (b *bench) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.root, name), []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(b.root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestSedInPlaceOfManyFiles checks that a wildcard may match many files, and that files without
// a match are counted.
//
// Proves SHOUT-06.
func TestSedInPlaceOfManyFiles(t *testing.T) {
	b := newEditor(t, nil)
	for i := range 150 {
		b.write(t, fmt.Sprintf("f%03d.txt", i), "bar\n")
	}
	b.write(t, "f007.txt", "foo\n")
	c := b.bind(t, "sed -i 's/foo/X/' *.txt")
	if c.Command().Edits() == nil {
		t.Fatal("not an edit")
	}
	res, err := c.Run(t.Context(), func(tool.Progress) {})
	if got, want := msg.PlainText(res.Parts), "Edited f007.txt: 1 line changed.\nNothing in 149 other files matched: they are unchanged."; err != nil || got != want {
		t.Errorf("%v, %s", err, got)
	}
}

// Proves SHOUT-06.
func TestSedInPlace(t *testing.T) {
	b := newEditor(t, nil)
	b.write(t, "a.txt", "foo 1\nbar\nfoo foo")
	b.write(t, "b.txt", "nothing\n")
	b.write(t, "c.txt", "a foo\n")
	c := b.bind(t, "sed -i 's/foo/X&/g' a.txt b.txt c.txt")
	if c.Command().Edits() == nil || c.ReadOnly() || c.Concurrent() {
		t.Fatal("not an edit")
	}
	preview, err := c.Preview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := tool.Changes{
		{Path: filepath.Join(b.root, "a.txt"), Added: 2, Removed: 2, Hunks: []tool.Hunk{{OldStart: 1, OldLines: 3, NewStart: 1, NewLines: 3,
			Lines: []string{"-foo 1", "+Xfoo 1", " bar", "-foo foo", `+Xfoo Xfoo`}}}},
		{Path: filepath.Join(b.root, "c.txt"), Added: 1, Removed: 1, Hunks: []tool.Hunk{{OldStart: 1, OldLines: 1, NewStart: 1, NewLines: 1, Lines: []string{"-a foo", "+a Xfoo"}}}},
	}
	trimmed := func(lines []string) []string { // ignore the marker for a missing newline
		var kept []string
		for _, line := range lines {
			if !strings.HasPrefix(line, `\`) {
				kept = append(kept, line)
			}
		}
		return kept
	}
	if diff := cmp.Diff(want, preview, cmp.Transformer("lines", trimmed)); diff != "" {
		t.Errorf("preview (-want +got):\n%s", diff)
	}
	if b.read(t, "a.txt") != "foo 1\nbar\nfoo foo" {
		t.Error("the preview changes the file")
	}
	res, err := c.Run(t.Context(), func(tool.Progress) {})
	if err != nil || res.IsError {
		t.Fatal(err, res)
	}
	if got, want := msg.PlainText(res.Parts), "Edited a.txt: 2 lines changed.\nEdited c.txt: 1 line changed.\nNothing in b.txt matched: it is unchanged."; got != want {
		t.Errorf("%q", got)
	}
	if got := b.read(t, "a.txt") + "|" + b.read(t, "c.txt"); got != "Xfoo 1\nbar\nXfoo Xfoo|a Xfoo\n" {
		t.Errorf("%q", got)
	}
	if _, ok := res.Structured.(command.Output); !ok {
		t.Errorf("%T", res.Structured)
	}
	if info, err := os.Stat(filepath.Join(b.root, "a.txt")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if b.shells.Load() != 0 {
		t.Error("a shell was started")
	}
}

// seds creates a custom sed in dir, and returns dir.
func seds(t *testing.T, dir, script string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "sed"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestWhatIsNoEditInPlace checks that the shell runs every sed that may not be an edit.
//
// Proves SHOUT-06.
func TestWhatIsNoEditInPlace(t *testing.T) {
	b := newEditor(t, nil)
	b.write(t, "a.txt", "foo\n")
	b.write(t, "binary", "foo\x00\n")
	b.write(t, "latin", "foo\xe9\n")
	b.write(t, "unicode", "foo é\n")
	b.write(t, " blank", "foo\n")
	for name, to := range map[string]string{"link": "a.txt", "dangling": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(b.root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]bool{
		"sed -i s/foo/bar/ a.txt":                     true,
		"sed -i 's/foo/bar/' " + b.root + "/a.txt":    true,
		`"sed" -i "s/foo/b r/" ./a.txt`:               true,
		"sed -i s/foo/bar/ unicode":                   true,
		"sed -i s/f./bar/ unicode":                    true,
		"sed -i /foo/d a.txt":                         true,
		"sed -ni -e 1p -e '$=' a.txt":                 true,
		"sed --in-place --quiet --expression=p a.txt": true,
		"sed -i F a.txt":                              true,
		"sed -i F " + b.root + "/a.txt":               false,
		"sed -i.bak s/foo/bar/ a.txt":                 false,
		"sed -in s/foo/bar/ a.txt":                    false,
		"sed -i -f script a.txt":                      false,
		"sed -i 's/foo/bar/w out' a.txt":              false,
		"sed -i s/foo/date/e a.txt":                   false,
		"sed -i 'r a.txt' a.txt":                      false,
		"sed -i 'w /dev/stdout' a.txt":                false,
		"sed -i q7 a.txt":                             false,
		"sed -i 's/foo' a.txt":                        false,
		"sed -i ':a;ba' a.txt":                        false,
		"sed -i ':a;s/o/oo/g;ba' a.txt":               false,
		"sed -i --debug p a.txt":                      false,
		"sed -i p a.txt ./a.txt":                      false,
		"sed -i 's/f/\\x00/' a.txt":                   false,
		"sed -i s/foo/bar/ a.txt nosuch":              false,
		"sed -i s/foo/bar/ link":                      false,
		"sed -i s/foo/bar/ dangling":                  false,
		"sed -i s/foo/bar/ binary":                    false,
		"sed -i s/foo/bar/ latin":                     true,
		"sed -i s/foo/bar/ ' blank'":                  false,
		"sed -i s/foo/bar/ .":                         false,
		"sed -i s/foo/bar/ *.txt":                     true,
		"sed -i s/foo/bar/ \"*\".txt":                 false,
		"sed -i s/foo/bar/ *.nosuch":                  false,
		"sed -i s/foo/bar/ *":                         false, // links, binary files
		"sed -i s/foo/bar/ a.txt && sed -i p a.txt":   true,
		"sed -i s/foo/bar/ a.txt && grep bar a.txt":   true,
		"sed -i s/foo/bar/ a.txt && grep b a.txt|wc":  true,
		"sed -i s/foo/bar/ a.txt && touch x":          false,
		"sed -i s/foo/bar/ a.txt && cd . && ls":       false,
		"sed -i s/foo/bar/ a.txt || ls":               false,
		"sed -i s/foo/bar/ a.txt && ls &":             false,
		"sed -i s/foo/bar/ a.txt | cat":               false,
		"(sed -i s/foo/bar/ a.txt; rm x) && ls":       false,
		"{ sed -i s/foo/bar/ a.txt; } && ls":          false,
		"ls && sed -i s/foo/bar/ a.txt":               false,
		"! sed -i s/foo/bar/ a.txt && ls":             false,
		"sed -i s/foo/bar/ ../x":                      false,
		"sed -i s/foo/bar/ $HOME/a.txt":               false,
		"sed -i s/foo/bar/ ~/a.txt":                   false,
		"sed -i s/$x/bar/ a.txt":                      false,
		"sed -i s/foo/bar/ a.txt; ls":                 false,
		"sed -i s/foo/bar/ a.txt > x":                 false,
		"sed -i s/foo/bar/ a.txt &":                   false,
		"LC_ALL=C sed -i s/foo/bar/ a.txt":            false,
		"/usr/bin/sed -i s/foo/bar/ a.txt":            false,
		"sudo sed -i s/foo/bar/ a.txt":                false,
		"find . -name a.txt -exec sed -i s/a/b/ {} +": false,
		"sed s/foo/bar/ a.txt":                        false,
		"gsed -i s/foo/bar/ a.txt":                    false,
	} {
		c := b.bind(t, command)
		if got := c.Command().Edits() != nil; got != want {
			t.Errorf("%q: %v", command, got)
		}
		if _, err := c.Preview(t.Context()); (err == nil) != want {
			t.Errorf("%q is shown: %v", command, err)
		}
	}
	for name, change := range map[string]func(*Config){
		"without a place for locks": func(c *Config) { c.Files = nil },
		"in a sandbox":              func(c *Config) { c.Sandbox = new(box) },
		"with options read otherwise": func(c *Config) {
			c.Env = func() []string { return []string{"PATH=" + os.Getenv("PATH"), "POSIXLY_CORRECT=1"} }
		},
		"without sed": func(c *Config) { c.Env = func() []string { return []string{"PATH=/nowhere"} } },
		"with another sed": func(c *Config) {
			bin := seds(t, t.TempDir(), "echo unknown option >&2; exit 1")
			c.Env = func() []string { return []string{"PATH=" + bin + ":" + os.Getenv("PATH")} }
		},
		"with a sed of the project": func(c *Config) {
			bin := seds(t, c.Dir(), "touch \"$(dirname \"$0\")/ran\"; exec /usr/bin/sed \"$@\"")
			t.Cleanup(func() {
				if _, err := os.Stat(filepath.Join(bin, "ran")); err == nil {
					t.Error("a sed of the project was run")
				}
			})
			c.Env = func() []string { return []string{"PATH=" + bin + ":" + os.Getenv("PATH")} }
		},
	} {
		other := newEditor(t, change)
		other.write(t, "a.txt", "foo\n")
		if other.bind(t, "sed -i s/foo/bar/ a.txt").Command().Edits() != nil {
			t.Errorf("%s it is an edit", name)
		}
	}
	b.run(t, "sed -i s/foo/link/ link")
	if info, err := os.Lstat(filepath.Join(b.root, "link")); err != nil || info.Mode()&os.ModeSymlink != 0 || b.read(t, "a.txt") != "foo\n" {
		t.Errorf("real sed did not run: %v, %v", info, err)
	}
}

// TestSedInPlaceOfWhatChanged checks that a file that changed after the check is not written.
//
// Proves SHOUT-06.
func TestSedInPlaceOfWhatChanged(t *testing.T) {
	b := newEditor(t, nil)
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("foo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(b.root, "a.txt")
	for name, change := range map[string]func() error{
		"binary":  func() error { return os.WriteFile(path, []byte("foo\x00"), 0o644) },
		"a link":  func() error { os.Remove(path); return os.Symlink(outside, path) }, // ok: creating the link fails if it exists
		"gone":    func() error { return os.Remove(path) },
		"a queue": func() error { os.Remove(path); return exec.Command("mkfifo", path).Run() }, // ok: as above
	} {
		os.Remove(path) // ok: may be missing
		b.write(t, "a.txt", "foo\n")
		c := b.bind(t, "sed -i s/foo/bar/ a.txt")
		if c.Command().Edits() == nil {
			t.Fatal("not an edit")
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		res, err := c.Run(context.Background(), func(tool.Progress) {})
		if err != nil || !res.IsError {
			t.Errorf("%s: %q, %v", name, msg.PlainText(res.Parts), err)
		}
		if data, err := os.ReadFile(outside); err != nil || string(data) != "foo\n" {
			t.Fatalf("%s: the outside file is %q, %v", name, data, err)
		}
	}
	// A change that sed would accept is accepted.
	os.Remove(path) // ok: writing fails if it still exists
	b.write(t, "a.txt", "foo\n")
	c := b.bind(t, "sed -i s/foo/bar/ a.txt")
	c.Command().Edits()
	b.write(t, "a.txt", "more foo\n")
	if res, err := c.Run(t.Context(), func(tool.Progress) {}); err != nil || res.IsError || b.read(t, "a.txt") != "more bar\n" {
		t.Errorf("%q, %v: %q", msg.PlainText(res.Parts), err, b.read(t, "a.txt"))
	}
}

// TestSedInPlaceAndFileState checks that the recorded state of a file is either current or
// missing.
//
// Proves SHOUT-06.
func TestSedInPlaceAndFileState(t *testing.T) {
	var state *filestate.Store
	b := newEditor(t, func(c *Config) { state = c.Files.State })
	b.write(t, "a.txt", "foo\nx\nfoo\n")
	path := filepath.Join(b.root, "a.txt")
	b.run(t, "sed -i s/foo/bar/ a.txt")
	if _, known := state.Get(path); known {
		t.Error("an unread file counts as read")
	}
	record := func(e filestate.Entry) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		e.Path, e.Stamp, e.Origin = path, filestate.StampOf(info), filestate.Read
		state.Record(e)
	}
	record(filestate.Entry{Complete: true})
	b.run(t, "sed -i s/bar/baz/ a.txt")
	if e, known := state.Get(path); !known || !e.Complete || string(e.Content) != "baz\nx\nbaz\n" {
		t.Errorf("%v %+v", known, e)
	}
	record(filestate.Entry{Seen: []filestate.Span{{First: 1, Last: 2}}, Total: 3})
	b.run(t, "sed -i s/baz/bat/ a.txt")
	if e, known := state.Get(path); !known || e.Complete || len(e.Seen) != 1 || e.Total != 3 {
		t.Errorf("%v %+v", known, e)
	}
	record(filestate.Entry{Seen: []filestate.Span{{First: 1, Last: 2}}, Total: 3})
	b.run(t, "sed -i -e 1d -e '$a end' a.txt")
	if e, known := state.Get(path); known || b.read(t, "a.txt") != "x\nbat\nend\n" {
		t.Errorf("a moved file counts as read: %+v", e)
	}
	record(filestate.Entry{Complete: true})
	b.write(t, "a.txt", "changed by others foo\n")
	b.run(t, "sed -i s/foo/bar/ a.txt")
	if _, known := state.Get(path); known {
		t.Error("a file changed by others counts as read")
	}
}
