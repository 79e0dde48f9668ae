package grep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// fixture writes files and returns their directory.
func fixture(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1_700_000_000, 0)
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
	return with(dir, e, denied)
}

func with(dir string, s Searcher, denied func(string) string) tool.Tool {
	return New(Config{Engine: s, Config: place.Config{
		Dir: func() string { return dir }, Home: func() string { return filepath.Join(dir, "home") }, Denied: func() func(string) string { return denied },
	}})
}

// run binds and runs a call, and returns the text for the model.
func run(t testing.TB, tl tool.Tool, input string) (string, tool.Result) {
	t.Helper()
	call, err := tl.Bind(json.RawMessage(input))
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
	dir := fixture(t, map[string]string{"a.go": "foo\nbar\n", "b/c.go": "foo\n"})
	tooltest.Run(t, in(t, dir, nil), tooltest.Cases{
		Input: Input{},
		Good: map[string]string{
			"files":   `{"pattern":"foo"}`,
			"content": `{"pattern":"foo","output_mode":"content","-C":1,"-n":false,"-i":true}`,
			"count":   `{"pattern":"foo","output_mode":"count","head_limit":1,"offset":1}`,
			"only":    `{"pattern":"fo","output_mode":"content","-o":true,"-A":1,"-B":1}`,
			"none":    `{"pattern":"xyzzy","path":"b","glob":"*.go","type":"go","multiline":true}`,
		},
		Slow: `{"pattern":"xyzzy","path":"/"}`,
		Dir:  dir,
	})
}

