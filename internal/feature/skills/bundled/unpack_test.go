package bundled

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"adze/internal/domain/skill"
)

// withFiles returns the skill that has files.
func withFiles(t *testing.T, b *Bundle) *skill.Skill {
	t.Helper()
	for _, s := range b.Skills() {
		if s.Dir != "" {
			return s
		}
	}
	t.Fatal("no skill has files")
	return nil
}

// TestUnpackOnce checks that files are unpacked on first use, only once, readable only by the
// user, and removed at the end.
//
// Proves SKILL-06.
func TestUnpackOnce(t *testing.T) {
	temp := t.TempDir()
	b := New(temp)
	s := withFiles(t, b)
	if found, _ := os.ReadDir(temp); len(found) != 0 {
		t.Fatal("something was unpacked before it was needed")
	}
	var written sync.Map
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := s.Text(t.Context()); err != nil {
				t.Error(err)
			}
			info, err := os.Stat(filepath.Join(s.Dir, "checks.md"))
			if err != nil {
				t.Error(err)
				return
			}
			written.Store(info.ModTime(), true)
		})
	}
	all.Wait()
	times := 0
	written.Range(func(any, any) bool { times++; return true })
	if found, _ := os.ReadDir(temp); len(found) != 1 || times != 1 {
		t.Errorf("unpacked %d times into %d directories", times, len(found))
	}
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = fs.ModeDir | 0o700
		}
		if err == nil && info.Mode() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}

	os.RemoveAll(b.dir) // like a temporary file cleaner
	if _, err := s.Text(t.Context()); err != nil {
		t.Error(err)
	}
	b.Close()
	if found, _ := os.ReadDir(temp); len(found) != 0 {
		t.Errorf("%v is left", found)
	}
	if _, err := s.Text(t.Context()); err == nil {
		t.Error("unpacked after the end")
	}
	if found, _ := os.ReadDir(temp); len(found) != 0 {
		t.Errorf("%v was made after the end", found)
	}
}

// TestUnpackPlanted checks that nothing is written through a file, directory or symlink planted
// by another process.
//
// Proves SKILL-06.
func TestUnpackPlanted(t *testing.T) {
	for _, planted := range []string{"link", "directory", "file"} {
		t.Run(planted, func(t *testing.T) {
			temp, other := t.TempDir(), t.TempDir()
			b := New(temp)
			s := withFiles(t, b)
			var err error
			switch planted {
			case "link":
				err = os.Symlink(other, b.dir)
			case "directory":
				err = os.Mkdir(b.dir, 0o777)
			case "file":
				err = os.WriteFile(b.dir, nil, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Text(t.Context()); err == nil || !strings.Contains(err.Error(), "unpacking the files of skills") {
				t.Errorf("error %v", err)
			}
			b.Close()
			if _, err := os.Lstat(b.dir); err != nil {
				t.Error("removed a file it had not created")
			}
			if found, _ := os.ReadDir(other); len(found) != 0 {
				t.Errorf("wrote %v through a link", found)
			}
		})
	}
	// The same inside the directory.
	for _, name := range []string{"security-review", "security-review/checks.md"} {
		dir, other := t.TempDir(), t.TempDir()
		target := filepath.Join(other, "target")
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := writeAll(root); err == nil {
			t.Errorf("%s: a link was followed", name)
		}
		root.Close()
		if found, _ := os.ReadDir(other); len(found) != 0 {
			t.Errorf("%s: wrote %v through a link", name, found)
		}
	}
}

// TestPlain checks that a directory whose name contains rule syntax gets no rule.
func TestPlain(t *testing.T) {
	for path, want := range map[string]bool{
		"/tmp/adze-skills-A1/x": true, "/private/var/folders/a_b/c+d/T.1": true,
		"/tmp/a*b": false, "/tmp/[x]": false, "/tmp/a b": false, "/tmp/a)b": false, `C:\Temp`: false, "/tmp/ä": false, "": false, "tmp": false,
	} {
		if got := plain(path); got != want {
			t.Errorf("plain(%q) = %v", path, got)
		}
	}
}
