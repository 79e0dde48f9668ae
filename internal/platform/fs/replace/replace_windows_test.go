package replace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"adze/internal/platform/fs/fsys"
)

// replaceOne replaces the content of the file f in dir.
func replaceOne(t *testing.T, r *Replacer, dir, content string) (Outcome, error) {
	t.Helper()
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	f, err := r.Lock(t.Context(), folder, "f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Unlock()
	old, err := f.Read(64 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	return f.Replace(old, [][]byte{[]byte(content)})
}

// TestReplaceOnWindows checks that a file is replaced and never rewritten in place, that nothing
// is left behind, and that its access control list is kept.
//
// Proves EDIT-10.
func TestReplaceOnWindows(t *testing.T) {
	dir, r := t.TempDir(), New(filepath.Join(t.TempDir(), "locks"))
	path := filepath.Join(dir, "f")
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	before := access(t, path)
	for _, content := range []string{"one", "two", strings.Repeat("three", 1<<20), ""} {
		out, err := replaceOne(t, r, dir, content)
		if err != nil || out.InPlace != nil || out.Info == nil {
			t.Fatalf("%+v, %v", out, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("%d bytes, %v, want %d", len(got), err, len(content))
		}
	}
	if after := access(t, path); after != before {
		t.Errorf("the access control list was %s, and is %s", before, after)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}

func access(t *testing.T, path string) string {
	t.Helper()
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		t.Fatal(err)
	}
	entries := strings.Split(sd.String(), "(")
	slices.Sort(entries[1:])
	return strings.Join(entries, "(")
}

// TestReplaceReadOnly checks that a file with the read-only attribute is not changed.
func TestReplaceReadOnly(t *testing.T) {
	dir, r := t.TempDir(), New(filepath.Join(t.TempDir(), "locks"))
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := replaceOne(t, r, dir, "new"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("replaced: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("%q, %v", got, err)
	}
	os.Chmod(path, 0o644) // ok: for the clean-up
}

// TestCreateOnWindows checks that a new file does not overwrite one that exists.
func TestCreateOnWindows(t *testing.T) {
	dir, r := t.TempDir(), New(filepath.Join(t.TempDir(), "locks"))
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for _, want := range []error{nil, ErrExists} {
		f, err := r.Lock(t.Context(), folder, "f")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Create([][]byte{[]byte("new")}, 0o644); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		f.Unlock()
	}
}
