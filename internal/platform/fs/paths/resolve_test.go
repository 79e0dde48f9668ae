//go:build unix

package paths

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const (
	composed   = "caf\u00e9.txt"
	decomposed = "cafe\u0301.txt"
)

// tree creates files in a new directory and returns it. A name ending in a slash is a
// directory; a name with an arrow is a symlink.
func tree(t testing.TB, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		link, target, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(root, link)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case isLink:
			err = os.Symlink(strings.ReplaceAll(target, "$", root), path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = os.WriteFile(path, []byte(name), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// under makes paths relative to root.
func under(root string, all []string) []string {
	var short []string
	for _, path := range all {
		short = append(short, Relative(root, path))
	}
	return short
}

// Proves FPRM-01, FPRM-02, FPRM-03.
func TestResolve(t *testing.T) {
	root := tree(t,
		"file", "a -> b", "b -> c", "c", // a chain
		"data -> secret", "secret/deep/", "secret/sub/file", // a linked directory
		"up -> secret/../file", "abs -> $/secret/sub", "dangling -> nowhere/x",
		"in/here -> ../secret/deep", "secret/deep/back -> ../sub/file",
		"loop -> loop2", "loop2 -> loop",
	)
	tests := []struct {
		path string
		all  []string // the last element is Real
		is   string   // file, dir or nothing
	}{
		{"file", []string{"file"}, "file"},
		{"secret", []string{"secret"}, "dir"},
		{"a", []string{"a", "b", "c"}, "file"},
		{"data/x", []string{"data/x", "secret/x"}, "nothing"},
		{"data/new/x", []string{"data/new/x", "secret/new/x"}, "nothing"},
		{"data/sub/file", []string{"data/sub/file", "secret/sub/file"}, "file"},
		{"up", []string{"up", "file"}, "file"},
		{"abs/file", []string{"abs/file", "secret/sub/file"}, "file"},
		{"dangling", []string{"dangling", "nowhere/x"}, "nothing"},
		{"in/here/back", []string{"in/here/back", "secret/deep/back", "secret/sub/file"}, "file"},
		{"in/here/../x", []string{"in/x"}, "nothing"}, // cleaned before symlinks are resolved
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			s, err := Base{Dir: root}.Resolve(tt.path)
			if err != nil || s.ResolveErr != nil {
				t.Fatal(err, s.ResolveErr)
			}
			if diff := cmp.Diff(tt.all, under(root, s.All)); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
			if got := Relative(root, s.Real); got != tt.all[len(tt.all)-1] || s.Path != s.All[0] {
				t.Errorf("path %s, real %s", s.Path, s.Real)
			}
			is := "nothing"
			if s.Info != nil {
				is = map[bool]string{true: "dir", false: "file"}[s.Info.IsDir()]
			}
			if is != tt.is {
				t.Errorf("it is %s, want %s", is, tt.is)
			}
		})
	}
}

// Proves FPRM-01, FPRM-03.
func TestResolveDoubts(t *testing.T) {
	names := []string{"loop -> loop2", "loop2 -> loop", "self -> self/x", "end", "l0 -> end"}
	for i := range 41 {
		names = append(names, fmt.Sprintf("l%d -> l%d", i+1, i))
	}
	root := tree(t, names...)
	resolve := func(path string) ResolvedPath {
		t.Helper()
		s, err := Base{Dir: root}.Resolve(path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, path := range []string{"loop", "self", "self/y", "l40"} { // l40 is a chain of 41
		s := resolve(path)
		if s.ResolveErr == nil || !strings.Contains(s.ResolveErr.Error(), "chain of links") {
			t.Errorf("%s: doubt %v", path, s.ResolveErr)
		}
		if _, err := s.Open(); err == nil {
			t.Errorf("%s was opened", path)
		}
		if _, err := s.MakeParent(0o755); err == nil {
			t.Errorf("the directory of %s was opened", path)
		}
	}
	if s := resolve("l39"); s.ResolveErr != nil || len(s.All) != 41 || filepath.Base(s.Real) != "end" {
		t.Errorf("a chain of 40: doubt %v, %d members", s.ResolveErr, len(s.All))
	}
}

// Proves FPRM-02.
func TestResolveNamesWhatIsNoDirectory(t *testing.T) {
	root := tree(t, "file", "link -> file")
	for _, path := range []string{"file/x", "file/x/y", "link/x"} {
		_, err := Base{Dir: root}.Resolve(path)
		if err == nil || !strings.Contains(err.Error(), filepath.Join(root, "file")+" is not a directory") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := (Base{Dir: root}).Resolve(strings.Repeat("x", 5000)); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("5,000 characters: %v", err)
	}
}

// Proves PATH-05.
func TestResolveForms(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		typed string
		real  string
	}{
		{"decomposed on disk, composed asked", []string{decomposed}, composed, decomposed},
		{"decomposed on disk and asked", []string{decomposed}, decomposed, decomposed},
		{"composed on disk, decomposed asked", []string{composed}, decomposed, composed},
		{"both on disk", []string{composed, decomposed}, decomposed, composed},
		{"none on disk", nil, decomposed, composed},
		{"a directory", []string{"e\u0301/x"}, "\u00e9/x", "e\u0301/x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, tt.files...)
			s, err := Base{Dir: root}.Resolve(tt.typed)
			if err != nil {
				t.Fatal(err)
			}
			if got := Relative(root, s.Real); got != tt.real {
				t.Errorf("real %+q, want %+q", got, tt.real)
			}
			spelled, err := Base{Dir: root}.Spelled(tt.typed)
			if got := Relative(root, spelled); err != nil || got != tt.real {
				t.Errorf("spelled %+q, %v, want %+q", got, err, tt.real)
			}
			want, _ := Base{Dir: root}.Expand(tt.typed)
			if s.Path != want || strings.Contains(s.Path, "\u0301") {
				t.Errorf("path %+q is not the composed form", s.Path)
			}
			for _, form := range []string{filepath.Join(root, tt.typed), s.Path, s.Real} {
				if !slices.Contains(s.All, form) {
					t.Errorf("%+q is not judged: %+q", form, s.All)
				}
			}
			if tt.files != nil {
				f, err := s.Open()
				if err != nil {
					t.Fatal(err)
				}
				f.Close()
			}
		})
	}
	root := tree(t, composed, decomposed, "link -> "+decomposed)
	if s, _ := (Base{Dir: root}).Resolve("link"); Relative(root, s.Real) != decomposed {
		t.Errorf("a link means %+q", s.Real)
	}
}

// Proves PATH-06.
func TestResolveDoesNotTouchShares(t *testing.T) {
	root := tree(t, "dir/file", "link -> dir")
	for _, path := range []string{"/" + root + "/link/file", `\\host\share\x`, "//host/share/x"} {
		s, err := Base{Dir: "/"}.Resolve(path)
		if err != nil {
			t.Fatal(err)
		}
		// The first of these exists: if it had been accessed, the symlink would have been
		// followed.
		if diff := cmp.Diff([]string{path}, s.All); diff != "" || !s.Remote || s.Info != nil {
			t.Errorf("%s: remote %v, found %v, set %s", path, s.Remote, s.Info, diff)
		}
	}
	s, _ := Base{Dir: "/"}.Resolve("/" + root + "/link/file")
	s, err := s.Follow()
	if err != nil || s.Real != filepath.Join(root, "dir/file") {
		t.Errorf("with consent: %s, %v", s.Real, err)
	}
}

// Proves FPRM-07.
func TestOpenAfterASwap(t *testing.T) {
	ways := map[string]func(string, int) (*os.File, error){"as on this system": noLinks, "one by one": oneByOne}
	for name, open := range ways {
		t.Run(name, func(t *testing.T) {
			root := tree(t, "dir/file", "evil/file")
			path := filepath.Join(root, "dir/file")
			f, err := open(path, os.O_RDONLY)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			swap(t, root)
			if f, err := open(path, os.O_RDONLY); !errors.Is(err, ErrMoved) {
				t.Errorf("opened through a link: %v, %v", f, err)
			}
			if f, err := open(filepath.Join(root, "dir"), os.O_RDONLY|syscall.O_DIRECTORY); !errors.Is(err, ErrMoved) {
				t.Errorf("opened a link as a directory: %v, %v", f, err)
			}
		})
	}

	root := tree(t, "dir/file", "evil/file")
	resolve := func(path string) ResolvedPath {
		s, err := Base{Dir: root}.Resolve(path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	file, fresh, deep := resolve("dir/file"), resolve("dir/new"), resolve("dir/a/b/new")
	swap(t, root)
	if _, err := file.Open(); !errors.Is(err, ErrMoved) || !strings.Contains(err.Error(), "try again") {
		t.Errorf("Open: %v", err)
	}
	if _, err := fresh.Parent(); !errors.Is(err, ErrMoved) {
		t.Errorf("Parent: %v", err)
	}
	if _, err := deep.MakeParent(0o755); !errors.Is(err, ErrMoved) {
		t.Errorf("MakeParent: %v", err)
	}
	if entries, _ := os.ReadDir(filepath.Join(root, "evil")); len(entries) != 1 {
		t.Errorf("something was made behind the link: %v", entries)
	}
}

// swap replaces dir with a symlink to evil.
func swap(t *testing.T, root string) {
	t.Helper()
	if err := os.Rename(filepath.Join(root, "dir"), filepath.Join(root, "gone")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("evil", filepath.Join(root, "dir")); err != nil {
		t.Fatal(err)
	}
}

func TestMakeParent(t *testing.T) {
	root := tree(t, "dir/", "file", "link -> dir")
	s, err := Base{Dir: root}.Resolve("link/a/b/new")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it exists
		dir, err := s.MakeParent(0o750)
		if err != nil {
			t.Fatal(err)
		}
		dir.Close()
	}
	if info, err := os.Stat(filepath.Join(root, "dir/a/b")); err != nil || info.Mode().Perm()&0o700 != 0o700 || info.Mode().Perm()&0o007 != 0 {
		t.Errorf("%v, %v", info, err)
	}
	late, err := Base{Dir: root}.Resolve("soon/x")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(root, "file"), filepath.Join(root, "soon")); err != nil {
		t.Fatal(err)
	}
	if dir, err := late.MakeParent(0o755); err == nil {
		t.Errorf("a file became the directory %v", dir)
	}
}

func TestOpenRefusesSpecialFiles(t *testing.T) {
	root := tree(t, "file", "zero -> /dev/zero", "env -> /proc/self/environ", "null -> /dev/null")
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		"file": nil, "null": nil, "zero": ErrSpecial, "fifo": ErrSpecial, "env": ErrSpecial, "none": fs.ErrNotExist,
	} {
		s, err := Base{Dir: root}.Resolve(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Open()
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if err == nil {
			f.Close()
		}
	}
	late, err := Base{Dir: root}.Resolve("file")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(root, "fifo"), filepath.Join(root, "file")); err != nil {
		t.Fatal(err)
	}
	if _, err := late.Open(); !errors.Is(err, ErrSpecial) { // must not block without a writer
		t.Errorf("a file that became a FIFO: %v", err)
	}
}

// TestResolveAgreesWithTheKernel checks that resolved files are the ones the kernel opens.
func TestResolveAgreesWithTheKernel(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	rapid.Check(t, func(rt *rapid.T) {
		root := tree(t)
		for range rapid.IntRange(1, 10).Draw(rt, "entries") {
			at := filepath.Join(root, filepath.Join(rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(rt, "at")...))
			switch rapid.IntRange(0, 2).Draw(rt, "kind") {
			case 0:
				os.MkdirAll(at, 0o755) // ok: something may be in the way
			case 1:
				os.WriteFile(at, []byte(at), 0o644) // ok: the directory may be missing
			default:
				target := filepath.Join(rapid.SliceOfN(rapid.SampledFrom(append(names, "..", ".")), 1, 4).Draw(rt, "target")...)
				if rapid.Bool().Draw(rt, "absolute") {
					target = filepath.Join(root, target)
				}
				os.Symlink(target, at) // ok: it may exist
			}
		}
		path := filepath.Join(root, filepath.Join(rapid.SliceOfN(rapid.SampledFrom(names), 1, 4).Draw(rt, "path")...))
		s, err := Base{Dir: root}.Resolve(path)
		info, kernel := os.Stat(path)
		found := err == nil && s.ResolveErr == nil && s.Info != nil
		if found != (kernel == nil) {
			rt.Fatalf("%s: found %v (%v, %v), the kernel says %v", path, found, err, s.ResolveErr, kernel)
		}
		if found && !os.SameFile(info, s.Info) {
			rt.Fatalf("%s: resolved to another file, %s", path, s.Real)
		}
	})
}
