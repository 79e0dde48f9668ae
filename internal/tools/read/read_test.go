//go:build unix

package read

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/platform/fs/filestate"
	"adze/internal/tool"
	"adze/internal/tool/tooltest"
)

// dir returns a directory with the files.
func dir(t testing.TB, files map[string]string) string {
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
	}
	return dir
}

func in(dir string) tool.Tool {
	return New(Config{Dir: func() string { return dir }, Home: func() string { return filepath.Join(dir, "home") }})
}

func input(path string) json.RawMessage {
	data, _ := json.Marshal(map[string]string{"file_path": path}) // ok: always marshals
	return data
}

// run binds and runs one call.
func run(t testing.TB, tl tool.Tool, input string) (tool.Result, error) {
	t.Helper()
	call, err := tl.Bind(json.RawMessage(input))
	if err != nil {
		return tool.Result{}, err
	}
	return call.Run(context.Background(), func(tool.Progress) {})
}

// Proves READ-11.
func TestContract(t *testing.T) {
	d := dir(t, map[string]string{
		"a.txt": "one\ntwo\n", "empty": "", "again.txt": "x\n", "p.png": string(pngOf(t, 3, 2)), "n.ipynb": notebookOf("1"),
		"d.pdf": pdfOf("a", "b"), "s.pdf": scannedPDF(t),
	})
	c := Config{Dir: func() string { return d }, State: filestate.New(), Images: yes, Model: func() string { return "m" }}
	tl := New(c)
	if _, err := run(t, tl, `{"file_path":"again.txt"}`); err != nil {
		t.Fatal(err)
	}
	tooltest.Run(t, tl, tooltest.Cases{
		Input: Input{},
		Good: map[string]string{
			"whole":          `{"file_path":"a.txt"}`,
			"range":          `{"file_path":"a.txt","offset":2,"limit":5}`,
			"past":           `{"file_path":"a.txt","offset":9}`,
			"empty":          `{"file_path":"empty"}`,
			"null":           `{"file_path":"/dev/null"}`,
			"file_unchanged": `{"file_path":"again.txt"}`,
			"image":          `{"file_path":"p.png"}`,
			"notebook":       `{"file_path":"n.ipynb"}`,
			"pdf":            `{"file_path":"d.pdf","pages":"2"}`,
			"parts":          `{"file_path":"s.pdf"}`,
		},
		Slow: `{"file_path":"a.txt"}`,
		Dir:  d,
	})
	types := map[string]string{"a.txt": "text", "again.txt": "file_unchanged", "p.png": "image", "n.ipynb": "notebook", "d.pdf": "pdf", "s.pdf": "parts"}
	for file, want := range types {
		c.State = filestate.New()
		tl := New(c)
		res, err := run(t, tl, string(input(file)))
		if want == "file_unchanged" {
			res, err = run(t, tl, string(input(file)))
		}
		if err != nil || res.Structured.(Output).Type != want {
			t.Errorf("%s is %+v, %v; want %s", file, res.Structured, err, want)
		}
	}
}

