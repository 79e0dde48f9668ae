package memdir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// folder creates a folder of files, newest first.
func folder(t *testing.T, files ...string) Folder {
	t.Helper()
	f := Folder{filepath.Join(t.TempDir(), "memory")}
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for i := 0; i < len(files); i += 2 {
		path := f.Path(files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
		at = at.Add(-time.Hour)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func matter(name, description, kind string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\ntype: %s\n---\n\nThe text.\n", name, description, kind)
}

// TestDescribeReadsTheHead checks that a memory's description comes from its first 30 lines.
//
// Proves MEM-30.
func TestDescribeReadsTheHead(t *testing.T) {
	at := func(line int) string { return strings.Repeat("\n", line-1) + "The text.\n" }
	all, err := folder(t, "near.md", at(30), "far.md", at(31)).List()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if near := m.Name == "near.md"; near != (m.Description == "The text.") {
			t.Errorf("%s is about %q", m.Name, m.Description)
		}
	}
}

// Proves MEM-20, MEM-22.
func TestDescribe(t *testing.T) {
	tests := []struct {
		name, text string
		want       Memory
	}{
		{"whole", matter("Role", "is a data scientist", "user"), Memory{Title: "Role", Description: "is a data scientist", Type: User}},
		{"feedback", matter("a", "b", "feedback"), Memory{Title: "a", Description: "b", Type: Feedback}},
		{"project", matter("a", "b", "Project"), Memory{Title: "a", Description: "b", Type: Project}},
		{"reference", matter("a", "b", "reference"), Memory{Title: "a", Description: "b", Type: Reference}},
		{"nested type", "---\nname: a\ndescription: b\nmetadata:\n  type: user\n---\n", Memory{Title: "a", Description: "b", Type: User}},
		{"line ends of Windows", "\ufeff---\r\nname: a\r\ndescription: b\r\ntype: user\r\n---\r\nx", Memory{Title: "a", Description: "b", Type: User}},

		{"no front matter", "\n## Deploys\n\non Fridays never", Memory{Title: "file", Description: "Deploys",
			Problems: []string{"has no type (want user, feedback, project or reference)"}}},
		{"another type", matter("a", "b", "idea"), Memory{Title: "a", Description: "b",
			Problems: []string{`has an unknown type "idea" (want user, feedback, project or reference)`}}},
		{"malformed", "---\nname: \"a\ndescription: b\ntype: user\n---\nText.", Memory{Title: "file", Description: "b", Type: User,
			Problems: []string{"line 1 of the front matter has a value that is not closed"}}},
		{"not closed", "---\nname: a\ntype: user\n\n# Heading\n", Memory{Title: "file", Description: "name: a",
			Problems: []string{"the front matter is not closed by a line of three dashes; it is read as text",
				"has no type (want user, feedback, project or reference)"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all, err := folder(t, "file.md", tt.text).List()
			if err != nil || len(all) != 1 {
				t.Fatal(all, err)
			}
			tt.want.Name = "file.md"
			if diff := cmp.Diff(tt.want, all[0], cmpopts.IgnoreFields(Memory{}, "Modified", "Size")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestList(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.md")
	if err := os.WriteFile(outside, []byte("# Not ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := folder(t,
		"new.md", matter("new", "n", "user"),
		"deep/er/old.md", matter("old", "o", "user"),
		"MEMORY.md", "- [x](x.md)",
		"team/MEMORY.md", "- [x](x.md)",
		"team/t.md", matter("t", "t", "project"),
		"logs/2026/11/2026-11-15.md", "- 10:00 x",
		".hidden.md", "x", ".git/x.md", "x", "picture.png", "x",
		"forgotten.md", "",
		"binary.md", "a\x00b", "latin.md", "caf\xe9\n",
		"huge.md", "---\nname: huge\ndescription: h\ntype: user\n---\n"+strings.Repeat("x", 10<<20),
	)
	for name, target := range map[string]string{"out.md": outside, "gone.md": "nowhere.md", "self.md": "self.md", "loop": ".", "in.md": "new.md"} {
		if err := os.Symlink(target, f.Path(name)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	var order []string
	for _, m := range all {
		got[m.Name] = m.Broken
		if !m.Broken {
			order = append(order, m.Name)
		}
	}
	want := map[string]bool{
		"new.md": false, "in.md": false, "deep/er/old.md": false, "team/t.md": false, "huge.md": false,
		"binary.md": true, "latin.md": true, "out.md": true, "gone.md": true, "self.md": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"in.md", "new.md", "deep/er/old.md", "team/t.md", "huge.md"}, order); diff != "" {
		t.Error(diff)
	}
	if all, err := (Folder{filepath.Join(t.TempDir(), "none")}).List(); all != nil || err != nil {
		t.Error(all, err)
	}
	if _, err := (Folder{outside}).List(); err == nil {
		t.Error("a file is a folder")
	}
}

func TestFind(t *testing.T) {
	f := folder(t, "a.md", matter("Release day", "x", "project"), "b.md", matter("Twice", "x", "user"), "team/b.md", matter("Twice", "x", "user"))
	for name, want := range map[string]string{"a": "a.md", "a.md": "a.md", "release day": "a.md", "team/b": "team/b.md"} {
		if m, err := f.Find(name); m.Name != want || err != nil {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	for name, want := range map[string]string{"twice": "several memories", "c": "no memory c", "../a.md": "no memory"} {
		if _, err := f.Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRemove(t *testing.T) {
	f := folder(t, "a.md", "x", "b.md", "y", IndexName, "# Mine\n- [A](a.md) — x\n- [B](b.md) — y\n- [A](./a.md)\n")
	if err := f.Remove("a.md"); err != nil {
		t.Fatal(err)
	}
	if index, err := f.Index(); index != "# Mine\n- [B](b.md) — y\n" || err != nil {
		t.Errorf("%q, %v", index, err)
	}
	if _, err := os.Lstat(f.Path("a.md")); err == nil {
		t.Error("it is still there")
	}
	for _, name := range []string{"a.md", "../x.md"} {
		if f.Remove(name) == nil {
			t.Errorf("%s was removed", name)
		}
	}
}

// Proves MEM-02.
func TestLocate(t *testing.T) {
	home := t.TempDir()
	for _, d := range []string{"own", "deep/er"} {
		if err := os.MkdirAll(filepath.Join(home, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"root": "/", "me": ".", "above": ".."} {
		if err := os.Symlink(target, filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"/srv/memory": "/srv/memory", "~/notes": home + "/notes", "~/own": home + "/own", home + "/x/../y/": home + "/y", "~/.hidden": home + "/.hidden",
	} {
		f, refused := Locate(home, "/default", RequestedDir{path, "test"})
		if f.Dir != want || refused != nil {
			t.Errorf("%s: %s, %v", path, f.Dir, refused)
		}
	}
	for _, path := range []string{
		"notes", "./notes", "../notes", "/", "//", "/.", "~", "~/", "~/.", "~/..", "~/../..", "~/x/..", "~other/x", home, home + "/", filepath.Dir(home), "/a", "ab",
		`C:\`, `C:`, `\\server\share\x`, "//server/share", "/srv/\x00x", home + "/root", home + "/me", home + "/above",
	} {
		f, refused := Locate(home, "/default", RequestedDir{path, "the test"})
		if f.Dir != "/default" || len(refused) != 1 || !strings.Contains(refused[0].Error(), "the test wants") {
			t.Errorf("%q: %s, %v", path, f.Dir, refused)
		}
	}
	f, refused := Locate(home, "/default", RequestedDir{"", "nobody"}, RequestedDir{"bad", "one"}, RequestedDir{"/srv/two", "two"}, RequestedDir{"/srv/three", "three"})
	if f.Dir != "/srv/two" || len(refused) != 1 {
		t.Error(f, refused)
	}
}

// Proves MEM-01.
func TestUsable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		dir: true, dir + "/a/b/c": true, file: false, file + "/x": false, file + "/x/y": false,
	} {
		if err := (Folder{path}).Usable(); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := os.Lstat(dir + "/a"); err == nil {
		t.Error("looking has created something")
	}
	if os.Geteuid() != 0 {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		if (Folder{dir + "/a"}).Usable() == nil || (Folder{dir}).Writable() {
			t.Error("a folder that nobody can write to is usable")
		}
	}
}

func TestHolds(t *testing.T) {
	f := folder(t, "a.md", "x")
	outside := t.TempDir()
	if err := os.Symlink(outside, f.Path("link")); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "way")
	if err := os.Symlink(f.Dir, other); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		f.Path("a.md"): true, f.Path("new/b.md"): true, f.Dir: true, filepath.Join(other, "b.md"): true,
		f.Path("link/x.md"): false, f.Dir + "2/x.md": false, f.Path("../x.md"): false, outside: false,
	} {
		if f.Holds(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}