// Proves GREP-02.
func TestModes(t *testing.T) {
	dir := fixture(t, map[string]string{
		"a.go":        "one\nfoo 1\nthree\nfour\nfive\nfoo 2\n",
		"b/c.go":      "foo\n",
		"odd\nname.c": "foo\n",
		"bin":         "foo\x00",
		"home/h.txt":  "at home\n",
	})
	other := fixture(t, map[string]string{"o.go": "elsewhere\n"})
	tests := []struct{ name, input, want string }{
		{"files", `{"pattern":"foo","glob":"*.go"}`, "a.go\nb/c.go\n\n(2 files, the most recently modified first.)"},
		{"content", `{"pattern":"foo","output_mode":"content","glob":"*.go"}`, "a.go\n2:foo 1\n6:foo 2\n\nb/c.go\n1:foo"},
		{"context", `{"pattern":"foo","output_mode":"content","glob":"*.go","-C":1}`, "a.go\n1-one\n2:foo 1\n3-three\n--\n5-five\n6:foo 2\n\nb/c.go\n1:foo"},
		{"before and after", `{"pattern":"foo 2","output_mode":"content","-A":1,"-B":2}`, "a.go\n4-four\n5-five\n6:foo 2"},
		{"no numbers", `{"pattern":"foo","output_mode":"content","glob":"a.go","-n":false}`, "a.go\nfoo 1\nfoo 2"},
		{"only", `{"pattern":"fo{2}","output_mode":"content","glob":"a.go","-o":true}`, "a.go\n2:foo\n6:foo"},
		{"count", `{"pattern":"foo","output_mode":"count","glob":"*.go"}`, "a.go:2\nb/c.go:1\n\n(3 matching lines in 2 files.)"},
		{"context in another mode", `{"pattern":"foo","glob":"b/*","-C":2}`, "b/c.go\n\n(1 file, the most recently modified first.)\n(-A, -B, -C and -o were ignored: they are for output_mode content.)"},
		{"ignoring case", `{"pattern":"FOO 1","output_mode":"content","-i":true,"glob":"*.go"}`, "a.go\n2:foo 1"},
		{"a file", `{"pattern":"foo","output_mode":"content","path":"b/c.go"}`, "b/c.go\n1:foo"},
		{"outside", `{"pattern":"else","output_mode":"content","path":"` + other + `"}`, other + "/o.go\n1:elsewhere"},
		{"home", `{"pattern":"home","output_mode":"content","path":"~"}`, "home/h.txt\n1:at home"},
		{"an odd name", `{"pattern":"foo","output_mode":"content","glob":"*.c"}`, `"odd\nname.c"` + "\n1:foo"},
		{"undefined", `{"pattern":"foo","path":"undefined","glob":"b/*"}`, "b/c.go\n\n(1 file, the most recently modified first.)"},
		{"null", `{"pattern":"foo","path":"null","glob":"b/*"}`, "b/c.go\n\n(1 file, the most recently modified first.)"},
		{"no match", `{"pattern":"xyzzy","glob":"*.go"}`, "No matches in 2 files."},
		{"no match, binary files", `{"pattern":"xyzzy"}`, "No matches in 4 files.\n(1 binary file was passed over.)"},
		{"no file left by glob", `{"pattern":"foo","glob":"*.rs"}`, "No file to search: nothing here matches glob *.rs (ignored files are skipped)."},
		{"no file left by both", `{"pattern":"foo","glob":"*.go","type":"rust"}`, "No file to search: nothing here matches glob *.go and type rust (ignored files are skipped)."},
		{"glob not relative to path", `{"pattern":"foo","path":"b","glob":"b/*.go"}`, "No file to search: nothing in b matches glob b/*.go (ignored files are skipped). The glob is relative to path."},
		{"empty pattern", `{"pattern":""}`, "error: the pattern is empty: every line would match"},
		{"negative limit", `{"pattern":"x","head_limit":-1}`, "error: invalid input for Grep: head_limit: expected a number of at least 0, received -1\nRequired: pattern"},
		{"fractional offset", `{"pattern":"x","offset":1.5}`, "error: invalid input for Grep: offset: expected integer, received number 1.5\nRequired: pattern"},
		{"bad pattern", `{"pattern":"interface{}"}`, "error: bad pattern"},
		{"bad glob", `{"pattern":"x","glob":"*.{go"}`, "error: pattern"},
		{"missing", `{"pattern":"x","path":"b/c.golang"}`, "error: " + dir + "/b/c.golang does not exist. The working directory is " + dir + ". Did you mean b/c.go?"},
		{"device", `{"pattern":"x","path":"/dev/zero"}`, "error: /dev/zero is a device or a view into a running process, and is never read."},
	}
	tl := in(t, dir, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := run(t, tl, tt.input)
			if got != tt.want && (!strings.HasPrefix(tt.name, "bad ") || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

// Proves GREP-01, X-005.
func TestPaging(t *testing.T) {
	dir := fixture(t, map[string]string{"a.txt": strings.Repeat("match\n", 300), "b.txt": strings.Repeat("match\n", 300)})
	tl := in(t, dir, nil)
	page := func(offset int) (lines []string, note string) {
		text, _ := run(t, tl, fmt.Sprintf(`{"pattern":"match","output_mode":"content","offset":%d}`, offset))
		file := ""
		for line := range strings.SplitSeq(text, "\n") {
			switch {
			case strings.HasSuffix(line, ".txt"):
				file = line
			case strings.HasSuffix(line, ":match"):
				lines = append(lines, file+":"+line)
			case line != "":
				note = line
			}
		}
		return lines, note
	}
	var all []string
	for _, tt := range []struct {
		offset, want int
		note         string
	}{
		{0, 250, "(These are lines 1 to 250; there are more. Use offset 250 for the next, or a narrower pattern, glob or path.)"},
		{250, 250, "(These are lines 251 to 500; there are more. Use offset 500 for the next, or a narrower pattern, glob or path.)"},
		{500, 100, "(These are lines 501 to 600, the last.)"},
	} {
		lines, note := page(tt.offset)
		if len(lines) != tt.want || note != tt.note {
			t.Errorf("at %d: %d lines, %s", tt.offset, len(lines), note)
		}
		all = append(all, lines...)
	}
	for i, line := range all {
		if want := fmt.Sprintf("%c.txt:%d:match", 'a'+i/300, i%300+1); line != want {
			t.Fatalf("line %d is %s, want %s", i, line, want)
		}
	}
	if lines, note := page(600); len(lines) != 0 || note != "There is nothing at offset 600: use a smaller one." {
		t.Errorf("past the end: %q", lines)
	}
	text, res := run(t, tl, `{"pattern":"match","output_mode":"content","head_limit":0}`)
	if n := strings.Count(text, "\n") + 1; n != 603 || res.Structured.(Output).NumLines != 600 {
		t.Errorf("without a limit: %d lines", n)
	}
}

// TestLargeResult checks that a large result is not held as a single text.
func TestLargeResult(t *testing.T) {
	dir := fixture(t, map[string]string{"a.txt": strings.Repeat(strings.Repeat("x", 99)+"\n", 30_000)})
	text, res := run(t, in(t, dir, nil), `{"pattern":"x","output_mode":"content","head_limit":0}`)
	if text != "" || res.Body == nil {
		t.Fatalf("got %q, body %v", text, res.Body)
	}
	body, err := res.Body.Open()
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(body)
	if err != nil || int64(len(data)) != res.Body.Size() || strings.Count(string(data), "\n") != 30_001 {
		t.Errorf("%d bytes of %d, %v", len(data), res.Body.Size(), err)
	}
	if n := len(res.Structured.(Output).Content); n > tool.DefaultMaxChars || n < tool.DefaultMaxChars/2 {
		t.Errorf("%d bytes of content for hosts", n)
	}
}

// Proves ENG-06.
func TestDenied(t *testing.T) {
	dir := fixture(t, map[string]string{"secrets/key.txt": "word\n", "public/key.txt": "word\n"})
	tl := in(t, dir, func(path string) string {
		if strings.HasPrefix(path+"/", filepath.Join(dir, "secrets")+"/") {
			return "Read(secrets/**)"
		}
		return ""
	})
	if got, _ := run(t, tl, `{"pattern":"word","output_mode":"count"}`); got != "public/key.txt:1\n\n(1 matching line in 1 file.)" {
		t.Errorf("got %q", got)
	}
	want := "error: the permission rule Read(secrets/**) denies reading " + dir + "/secrets/key.txt. Ask the user if you need it."
	if got, _ := run(t, tl, `{"pattern":"word","path":"secrets/key.txt"}`); got != want {
		t.Errorf("got %q", got)
	}
}

// A fake returns a fixed result.
type fake struct {
	result search.GrepResult
	err    error
}

func (f fake) Grep(context.Context, search.GrepOptions) (*search.GrepResult, error) {
	return &f.result, f.err
}

// Proves ENG-07.
func TestIncomplete(t *testing.T) {
	hit := []search.Hit{{Path: "a"}}
	tests := []struct {
		name string
		fake fake
		want string
	}{
		{"time out with nothing", fake{result: search.GrepResult{Stopped: search.TimedOut}}, "error: the search timed out without a match. Matches may still exist: search a narrower path, or use glob, type or a more specific pattern."},
		{"time out", fake{result: search.GrepResult{Stopped: search.TimedOut, Files: hit, Entries: 1, Matched: 1}}, "a\n\n(1 file, the most recently modified first.)\n(The result is partial: the search took too long and was stopped. Use a narrower path, glob or pattern.)"},
		{"interrupt", fake{result: search.GrepResult{Stopped: search.Interrupted, Files: hit, Entries: 1, Matched: 1}}, "a\n\n(1 file, the most recently modified first.)\n(The result is partial: the search was interrupted.)"},
		{"descriptors", fake{result: search.GrepResult{Stopped: search.Short, Files: hit, Entries: 1, Matched: 1}}, "a\n\n(1 file, the most recently modified first.)\n(The result is partial: the system has no free file descriptors.)"},
		{"unreadable", fake{result: search.GrepResult{Unreadable: 2, Binary: 3}}, "No matches.\n(3 binary files were passed over.)\n(2 files or directories could not be read.)"},
		{"one unreadable", fake{result: search.GrepResult{Unreadable: 1}}, "No matches.\n(1 file or directory could not be read.)"},
		{"cut", fake{result: search.GrepResult{Cut: true, More: true, Files: hit, Entries: 1, Matched: 9}}, "a\n\n(9 files, the most recently modified first.)\n(The result is cut at 20 MB, after files 1 to 1. Use a narrower path or pattern.)"},
		{"error", fake{err: errors.New("bad")}, "error: bad"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, _ := run(t, with(t.TempDir(), tt.fake, nil), `{"pattern":"x"}`); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
	beyond := with(t.TempDir(), fake{result: search.GrepResult{Cut: true, More: true, Matched: 9}}, nil)
	want := "Offset 7 is beyond the first 20 MB of lines, which are all that is kept. Use a narrower path or pattern."
	if got, _ := run(t, beyond, `{"pattern":"x","output_mode":"content","offset":7}`); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestDanglingLink(t *testing.T) {
	dir := fixture(t, map[string]string{"a": ""})
	if err := os.Symlink("b", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	want := "error: " + dir + "/link is a link to b, which does not exist."
	if got, _ := run(t, in(t, dir, nil), `{"pattern":"x","path":"link"}`); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAboutItself(t *testing.T) {
	dir := fixture(t, map[string]string{"b/a.go": ""})
	call, err := in(t, dir, nil).Bind(json.RawMessage(`{"pattern":"foo","path":"b"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tool.FactsOf(call), (tool.Facts{ReadOnly: true, Concurrent: true}); got != want {
		t.Errorf("facts %+v", got)
	}
	accesser, ok := tool.As[tool.Accesser](call)
	if !ok {
		t.Fatal("the call does not report its access")
	}
	got := []any{tool.TitleOf("Grep", call), tool.ActivityOf("Grep", call), tool.FoldOf(call), accesser.Access(), tool.ObservedInput(call)}
	want := []any{
		"Grep foo in b", "Searching for foo in b", tool.FoldSearch, []tool.Access{{Verb: tool.Read, Target: "b"}},
		Input{Pattern: "foo", Path: filepath.Join(dir, "b"), OutputMode: modeFiles},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestForms searches for names that are composed or decomposed on disk, with queries in either
// form.
//
// Proves PATH-05.
func TestForms(t *testing.T) {
	dir := fixture(t, map[string]string{"cafe\u0301.txt": "foo\n", "e\u0301/\u00fc/a.txt": "foo\n"})
	for path, want := range map[string]string{
		"caf\u00e9.txt":   "caf\u00e9.txt\n1:foo",
		"cafe\u0301.txt":  "caf\u00e9.txt\n1:foo",
		"\u00e9":          "\u00e9/\u00fc/a.txt\n1:foo",
		"e\u0301/u\u0308": "\u00e9/\u00fc/a.txt\n1:foo",
		"\u00e8":          "error: " + dir + "/\u00e8 does not exist. The working directory is " + dir + ".",
	} {
		if got, _ := run(t, in(t, dir, nil), `{"pattern":"foo","output_mode":"content","path":"`+path+`"}`); got != want {
			t.Errorf("%+q: got %+q, want %+q", path, got, want)
		}
	}
}
