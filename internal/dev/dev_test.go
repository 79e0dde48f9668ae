package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write creates the files under dir.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// message returns the text of an error, or "".
func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestPlatforms(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod":          "module example\n\ngo 1.26\n",
		"a/a.go":          "package a\n\nimport \"unsafe\"\n\nconst size = int8(unsafe.Sizeof(uintptr(0)))\n\nfunc F() int8 { return size }\n",
		"a/a_windows.go":  "package a\n\nfunc g() int { return F() }\n",
		"a/a_test.go":     "package a\n\nvar _ = size\n",
		"a/b_test.go":     "package a_test\n\nimport \"example/a\"\n\nvar _ int8 = a.F()\n",
		"b/b_arm64.go":    "package b\n",
		"b/b_test.go":     "package b\n",
		"b/b_386_test.go": "package b\n\nimport \"missing\"\n",
	})
	t.Chdir(dir)
	tests := []struct {
		platform string
		want     []string // parts of the error; empty if none is expected
	}{
		{"linux/amd64", nil},
		{"darwin/arm64", nil},
		{"windows/amd64", []string{"windows/amd64:", "a_windows.go:3:23", "cannot use F()"}},
		{"linux/386", []string{"missing"}},
		{"linux", []string{"not of the form OS/ARCH"}},
	}
	for _, tt := range tests {
		var out strings.Builder
		err := checkPlatforms([]string{tt.platform}, &out)
		if (err == nil) != (tt.want == nil) {
			t.Errorf("%s: %v", tt.platform, err)
		}
		for _, part := range tt.want {
			if !strings.Contains(message(err), part) {
				t.Errorf("%s: %v, want %q in it", tt.platform, err, part)
			}
		}
		if err == nil && out.String() != tt.platform+"\n" {
			t.Errorf("%s: printed %q", tt.platform, out.String())
		}
	}
}

func TestDeadcode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "allowed.txt")
	tests := []struct {
		name, found, allowed string
		want                 []string
	}{
		{"both", "m/a.F\nm/a.T.M\n", "# A comment.\n\nm/a.F    AGENT-1\nm/a.T.M  used on Windows\n", nil},
		{"new", "m/a.F\n", "", []string{"m/a.F is reached by no command"}},
		{"stale", "", "m/a.F  AGENT-1\n", []string{"m/a.F is reachable or gone"}},
		{"without a reason", "m/a.F\n", "m/a.F\n", []string{"m/a.F has no reason"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(tt.allowed), 0o644); err != nil {
				t.Fatal(err)
			}
			err := run([]string{"deadcode", file}, strings.NewReader(tt.found), nil)
			if (err == nil) != (tt.want == nil) {
				t.Error(err)
			}
			for _, part := range tt.want {
				if !strings.Contains(message(err), part) {
					t.Errorf("%v, want %q in it", err, part)
				}
			}
		})
	}
}

func TestChangelog(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"CHANGELOG.md":                   "# Changelog\n\nWhat changed.\n",
		"changelog/unreleased/README.md": "# How\n",
		"changelog/unreleased/b-fix":     "Bugfix: Nothing is lost\n\nIt was\nbefore.\n",
		"changelog/unreleased/c-new":     "Enhancement: More\n\nMuch more.\n\n    adze more\n",
		"changelog/unreleased/a-change":  "Change: Less\n\nNot as much.",
	})
	if err := collect(root, "0.2.0", "2026-01-31"); err != nil {
		t.Fatal(err)
	}
	write(t, root, map[string]string{"changelog/unreleased/d-fix": "Bugfix: Gone\n\nFor good.\n"})
	if err := collect(root, "0.2.1", "2026-02-01"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `# Changelog

What changed.

## 0.2.1 (2026-02-01)

### Bugfixes

- Gone

  For good.

## 0.2.0 (2026-01-31)

### Changes

- Less

  Not as much.

### Enhancements

- More

  Much more.

      adze more

### Bugfixes

- Nothing is lost

  It was
  before.
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	left, err := filepath.Glob(filepath.Join(root, "changelog", "unreleased", "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("%v are left, %v", left, err)
	}
	latest, err := filepath.Glob(filepath.Join(root, "changelog", "latest", "*"))
	if err != nil || len(latest) != 1 {
		t.Errorf("%v are those of the version, %v", latest, err)
	}
}

func TestChangelogErrors(t *testing.T) {
	tests := []struct {
		name, version, date, fragment, want string
	}{
		{"version", "v0.2.0", "2026-01-31", "Bugfix: A\n\nB.\n", "not a version"},
		{"date", "0.2.0", "31.1.2026", "Bugfix: A\n\nB.\n", "not a date"},
		{"twice", "0.1.0", "2026-01-31", "Bugfix: A\n\nB.\n", "has the version 0.1.0 already"},
		{"kind", "0.2.0", "2026-01-31", "Feature: A\n\nB.\n", `x: the first line starts with "Feature"`},
		{"no text", "0.2.0", "2026-01-31", "Bugfix: A\n", "must follow the kind"},
		{"no empty line", "0.2.0", "2026-01-31", "Bugfix: A\nB.\n", "must follow the kind"},
		{"no fragment", "0.2.0", "2026-01-31", "", "no fragments"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			files := map[string]string{
				"CHANGELOG.md":                   "# Changelog\n\n## 0.1.0 (2026-01-01)\n",
				"changelog/unreleased/README.md": "# How\n",
			}
			if tt.fragment != "" {
				files["changelog/unreleased/x"] = tt.fragment
			}
			write(t, root, files)
			if err := collect(root, tt.version, tt.date); !strings.Contains(message(err), tt.want) {
				t.Errorf("%v, want %q in it", err, tt.want)
			}
			page, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
			if err != nil || string(page) != files["CHANGELOG.md"] {
				t.Errorf("the page is %q, %v", page, err)
			}
		})
	}
}

// TestUnreleased checks that the repository's fragments can be collected.
func TestUnreleased(t *testing.T) {
	fragments, _, err := readFragments(os.DirFS("../../changelog/unreleased"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := addVersion("# Changelog\n", "1.0.0", "2026-01-31", fragments); err != nil {
		t.Error(err)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"platforms"}, {"deadcode"}, {"changelog", "0.1.0"}, {"more"}} {
		if err := run(args, nil, nil); !strings.HasPrefix(message(err), "usage:") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestSizes(t *testing.T) {
	dir := t.TempDir()
	source := "package a\n\ntype Pair[T any] struct{ left, right T }\n\nfunc (p *Pair[T]) Swap() {\n\tp.left, p.right = p.right, p.left\n}\n"
	write(t, dir, map[string]string{"a/a.go": source, "a/a_test.go": "package a\n", "testdata/broken.go": "package"})
	var out strings.Builder
	if err := reportSizes(dir, &out); err != nil {
		t.Fatal(err)
	}
	a := filepath.ToSlash(filepath.Join(dir, "a"))
	for _, want := range []string{
		"1 packages, 1 files, 7 lines of source, 1 of tests\n",
		"       7  " + a + " (1)\n", "       7  " + a + "/a.go\n", "       3  " + a + ".Pair.Swap\n", "       2  " + a + ".Pair\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