// Proves READ-05.
func TestText(t *testing.T) {
	long := strings.Repeat("x\n", 1234567)
	d := dir(t, map[string]string{
		"src/foo.go": "package foo\n\nvar x = 1\n", "empty": "", "crlf.txt": "a\r\nb\rc\r\n", "bad.txt": "a\x81b\n", "latin.txt": "K\xe4se \x96 3 \x80\r\ngr\xfc\xdfe\n",
		"utf16.txt": "\xff\xfeh\x00i\x00", "bom.txt": "\ufeffhi", "home/h.txt": "home\n", "long.txt": long, "no-lf": "end",
	})
	tests := []struct{ name, input, want string }{
		{"whole", `{"file_path":"src/foo.go"}`, "1\tpackage foo\n2\t\n3\tvar x = 1"},
		{"range", `{"file_path":"src/foo.go","offset":2,"limit":1}`, "2\t\n\n(Lines 2 to 2 of 3.)"},
		{"range that is the whole", `{"file_path":"src/foo.go","offset":1,"limit":3}`, "1\tpackage foo\n2\t\n3\tvar x = 1"},
		{"to the end", `{"file_path":"src/foo.go","offset":3}`, "3\tvar x = 1\n\n(Lines 3 to 3 of 3.)"},
		{"past the end", `{"file_path":"src/foo.go","offset":50}`, "The file has 3 lines: there is nothing at line 50. Read it with a smaller offset."},
		{"empty", `{"file_path":"empty"}`, "The file exists and is empty."},
		{"line ends", `{"file_path":"crlf.txt"}`, "1\ta\n2\tb\\rc"},
		{"not UTF-8", `{"file_path":"bad.txt"}`, "1\ta\uFFFDb\n\n(The file is not valid UTF-8. Bytes that are not characters are shown as \uFFFD.)"},
		{"Windows-1252", `{"file_path":"latin.txt"}`, "1\tKäse – 3 €\n2\tgrüße\n\n(The file is in Windows-1252 or Latin-1. Edit and Write keep that.)"},
		{"UTF-16", `{"file_path":"utf16.txt"}`, "1\thi"},
		{"byte order mark", `{"file_path":"bom.txt"}`, "1\thi"},
		{"no last LF", `{"file_path":"no-lf"}`, "1\tend"},
		{"home", `{"file_path":"~/h.txt"}`, "1\thome"},
		{"absolute", `{"file_path":"` + d + `/no-lf"}`, "1\tend"},
		{"seven digits", `{"file_path":"long.txt","offset":1234566,"limit":2}`, "1234566\tx\n1234567\tx\n\n(Lines 1234566 to 1234567 of 1234567.)"},
		{"number as text", `{"file_path":"no-lf","limit":"1"}`, "1\tend"},
		{"null device", `{"file_path":"/dev/null"}`, "The file exists and is empty."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := run(t, in(d), tt.input)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, msg.PlainText(res.Parts)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestStructured(t *testing.T) {
	d := dir(t, map[string]string{"a.txt": "one\r\ntwo\nthree\n"})
	res, err := run(t, in(d), `{"file_path":"a.txt","offset":1,"limit":2}`)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(d, "a.txt")
	want := Output{Type: "text", File: OutputFile{FilePath: path, Content: "one\ntwo", NumLines: 2, StartLine: 1, TotalLines: 3}}
	if diff := cmp.Diff(want, res.Structured); diff != "" {
		t.Errorf("structured (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(tool.File{Path: path, First: 1, Count: 2, Len: 3}, res.Display); diff != "" {
		t.Errorf("display (-want +got):\n%s", diff)
	}
}

// Proves READ-03.
func TestBindRefuses(t *testing.T) {
	tests := []struct {
		name, path string
		code       int
		want       []string
	}{
		{"program", "a.exe", codeBinary, []string{".exe", "strings"}},
		{"upper case", "A.ZIP", codeBinary, []string{".zip", "unzip"}},
		{"database", "x.sqlite3", codeBinary, []string{".sqlite3", "sqlite3"}},
		{"device", "/dev/zero", codeDevice, []string{"/dev/zero"}},
		{"device, roundabout", "../../../../../../../../../../dev/./urandom", codeDevice, []string{"/dev/urandom"}},
		{"process", "/proc/self/environ", codeDevice, []string{"/proc/self/environ"}},
		{"null byte", "a\x00b", 0, []string{"path contains a null byte"}},
		{"empty", "  ", 0, []string{"the path is empty"}},
	}
	tl := in("/nowhere/at/all") // binding does not access the disk
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tl.Bind(input(tt.path))
			var coded *tool.Error
			if code := 0; err == nil || errors.As(err, &coded) && coded.Code != tt.code || coded == nil && tt.code != code {
				t.Fatalf("Bind = %v, want code %d", err, tt.code)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error lacks %q: %v", part, err)
				}
			}
		})
	}
	for in, want := range map[string]string{
		`{"file_path":"a","offset":-1}`: "offset is -1: lines are counted from 1",
		`{"file_path":"a","limit":-1}`:  "limit is -1: read at least 1 line",
	} {
		if _, err := tl.Bind(json.RawMessage(in)); err == nil || err.Error() != want {
			t.Errorf("Bind(%s) = %v, want %s", in, err, want)
		}
	}

	d := dir(t, map[string]string{"x.txt": "\x7fELF\x00\x00\x00"})
	_, err := run(t, in(d), `{"file_path":"x.txt"}`)
	var coded *tool.Error
	if !errors.As(err, &coded) || coded.Code != codeBinary {
		t.Errorf("a program called x.txt: %v", err)
	}
}

