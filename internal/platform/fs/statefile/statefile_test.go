package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"adze/internal/platform/fs/replace"
)

// in returns a file in a new directory with separate locks, as another process would have.
func in(dir string) File {
	return File{Path: filepath.Join(dir, "state", "x.json"), Max: 100, Locks: replace.New(filepath.Join(dir, "locks")), Doing: "saving x"}
}

// set returns an edit that writes a text.
func set(text string) Edit {
	return func(*replace.Version) ([]byte, error) { return []byte(text), nil }
}

func TestChange(t *testing.T) {
	f := in(t.TempDir())
	err := f.Change(t.Context(), func(old *replace.Version) ([]byte, error) {
		if old != nil {
			t.Error("there is a file")
		}
		return nil, nil
	})
	if _, missing := os.Stat(f.Path); err != nil || !errors.Is(missing, os.ErrNotExist) {
		t.Errorf("a file that stays as it is: %v, %v", err, missing)
	}
	if err := f.Change(t.Context(), set("one")); err != nil {
		t.Fatal(err)
	}
	err = f.Change(t.Context(), func(old *replace.Version) ([]byte, error) { return append([]byte("more than "), old.Data...), nil })
	if data, _ := os.ReadFile(f.Path); err != nil || string(data) != "more than one" {
		t.Errorf("%q, %v", data, err)
	}
	if info, err := os.Stat(f.Path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestChangeIsRefused checks that a failing edit does not modify the file and that its error is
// returned unchanged.
func TestChangeIsRefused(t *testing.T) {
	f := in(t.TempDir())
	if err := f.Change(t.Context(), set("kept")); err != nil {
		t.Fatal(err)
	}
	refusal := errors.New("no")
	err := f.Change(t.Context(), func(*replace.Version) ([]byte, error) { return []byte("lost"), refusal })
	if data, _ := os.ReadFile(f.Path); err != refusal || string(data) != "kept" {
		t.Errorf("%q, %v", data, err)
	}
}

// TestChangeOfSomethingElse checks that something other than a regular file, or a file that is
// too large, is not modified, and that the error mentions the operation.
func TestChangeOfSomethingElse(t *testing.T) {
	for name, prepare := range map[string]func(path string) error{
		"large":  func(path string) error { return os.WriteFile(path, make([]byte, 101), 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"link": func(path string) error {
			if err := os.WriteFile(path+".real", []byte("real"), 0o600); err != nil {
				return err
			}
			return os.Symlink(path+".real", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := in(t.TempDir())
			if err := os.Mkdir(filepath.Dir(f.Path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := prepare(f.Path); err != nil {
				t.Skip(err)
			}
			before, _ := os.Lstat(f.Path)
			err := f.Change(t.Context(), set("new"))
			after, _ := os.Lstat(f.Path)
			if err == nil || !strings.HasPrefix(err.Error(), "saving x: ") || before.Mode() != after.Mode() || before.Size() != after.Size() {
				t.Errorf("%v, %v", err, after)
			}
		})
	}
}

// TestChangeByMany checks that concurrent changes are not lost.
func TestChangeByMany(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			f := in(dir)
			for range 5 {
				err := f.Change(t.Context(), func(old *replace.Version) ([]byte, error) {
					n := 0
					if old != nil {
						n, _ = strconv.Atoi(string(old.Data))
					}
					return []byte(strconv.Itoa(n + 1)), nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if data, _ := os.ReadFile(in(dir).Path); string(data) != "40" {
		t.Errorf("%s of 40 changes", data)
	}
}
