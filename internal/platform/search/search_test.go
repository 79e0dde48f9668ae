package search

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/search/glob"
)

// fixture writes files into a directory and returns its path.
func fixture(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// engine returns an engine that is closed at the end of the test. Unless the test sets a
// timeout, searches may take as long as a busy machine needs.
func engine(t testing.TB, c Config) *Engine {
	t.Helper()
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Minute
	}
	e := New(c)
	t.Cleanup(e.Close)
	return e
}

// engines returns an engine of each kind; they must give the same results.
func engines(t testing.TB) map[string]*Engine {
	t.Helper()
	if _, err := exec.LookPath("rg"); err != nil {
		t.Fatal("this test needs ripgrep: install the Debian package ripgrep")
	}
	refuse := func(text string) { t.Errorf("ripgrep is not used: %q", text) }
	return map[string]*Engine{
		"builtin": engine(t, Config{Cold: true, Getenv: func(name string) string {
			if name == "PATH" {
				return ""
			}
			return os.Getenv(name)
		}}),
		"system": engine(t, Config{Kind: System, Cold: true, Warn: refuse}),
	}
}

// grepText searches and returns the result as text, with a line for everything that is not in
// the entries.
func grepText(t testing.TB, e *Engine, o GrepOptions) string {
	t.Helper()
	o.Show = func(rel string) string { return rel }
	r, err := e.Grep(context.Background(), o)
	if err != nil {
		return "error: " + err.Error()
	}
	return text(r, o.Mode)
}

func text(r *GrepResult, m Mode) string {
	var b strings.Builder
	b.Write(bytes.Join(r.Lines, nil))
	for _, h := range r.Files {
		if m == Count {
			fmt.Fprintf(&b, "%s:%d\n", h.Path, h.Lines)
		} else {
			b.WriteString(h.Path + "\n")
		}
	}
	if r.More || r.Unreadable > 0 || r.Stopped != Complete {
		fmt.Fprintf(&b, "(more %v, unreadable %d, stopped %d)\n", r.More, r.Unreadable, r.Stopped)
	}
	return b.String()
}

func source() map[string]string {
	return map[string]string{
		".git/config":      "foo\n",
		".git/HEAD":        "ref: refs/heads/main\n",
		".git/objects/foo": "foo\n",
		".git/refs/foo":    "foo\n",
		".gitignore":       "ignored\n",
		"ignored/x.go":     "foo\n",
		"a.go":             "package a\n\nfunc foo() {}\n// Foo bar\n",
		"a_test.go":        "func TestFoo() { foo() }\n",
		"b/web.ts":         "let foo = 1\nlet bar = 2\n\nlet baz = 3\nlet qux = 4\nfoo(bar)\n",
		"b/ui.tsx":         "<foo/>\r\n<bar/>\r\n",
		"b/c/deep.py":      "foo = 1; foo = 2\n",
		"bin":              "foo\n\x00",
		"dash.txt":         "-foo\n--foo\n",
		"latin":            "caf\xe9 foo\n",
		"utf16le":          "\xff\xfef\x00o\x00o\x00\n\x00",
		"utf16be":          "\xfe\xff\x00f\x00o\x00o\x00\n",
		"utf8bom":          "\ufefffoo\n",
		"multi.txt":        "begin {\n  foo\n}\nend\n",
		"empty":            "",
		"no-newline":       "last foo",
		".hidden/note.txt": "foo\n",
	}
}

