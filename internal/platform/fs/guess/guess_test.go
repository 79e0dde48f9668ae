package guess

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree creates files and returns their directory.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func rel(root string, paths []string) []string {
	for i, path := range paths {
		paths[i], _ = filepath.Rel(root, path)
	}
	return paths
}

// TestGuess includes the wrong paths from the model-side review, section 3.1.
//
// Proves READ-07.
func TestGuess(t *testing.T) {
	root := tree(t, "src/a.tsx", "src/b.go", "lib/c.go", "main.go", "src/pkg/handler.go", "src/pkg/handlers_test.go", "docs/index.md", "docs/indexes.md", "x1", "x2")
	named := func(name string) []string {
		if name == "handler.go" {
			return []string{filepath.Join(root, "src/pkg/handler.go")}
		}
		return nil
	}
	for path, want := range map[string]string{
		"src/a.ts": "src/a.tsx", "repo/lib/c.go": "lib/c.go", "src/none": "", "": "",
		"mian.go": "main.go", "Main.go": "main.go", "handler.go": "src/pkg/handler.go", "src/pkg/hander.go": "src/pkg/handler.go",
		"scr/pkg/handler.go": "src/pkg/handler.go", "SRC/PKG/handler.go": "src/pkg/handler.go", "Docs/index.md": "docs/index.md", "main.go/x": "",
		"docs/indexs.md": "docs/index.md or docs/indexes.md", "x3": "x1 or x2", "z.go": "", "nothing/at/all.go": "", strings.Repeat("m/", 300) + "x": "",
	} {
		if want != "" {
			want = " Did you mean " + want + "?"
		}
		if got := (Guesser{Dir: root, Named: named}).Question(filepath.Join(root, path)); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	dirs := Guesser{Dir: root, Dirs: true}
	for path, want := range map[string]string{"scr": " Did you mean src?", "src/pgk": " Did you mean src/pkg?", "repo/src/pkg": " Did you mean src/pkg?"} {
		if got := dirs.Question(filepath.Join(root, path)); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// Proves READ-07.
func TestGuessNamesNothingHidden(t *testing.T) {
	root := tree(t, "src/a.tsx", "src/a.txt", "lib/c.go", "repo/lib/other")
	hidden := func(path string) bool {
		rel, _ := filepath.Rel(root, path)
		return rel == "src/a.tsx" || rel == "lib/c.go"
	}
	for path, want := range map[string][]string{"src/a.ts": {"src/a.txt"}, "repo/lib/c.go": nil} {
		if diff := cmp.Diff(want, rel(root, Guesser{Dir: root, Hidden: hidden}.Paths(filepath.Join(root, path)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}
