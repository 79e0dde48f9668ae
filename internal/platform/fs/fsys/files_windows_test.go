package fsys

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// access returns the access control list of a file in the notation of the system.
func access(t *testing.T, path string) string {
	t.Helper()
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		t.Fatal(err)
	}
	return sd.String()
}

// TestPrivate checks that files and directories of the user give nobody else access, whatever
// their directory does.
func TestPrivate(t *testing.T) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	private := filepath.Join(root, "a", "b")
	if err := MkdirPrivate(private); err != nil {
		t.Fatal(err)
	}
	if err := MkdirPrivate(private); err != nil {
		t.Errorf("once more: %v", err)
	}
	secret, open := filepath.Join(root, "secret"), filepath.Join(root, "open")
	for path, mode := range map[string]os.FileMode{secret: 0o600, open: 0o644} {
		for _, text := range []string{"one", "two"} { // the second replaces the first
			if err := WriteAtomic(path, []byte(text), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	const everyone = ";;;WD)"
	if got := access(t, open); !strings.Contains(got, everyone) {
		t.Skipf("on this file system, others have no access anyway: %s", got)
	}
	for _, path := range []string{secret, private, filepath.Dir(private)} {
		got := access(t, path)
		if strings.Contains(got, everyone) || !strings.Contains(got, user.User.Sid.String()) && !strings.Contains(got, "FA;;;") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestOpenFileShares checks that a file can be renamed and removed while it is open.
func TestOpenFileShares(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Rename(path, path+".old"); err != nil {
		t.Error(err)
	}
	if err := os.Remove(path + ".old"); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(f); err != nil || string(got) != "content" {
		t.Errorf("read %q, %v", got, err)
	}
}

// TestOpenFile checks the flags of OpenFile against those of [os.OpenFile].
func TestOpenFile(t *testing.T) {
	for _, flag := range []int{
		os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_TRUNC,
		os.O_RDWR | os.O_CREATE | os.O_APPEND, os.O_WRONLY | os.O_CREATE | os.O_EXCL,
	} {
		for _, exists := range []bool{false, true} {
			var results []string
			for _, open := range []func(string, int, os.FileMode) (*os.File, error){OpenFile, os.OpenFile} {
				path := filepath.Join(t.TempDir(), "f")
				if exists {
					if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				f, err := open(path, flag, 0o644)
				result := strings.ReplaceAll("opened "+errorText(err), path, "f")
				if err == nil {
					_, err := f.WriteString("XY")
					result += ", written " + errorText(err)
					f.Close()
				}
				data, _ := os.ReadFile(path) // ok: it may not exist
				results = append(results, result+": "+string(data))
			}
			if errors := strings.Count(results[0], "<nil>") != strings.Count(results[1], "<nil>"); errors || after(results[0]) != after(results[1]) {
				t.Errorf("flags %#x, exists %v: %q, with os.OpenFile %q", flag, exists, results[0], results[1])
			}
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return "<nil>"
	}
	return "failed"
}

// after returns the part after the last colon.
func after(s string) string { return s[strings.LastIndex(s, ":"):] }

// TestTruncateWhileAppending checks that a file open for appending can be cut, which the log of a
// killed session needs.
func TestTruncateWhileAppending(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteString("whole\ntorn")
	if err := Truncate(f, 6); err != nil {
		t.Fatal(err)
	}
	f.WriteString("next\n")
	if got, err := os.ReadFile(path); err != nil || string(got) != "whole\nnext\n" {
		t.Errorf("%q, %v", got, err)
	}
}