// Proves X-142, ENG-01, ENG-03, GREP-02, GREP-03, GREP-05, GREP-06, GREP-07.
func TestGrep(t *testing.T) {
	dir := fixture(t, source())
	tests := []struct {
		name string
		o    GrepOptions
		want string
	}{
		{"content", GrepOptions{Pattern: `foo\(`, Mode: Content, Numbers: true}, "a.go:3:func foo() {}\na_test.go:1:func TestFoo() { foo() }\nb/web.ts:6:foo(bar)\n"},
		{"without numbers", GrepOptions{Pattern: `foo\(`, Mode: Content}, "a.go:func foo() {}\na_test.go:func TestFoo() { foo() }\nb/web.ts:foo(bar)\n"},
		{"context", GrepOptions{Pattern: `foo`, Mode: Content, Numbers: true, Glob: "*.ts", Before: 1, After: 1}, "b/web.ts:1:let foo = 1\nb/web.ts-2-let bar = 2\n--\nb/web.ts-5-let qux = 4\nb/web.ts:6:foo(bar)\n"},
		{"context in two files", GrepOptions{Pattern: `foo\(`, Mode: Content, Numbers: true, Glob: "*.go", After: 1}, "a.go:3:func foo() {}\na.go-4-// Foo bar\n--\na_test.go:1:func TestFoo() { foo() }\n"},
		{"count", GrepOptions{Pattern: `foo`, Mode: Count, Glob: "*.go,b/**"}, "a.go:1\na_test.go:1\nb/c/deep.py:1\nb/ui.tsx:1\nb/web.ts:2\n"},
		{"only", GrepOptions{Pattern: `fo+`, Mode: Content, Numbers: true, Only: true, Type: "py"}, "b/c/deep.py:1:foo\nb/c/deep.py:1:foo\n"},
		{"ignoring case", GrepOptions{Pattern: `FOO`, Mode: Content, Numbers: true, IgnoreCase: true, Glob: "a.go"}, "a.go:3:func foo() {}\na.go:4:// Foo bar\n"},
		{"braces are one pattern", GrepOptions{Pattern: `foo`, Mode: Count, Glob: "*.{ts,tsx}"}, "b/ui.tsx:1\nb/web.ts:2\n"},
		{"two patterns", GrepOptions{Pattern: `(?i)foo`, Mode: Count, Glob: "*.go !*_test.go"}, "a.go:2\n"},
		{"type", GrepOptions{Pattern: `foo`, Mode: Count, Type: "ts"}, "b/ui.tsx:1\nb/web.ts:2\n"},
		{"carriage return", GrepOptions{Pattern: `bar`, Mode: Content, Numbers: true, Type: "ts", Glob: "*.tsx"}, "b/ui.tsx:2:<bar/>\n"},
		{"multiline", GrepOptions{Pattern: `begin.*?\}`, Mode: Content, Numbers: true, Multiline: true}, "multi.txt:1:begin {\nmulti.txt:2:  foo\nmulti.txt:3:}\n"},
		{"multiline count", GrepOptions{Pattern: `begin.*?\}`, Mode: Count, Multiline: true}, "multi.txt:3\n"},
		{"line break", GrepOptions{Pattern: "foo\nbar"}, "error: bad pattern at character 4: a line end cannot match, since lines are searched one by one; use multiline to match across lines"},
		{"dash", GrepOptions{Pattern: `-foo`, Mode: Content, Numbers: true, Glob: "dash.txt"}, "dash.txt:1:-foo\ndash.txt:2:--foo\n"},
		{"two dashes", GrepOptions{Pattern: `--foo`, Mode: Content, Numbers: true, Glob: "dash.txt"}, "dash.txt:2:--foo\n"},
		{"encodings", GrepOptions{Pattern: `foo`, Mode: Content, Glob: "utf* latin"}, "latin:caf\ufffd foo\nutf16be:foo\nutf16le:foo\nutf8bom:foo\n"},
		{"no final newline", GrepOptions{Pattern: `last`, Mode: Content, Numbers: true}, "no-newline:1:last foo\n"},
		{"binary", GrepOptions{Pattern: `foo`, Mode: Count, Glob: "bin"}, ""},
		{"nothing", GrepOptions{Pattern: `xyzzy`, Glob: "*.go"}, ""},
		{"hidden", GrepOptions{Pattern: `foo`, Mode: Count, Glob: "note.txt"}, ".hidden/note.txt:1\n"},
		{"a file", GrepOptions{Root: "ignored/x.go", Pattern: `foo`, Mode: Content, Numbers: true}, ".:1:foo\n"},
		{"a directory that is ignored", GrepOptions{Root: "ignored", Pattern: `foo`, Mode: Count}, "x.go:1\n"},
		{"empty pattern", GrepOptions{}, "error: the pattern is empty: every line would match"},
		{"type by extension", GrepOptions{Pattern: "x", Type: "rs"}, `error: unknown file type "rs": did you mean rust? Or use glob instead`},
		{"unknown type", GrepOptions{Pattern: "x", Type: "pythn"}, `error: unknown file type "pythn": did you mean python, cython? Or use glob instead`},
		{"look-around", GrepOptions{Pattern: `foo(?=bar)`}, `error: bad pattern at character 4 ((?=): look-ahead is not supported; make the look-ahead part of the pattern: (?:...)`},
		{"missing root", GrepOptions{Root: "nowhere", Pattern: "x"}, "error: reading " + filepath.Join(dir, "nowhere") + ": no such file or directory"},
	}
	for kind, e := range engines(t) {
		for _, tt := range tests {
			t.Run(kind+"/"+tt.name, func(t *testing.T) {
				tt.o.Root = filepath.Join(dir, tt.o.Root)
				if diff := cmp.Diff(tt.want, grepText(t, e, tt.o)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// Proves GREP-01.
func TestGrepPages(t *testing.T) {
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("d%d/f%02d.txt", i%7, i)] = strings.Repeat("match\nother\n", 10)
	}
	dir := fixture(t, files)
	for kind, e := range engines(t) {
		t.Run(kind, func(t *testing.T) {
			for _, m := range []Mode{Files, Content, Count} {
				o := GrepOptions{Root: dir, Pattern: "match", Mode: m, Numbers: true}
				whole := strings.SplitAfter(strings.TrimSuffix(grepText(t, e, o), "\n"), "\n")
				size := len(whole)/2 - 5
				var pages []string
				for o.Limit = size; o.Offset < len(whole); o.Offset += size {
					page, cut := strings.CutSuffix(grepText(t, e, o), "(more true, unreadable 0, stopped 0)\n")
					if cut != (o.Offset+size < len(whole)) {
						t.Errorf("mode %d: the page at %d reports more results: %v", m, o.Offset, cut)
					}
					pages = append(pages, page)
				}
				if diff := cmp.Diff(strings.Join(whole, "")+"\n", strings.Join(pages, "")); diff != "" {
					t.Errorf("mode %d: the pages are not the whole (-whole +pages):\n%s", m, diff)
				}
				if m == Content && len(whole) != 600 {
					t.Errorf("%d lines", len(whole))
				}
			}
		})
	}
}

func TestNewestFirst(t *testing.T) {
	dir := fixture(t, map[string]string{"old": "x\n", "new": "x\n", "middle": "x\n", "same": "x\n"})
	for name, age := range map[string]time.Duration{"old": 3 * time.Hour, "middle": 2 * time.Hour, "same": 2 * time.Hour, "new": time.Hour} {
		at := time.Unix(1_700_000_000, 0).Add(-age)
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for kind, e := range engines(t) {
		if got := grepText(t, e, GrepOptions{Root: dir, Pattern: "x"}); got != "new\nmiddle\nsame\nold\n" {
			t.Errorf("%s: %q", kind, got)
		}
		if got := grepText(t, e, GrepOptions{Root: dir, Pattern: "x", Limit: 1, Offset: 1}); !strings.HasPrefix(got, "middle\n(more true") {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

// TestSuffix compares suffix patterns with the full pattern language.
func TestSuffix(t *testing.T) {
	paths := []string{"a.go", ".go", "b/a.go", "b/.go", "go", "a.gox", "b.go/x", "a/b/c.tar.gz", "x.tar.gz", "*.go", "!a.go"}
	for _, pattern := range []string{"**", "*", "**/*", "*.go", "**/*.go", "*.tar.gz", "*go", "a.go", "*.{go,gz}", "!*.go", "b/*.go", "**/b/*.go", "**.go", "*.go/", `*\.go`, "*[.]go"} {
		suffix, ok := suffixOf(pattern)
		if !ok {
			continue
		}
		p, err := glob.Compile(pattern, glob.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if got, want := strings.HasSuffix(path, suffix), p.Match(path); got != want {
				t.Errorf("%s and %s: %v, want %v", pattern, path, got, want)
			}
		}
	}
	for _, pattern := range []string{"**", "*.go", "**/*.tar.gz"} {
		if _, ok := suffixOf(pattern); !ok {
			t.Errorf("%s is not compared by its end", pattern)
		}
	}
}

// TestSkipByRealName searches through a link a tree in which a file is denied by its resolved
// name.
//
// Proves ENG-06.
func TestSkipByRealName(t *testing.T) {
	dir := fixture(t, map[string]string{"real/a": "foo\n", "real/secret": "foo\n"})
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "real"), link); err != nil {
		t.Fatal(err)
	}
	for _, denied := range []string{filepath.Join(dir, "real", "secret"), filepath.Join(link, "secret")} {
		skip := func(path string, _ bool) bool { return path == denied }
		for name, e := range engines(t) {
			if got := grepText(t, e, GrepOptions{Root: link, Pattern: "foo", Mode: Count, Skip: skip}); got != "a:1\n" {
				t.Errorf("%s: with %s denied: %q", name, denied, got)
			}
		}
	}
}
