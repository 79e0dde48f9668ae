package glob

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/platform/search"
	"adze/internal/tool"
	"adze/internal/tool/place"
	"adze/internal/tool/tooltest"
)

// fixture writes files and returns their directory. Each file is older than the previous one.
func fixture(t testing.TB, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1_700_000_000-int64(i), 0)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func in(t testing.TB, dir string, denied func(string) string) tool.Tool {
	t.Helper()
	e := search.New(search.Config{Cold: true})
	t.Cleanup(e.Close)
	return New(Config{Engine: e, Config: place.Config{
		Dir: func() string { return dir }, Home: func() string { return filepath.Join(dir, "home") }, Denied: func() func(string) string { return denied },
	}})
}

// run binds and runs a call, and returns the text for the model.
func run(t testing.TB, tl tool.Tool, input Input) (string, tool.Result) {
	t.Helper()
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	call, err := tl.Bind(data)
	if err != nil {
		return "error: " + err.Error(), tool.Result{}
	}
	res, err := call.Run(context.Background(), func(tool.Progress) {})
	if err != nil {
		return "error: " + err.Error(), tool.Result{}
	}
	return msg.PlainText(res.Parts), res
}

func TestContract(t *testing.T) {
	dir := fixture(t, "a.go", "b/c.go")
	tooltest.Run(t, in(t, dir, nil), tooltest.Cases{
		Input: Input{},
		Good:  map[string]string{"found": `{"pattern":"*.go"}`, "none": `{"pattern":"*.py","path":"b"}`},
		Slow:  `{"pattern":"**","path":"/"}`,
		Dir:   dir,
	})
}