// Proves X-139.
func TestRunRefuses(t *testing.T) {
	d := dir(t, map[string]string{"proj/src/a.tsx": "x", "proj/src/b.go": "x", "src/c.go": "x", " odd ": "x"})
	proj := filepath.Join(d, "proj")
	if err := os.Symlink("loop", filepath.Join(proj, "loop")); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, path, want string }{
		{"directory", "src", proj + "/src is a directory. List it with Glob, or with a shell command such as ls."},
		{"missing", "nothing.txt", proj + "/nothing.txt does not exist. The working directory is " + proj + "."},
		{"other extension", "src/a.ts", proj + "/src/a.ts does not exist. The working directory is " + proj + ". Did you mean src/a.tsx?"},
		{"dropped directory", d + "/src/b.go", d + "/src/b.go does not exist. The working directory is " + proj + ". Did you mean src/b.go?"},
		{"added directory", proj + "/proj/src/b.go", proj + "/proj/src/b.go does not exist. The working directory is " + proj + ". Did you mean src/b.go?"},
		{"loop", "loop", proj + "/loop is a chain of links that does not end, or of more than 40"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := run(t, in(proj), string(input(tt.path)))
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := run(t, in(d), string(input(" odd "))); err == nil || !strings.Contains(err.Error(), "begins or ends with a space") {
		t.Errorf("a name with outer spaces: %v", err)
	}
}

// Proves READ-02.
func TestDevices(t *testing.T) {
	d := dir(t, nil)
	if err := os.Symlink("/dev/zero", filepath.Join(d, "link.txt")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(d, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link.txt", "fifo"} {
		_, err := run(t, in(d), string(input(name)))
		var coded *tool.Error
		if !errors.As(err, &coded) || coded.Code != codeDevice {
			t.Errorf("%s: %v, want code %d", name, err, codeDevice)
		}
	}
	for _, path := range []string{"/dev/zero", "/dev/tty", "/dev/stdin", "/dev/fd/2", "/proc/self/mem", "/proc/1/fd/0"} {
		if _, err := in(d).Bind(input(path)); err == nil {
			t.Errorf("%s was bound", path)
		}
	}
}

// Proves LIM-01.
func TestMaxBytes(t *testing.T) {
	line := strings.Repeat("x", 299) + "\n"
	d := dir(t, map[string]string{"big.txt": strings.Repeat(line, 1024)})
	_, err := run(t, in(d), `{"file_path":"big.txt"}`)
	want := filepath.Join(d, "big.txt") + " has 1024 lines, about 76800 tokens; one read returns at most 25000. Read up to 290 lines at a time with offset and limit, or find the part you need with Grep."
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	res, err := run(t, in(d), `{"file_path":"big.txt","limit":10}`)
	if err != nil || res.Structured.(Output).File.(OutputFile).NumLines != 10 {
		t.Errorf("limit 10: %v, %v", res.Structured, err)
	}
}

func TestMaxTokens(t *testing.T) {
	d := dir(t, map[string]string{"a.txt": strings.Repeat("1234567\n", 50), "a.json": strings.Repeat("1234567\n", 50)})
	tl := New(Config{Dir: func() string { return d }, MaxTokens: 100})
	if _, err := run(t, tl, `{"file_path":"a.txt"}`); err != nil {
		t.Errorf("100 tokens of 100: %v", err)
	}
	_, err := run(t, tl, `{"file_path":"a.json"}`)
	want := filepath.Join(d, "a.json") + " has 50 lines, about 200 tokens; one read returns at most 100. Read up to 22 lines at a time with offset and limit, or find the part you need with Grep."
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := run(t, tl, `{"file_path":"a.json","offset":20,"limit":25}`); err != nil {
		t.Errorf("a part of it: %v", err)
	}
}

// TestLongLines checks that long lines are truncated, so that every file with few lines can be
// read, and that a truncated line does not count as known.
//
// Proves READ-05, FST-02.
func TestLongLines(t *testing.T) {
	d := dir(t, map[string]string{
		"one.json": strings.Repeat("y", 200_000), "long.txt": "first\n" + strings.Repeat("ä", 2001) + "\n" + strings.Repeat("ö", 2000) + "\n",
		"huge.txt": strings.Repeat(strings.Repeat("w", 200_000)+"\n", 3), "max": strings.Repeat("x", 2<<20),
	})
	for _, tt := range []struct{ input, want string }{
		{`{"file_path":"one.json"}`, "1\t" + strings.Repeat("y", 2000) + "… [2000 of 200000 characters]\n\n(Line 1 is cut after 2000 characters. Grep with -o shows other parts.)"},
		{`{"file_path":"long.txt","offset":2,"limit":1}`, "2\t" + strings.Repeat("ä", 2000) + "… [2000 of 2001 characters]\n\n(Lines 2 to 2 of 3.)\n\n(Line 2 is cut"},
		{`{"file_path":"huge.txt"}`, "(Lines 1, 2, 3 are cut after"},
		{`{"file_path":"max","limit":1}`, "[2000 of 2097152 characters]"},
	} {
		res, err := run(t, in(d), tt.input)
		if err != nil || !strings.Contains(res.Parts[0].(*msg.Text).Text, tt.want) {
			t.Errorf("%s: %v, %.200q", tt.input, err, res.Parts)
		}
	}
	known, again := filestate.New(), filestate.New()
	tl := New(Config{Dir: func() string { return d }, State: known})
	res, err := run(t, tl, `{"file_path":"long.txt"}`)
	if err != nil {
		t.Fatal(err)
	}
	data, err := res.Structured.(Output).AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	New(Config{Dir: func() string { return d }, State: again}).Traits().Restore(data)
	for _, s := range []*filestate.Store{known, again} {
		e, _ := s.Get(filepath.Join(d, "long.txt"))
		if diff := cmp.Diff([]filestate.Span{{First: 1, Last: 1}, {First: 3, Last: 3}}, e.Seen); diff != "" || e.Complete {
			t.Errorf("complete %v: %s", e.Complete, diff)
		}
	}
}

// TestTooMuchIsUsable checks that the error for a large file suggests a size that fits
// (model-side review, section 3.1).
func TestTooMuchIsUsable(t *testing.T) {
	line := strings.Repeat("x", 54) + "\n"
	d := dir(t, map[string]string{"mid.txt": strings.Repeat(line, 4000), "long.txt": line + strings.Repeat("z", 200_000) + "\n" + line})
	tests := []struct{ name, input, want string }{
		{"whole", `{"file_path":"mid.txt"}`, "mid.txt has 4000 lines, about 55000 tokens; one read returns at most 25000. Read up to 1600 lines at a time with offset and limit, or"},
		{"a range", `{"file_path":"mid.txt","offset":100,"limit":3000}`, "lines 100 to 3099 of " + d + "/mid.txt are about 41250 tokens; one read returns at most 25000. Ask for at most 1600 lines, or"},
		{"to the end", `{"file_path":"mid.txt","offset":100}`, "lines 100 to 4000 of " + d + "/mid.txt are about 53638 tokens"},
	}
	for _, tt := range tests {
		if _, err := run(t, in(d), tt.input); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v\nwant %s", tt.name, err, tt.want)
		}
	}
	for _, input := range []string{`{"file_path":"mid.txt","offset":100,"limit":1600}`, `{"file_path":"long.txt","offset":3}`, `{"file_path":"mid.txt","offset":0,"limit":2}`} {
		if _, err := run(t, in(d), input); err != nil {
			t.Errorf("%s: %v", input, err)
		}
	}
}

// Proves TOOL-16.
func TestCapabilities(t *testing.T) {
	d := "/work/dir"
	call, err := in(d).Bind(json.RawMessage(`{"file_path":"src/\nfoo.go","limit":3}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tool.Facts{ReadOnly: true, Concurrent: true}, tool.FactsOf(call)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	path, _ := tool.PathOf(call)
	got := []string{tool.TitleOf("Read", call), tool.ActivityOf("Read", call), path, fmt.Sprint(tool.FoldOf(call) == tool.FoldRead)}
	if diff := cmp.Diff([]string{"Read src/ foo.go", "Reading src/ foo.go", "/work/dir/src/\nfoo.go", "true"}, got); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
	seen := tool.ObservedInput(call).(Input)
	if seen.FilePath != "/work/dir/src/\nfoo.go" || *seen.Limit != 3 {
		t.Errorf("hooks see %+v", seen)
	}
	if own := call.Input().(Input); own.FilePath != "src/\nfoo.go" {
		t.Errorf("observing changed the input to %+v", own)
	}
	a, _ := tool.As[tool.Accesser](call)
	if diff := cmp.Diff([]tool.Access{{Verb: tool.Read, Target: "src/\nfoo.go"}}, a.Access()); diff != "" {
		t.Errorf("access (-want +got):\n%s", diff)
	}
	share, err := in(d).Bind(json.RawMessage(`{"file_path":"//host/share/x"}`))
	if err != nil {
		t.Fatal(err)
	}
	if f := tool.FactsOf(share); f.ReadOnly || !f.OpenWorld {
		t.Errorf("a share of another machine has %+v", f)
	}
}

func TestPathIsFixedWhenBound(t *testing.T) {
	d := dir(t, map[string]string{"one/a": "first", "two/a": "second"})
	cwd := filepath.Join(d, "one")
	tl := New(Config{Dir: func() string { return cwd }})
	call, err := tl.Bind(json.RawMessage(`{"file_path":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	cwd = filepath.Join(d, "two")
	res, err := call.Run(context.Background(), nil)
	if err != nil || !strings.Contains(msg.PlainText(res.Parts), "first") {
		t.Errorf("after a change of directory: %v, %v", msg.PlainText(res.Parts), err)
	}
}

func TestPermissionDenied(t *testing.T) {
	d := dir(t, map[string]string{"secret": "x"})
	c := &call{reader: &reader{}, path: filepath.Join(d, "secret")}
	err := c.explain(&os.PathError{Op: "open", Path: c.path, Err: os.ErrPermission})
	for _, part := range []string{"permission denied by the system", "mode -rw-r--r--", fmt.Sprintf("user %d", os.Getuid())} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error lacks %q: %v", part, err)
		}
	}
}

func FuzzBind(f *testing.F) {
	for _, seed := range []string{`{"file_path":"a"}`, `{"file_path":"~/x","offset":1e3}`, `{"file_path":5}`, `{`, `{"file_path":"\u0000"}`} {
		f.Add([]byte(seed))
	}
	tl := in("/nowhere")
	f.Fuzz(func(t *testing.T, input []byte) {
		call, err := tl.Bind(bytes.Clone(input))
		if err != nil {
			return
		}
		if path, ok := tool.PathOf(call); !ok || !filepath.IsAbs(path) {
			t.Errorf("Bind(%s) reads %q", input, path)
		}
	})
}