// Proves GLOB-01, GLOB-02, GLOB-04, X-005.
func TestGlob(t *testing.T) {
	dir := fixture(t, "b/z.go", "a.go", "b/c/d.go", "x.ts", "x.tsx", "home/h.go", ".hidden/y.go", "odd\nname.txt", "sp ace.md")
	other := fixture(t, "o.go")
	tests := []struct {
		name string
		in   Input
		want string
	}{
		{"any depth", Input{Pattern: "*.go"}, "b/z.go\na.go\nb/c/d.go\nhome/h.go\n.hidden/y.go"},
		{"braces", Input{Pattern: "*.{ts,tsx}"}, "x.ts\nx.tsx"},
		{"in a directory", Input{Pattern: "**/*.go", Path: "b"}, "b/z.go\nb/c/d.go"},
		{"anchored", Input{Pattern: "b/*.go"}, "b/z.go"},
		{"absolute", Input{Pattern: dir + "/b/**/*.go"}, "b/z.go\nb/c/d.go"},
		{"home", Input{Pattern: "~/*.go"}, "home/h.go"},
		{"outside", Input{Pattern: "*.go", Path: other}, filepath.Join(other, "o.go")},
		{"undefined", Input{Pattern: "a.go", Path: "undefined"}, "a.go"},
		{"null", Input{Pattern: "a.go", Path: "null"}, "a.go"},
		{"odd names are quoted", Input{Pattern: "*.{txt,md}"}, `"odd\nname.txt"` + "\nsp ace.md"},
		{"nothing", Input{Pattern: "*.rs"}, "No files found."},
		{"a directory", Input{Pattern: "b"}, "No files found. b is a directory: use b/** for the files in it."},
		{"a directory further down", Input{Pattern: "c", Path: "b"}, "No files found. c is a directory: use c/** for the files in it."},
		{"out of the directory", Input{Pattern: "../**/*.go"}, "error: a pattern cannot leave its directory with ..: give the directory to look in as path, or begin the pattern with an absolute path"},
		{"out and in again", Input{Pattern: "b/../*.go"}, "error: a pattern cannot leave its directory with ..: give the directory to look in as path, or begin the pattern with an absolute path"},
		{"two dots in a name", Input{Pattern: "a..go"}, "No files found."},
		{"no pattern", Input{}, "error: the pattern is empty: use ** for all files"},
		{"unbalanced", Input{Pattern: "*.{go"}, "error: pattern \"*.{go\", position 3: the { is not closed; write \\{ to match it"},
		{"missing", Input{Pattern: "*", Path: "bb/c"}, "error: " + dir + "/bb/c does not exist. The working directory is " + dir + ". Did you mean b/c?"},
		{"near miss", Input{Pattern: "*", Path: "repo/b"}, "error: " + dir + "/repo/b does not exist. The working directory is " + dir + ". Did you mean b?"},
		{"a file", Input{Pattern: "*", Path: "a.go"}, "error: " + dir + "/a.go is a file, not a directory. Read it, or look in its directory."},
	}
	tl := in(t, dir, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, _ := run(t, tl, tt.in); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

// Proves GLOB-03, GLOB-04.
func TestLimit(t *testing.T) {
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf("d%d/f%03d.txt", i%9, i))
	}
	dir := fixture(t, names...)
	text, res := run(t, in(t, dir, nil), Input{Pattern: "*.txt"})
	want := strings.Join(names[:250], "\n") + "\n\n(These are the 250 most recently modified of 1000 files. Use a narrower pattern or path to see others.)"
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	out := res.Structured.(Output)
	out.DurationMs = 0
	if diff := cmp.Diff(Output{Filenames: names[:250], NumFiles: 250, TotalFiles: 1000, Truncated: true}, out); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(tool.List{Items: names[:50], Total: 1000, Unit: "files"}, res.Display); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Proves ENG-06.
func TestDenied(t *testing.T) {
	dir := fixture(t, "secrets/key.txt", "secrets.txt", "public/key.txt")
	tl := in(t, dir, func(path string) string {
		if path == filepath.Join(dir, "secrets") || strings.HasPrefix(path, filepath.Join(dir, "secrets")+"/") {
			return "Read(secrets/**)"
		}
		return ""
	})
	if got, _ := run(t, tl, Input{Pattern: "**/*"}); got != "secrets.txt\npublic/key.txt" {
		t.Errorf("got %q", got)
	}
	want := "error: the permission rule Read(secrets/**) denies reading " + dir + "/secrets. Ask the user if you need it."
	if got, _ := run(t, tl, Input{Pattern: "*", Path: "secrets"}); got != want {
		t.Errorf("got %q", got)
	}
	if got, _ := run(t, tl, Input{Pattern: "*", Path: "secret"}); strings.Contains(got, "secrets?") {
		t.Errorf("a denied directory is suggested: %q", got)
	}
}

func TestAboutItself(t *testing.T) {
	dir := fixture(t, "b/a.go")
	call, err := in(t, dir, nil).Bind(json.RawMessage(`{"pattern":"*.go","path":"b"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tool.FactsOf(call), (tool.Facts{ReadOnly: true, Concurrent: true}); got != want {
		t.Errorf("facts %+v", got)
	}
	got := []any{tool.TitleOf("Glob", call), tool.ActivityOf("Glob", call), tool.FoldOf(call), access(t, call), tool.ObservedInput(call)}
	want := []any{"Glob *.go in b", "Finding *.go in b", tool.FoldList, []tool.Access{{Verb: tool.Read, Target: "b"}}, Input{Pattern: "*.go", Path: filepath.Join(dir, "b")}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func access(t testing.TB, c tool.Call) []tool.Access {
	t.Helper()
	a, ok := tool.As[tool.Accesser](c)
	if !ok {
		t.Fatal("the call does not report its access")
	}
	return a.Access()
}

// TestForms searches for names that are composed or decomposed on disk, with queries in either
// form.
//
// Proves PATH-05.
func TestForms(t *testing.T) {
	dir := fixture(t, "e\u0301/\u00fc/a.txt")
	for _, tt := range []Input{
		{Pattern: "*.txt", Path: "\u00e9"},
		{Pattern: "*.txt", Path: "e\u0301/u\u0308"},
		{Pattern: dir + "/\u00e9/**"},
	} {
		if got, _ := run(t, in(t, dir, nil), tt); got != "\u00e9/\u00fc/a.txt" {
			t.Errorf("%+q: got %+q", tt, got)
		}
	}
}
