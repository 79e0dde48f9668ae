package edit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/replace"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tool/tooltest"
)

type world struct {
	Config
	t    testing.TB
	root string
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, root: t.TempDir()}
	w.Files = &change.Files{
		Dir: func() string { return w.root }, Home: func() string { return "" },
		State: filestate.New(), Replacer: replace.New(t.TempDir()),
	}
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.root, name) }

func (w *world) content(name string) string {
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		return "missing"
	}
	return string(data)
}

// write creates a file; read marks the lines first to last as read, or all lines if last is 0.
func (w *world) write(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(w.path(name), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string, first, last int) {
	w.t.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	info, err := os.Stat(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	e := filestate.Entry{
		Path: w.path(name), Stamp: filestate.StampOf(info), Origin: filestate.Read,
		Offset: 1, Total: strings.Count(string(data), "\n"), Hash: sha256.Sum256(data), Complete: last == 0,
	}
	if last > 0 {
		e.Offset, e.Limit, e.Lines = first, last-first+1, last-first+1
	}
	w.Files.State.Record(e)
}

func (w *world) run(in Input) (tool.Result, error) {
	w.t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		w.t.Fatal(err)
	}
	call, err := New(w.Config).Bind(input)
	if err != nil {
		return tool.Result{}, err
	}
	return call.Run(w.t.Context(), func(tool.Progress) {})
}

// single returns the input for a single replacement.
func single(path, old, new string, all bool) Input {
	return Input{FilePath: path, OldString: &old, NewString: &new, ReplaceAll: all}
}

func code(err error) int {
	var e *tool.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func text(r tool.Result) string { return r.Parts[0].(*msg.Text).Text }

func TestContract(t *testing.T) {
	w := newWorld(t)
	w.write("f", "a\nb\n")
	w.read("f", 0, 0)
	tooltest.Run(t, New(w.Config), tooltest.Cases{
		Input: Input{},
		Good: map[string]string{
			"create": `{"file_path":"new/file","old_string":"","new_string":"x\n"}`,
			"edit":   `{"file_path":"f","old_string":"b","new_string":"c\nd","replace_all":true}`,
		},
		Dir: w.root,
	})
}

// Proves EDIT-01, EDIT-03, EDIT-04.
func TestCodes(t *testing.T) {
	const file = "one\ntwo\nthree\ntwo\n"
	tests := []struct {
		name string
		in   Input
		code int
		text string
	}{
		{"same", single("f", "a", "a", false), codeSame, "nothing to change"},
		{"same but for line ends", single("f", "one\r\n", "one\n", false), codeSame, "already reads"},
		{"create over a file", single("f", "", "x", false), codeNotEmpty, "not empty"},
		{"missing", single("g.txt", "a", "b", false), change.CodeMissing, filepath.Join("", "g.md")},
		{"notebook", single("x.ipynb", "a", "b", false), codeNotebook, "NotebookEdit"},
		{"notebook, in capitals", single("x.IPYNB", "a", "b", false), codeNotebook, "NotebookEdit"},
		{"unread", single("g.md", "a", "y", true), change.CodeNotRead, "have not been read yet"},
		{"not found", single("f", "thre e", "b", false), codeNotFound, "line 3 there is the same text but for white space (the number of spaces or line ends):\n3\tthree"},
		{"not found, nothing like it", single("f", "zzzz", "b", false), codeNotFound, "copy the text exactly"},
		{"twice", single("f", "two", "b", false), codeAmbiguous, "found 2 times, in lines 2, 4. Give more"},
		{"null byte", single("a\x00", "a", "b", false), 0, "null byte"},
		{"empty path", single("  ", "a", "b", false), 0, "path is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("f", file)
			w.write("g.md", "a a")
			w.read("f", 0, 0)
			_, err := w.run(tt.in)
			if err == nil || code(err) != tt.code || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("code %d, %v", code(err), err)
			}
			if w.content("f") != file || w.content("g.md") != "a a" {
				t.Error("something was written")
			}
			if entries, _ := os.ReadDir(w.root); len(entries) != 2 {
				t.Errorf("files left behind: %v", entries)
			}
		})
	}
}

// Proves EDIT-04.
func TestCreate(t *testing.T) {
	w := newWorld(t)
	if _, err := w.run(single("deep/er/f", "", "x\r\ny", false)); err != nil || w.content("deep/er/f") != "x\r\ny" {
		t.Errorf("%v, %q", err, w.content("deep/er/f"))
	}
	w.write("empty", "")
	res, err := w.run(single("empty", "", "x", false))
	if err != nil || w.content("empty") != "x" {
		t.Errorf("%v, %q", err, w.content("empty"))
	}
	if got := text(res); got != "Edited empty." {
		t.Errorf("text %q", got)
	}
	if _, err := w.run(single("empty", "x", "y", false)); err != nil { // written content is known
		t.Error(err)
	}
}

// Proves FST-02.
func TestPartsOfFiles(t *testing.T) {
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("line %d of %d", i+1, (i+1)%50)) // the ends are repeated
	}
	file := strings.Join(lines, "\n") + "\n"
	all := func(n int) Input { return single("f", fmt.Sprintf(" of %d\n", n%50), " changed\nmore\n", true) }
	one := func(n int) Input { return single("f", lines[n-1]+"\n", "changed\nmore\n", false) }

	w := newWorld(t)
	w.write("f", file)
	w.read("f", 1, 50)
	// Unique text need not have been read; repeated text must have been.
	if _, err := w.run(all(30)); code(err) != change.CodeNotRead || !strings.Contains(err.Error(), "lines 80 to 80 have not been read yet") {
		t.Errorf("lines 30 and 80: %v", err)
	}
	w.WholeOnly = true
	if _, err := w.run(one(10)); code(err) != change.CodeNotRead {
		t.Errorf("with the setting off, line 10: %v", err)
	}
	w.WholeOnly = false
	if _, err := w.run(one(10)); err != nil {
		t.Errorf("line 10: %v", err)
	}
	// The file and the range that was seen are now a line longer.
	e, _ := w.Files.State.Get(w.path("f"))
	if diff := cmp.Diff([]filestate.Span{{First: 1, Last: 51}}, e.Seen); diff != "" || e.Total != 101 || e.Complete {
		t.Errorf("of %d lines, complete %v: %s", e.Total, e.Complete, diff)
	}
	if _, err := w.run(one(50)); err != nil {
		t.Errorf("line 50, which is 51 now: %v", err)
	}
	if _, err := w.run(one(60)); err != nil {
		t.Errorf("line 60, which is 62 now: %v", err)
	}
	// A partly quoted line is not known.
	e, _ = w.Files.State.Get(w.path("f"))
	if diff := cmp.Diff([]filestate.Span{{First: 1, Last: 52}}, e.Seen); diff != "" || e.Total != 103 {
		t.Errorf("of %d lines: %s", e.Total, diff)
	}
	w.read("f", 53, 103)
	if e, _ := w.Files.State.Get(w.path("f")); !e.Complete {
		t.Errorf("all lines were read: %v of %d", e.Seen, e.Total)
	}
	if _, err := w.run(all(30)); err != nil {
		t.Errorf("lines 30 and 80: %v", err)
	}

	w.write("injected", "a\nb\na\n")
	w.Files.State.Record(filestate.Entry{Path: w.path("injected"), Hash: sha256.Sum256([]byte("a\nb\na\n")), Origin: filestate.Injected, Offset: 1, Lines: 3, Total: 4})
	if _, err := w.run(single("injected", "a", "x", true)); code(err) != change.CodeNotRead {
		t.Errorf("an injected part: %v", err)
	}
}

// TestUnread checks that quoting unique text proves knowledge of a file, unless a rule hides
// the file.
//
// Proves FST-02, EDIT-01.
func TestUnread(t *testing.T) {
	w := newWorld(t)
	w.write("f", "one\ntwo “x”\nthree\ntwo\n")
	w.write("line.json", `{"a":1,"b":`+strings.Repeat("[2],", 100_000)+`"z":26}`)
	for _, tt := range []struct {
		in   Input
		code int
		text string
	}{
		{single("f", "t", "T", false), codeAmbiguous, "found 3 times"},
		{single("f", "o", "0", true), change.CodeNotRead, "lines 1 to 1, 2 to 2, 4 to 4 have not been read yet. Read them first"},
		{single("f", "two", "2", true), change.CodeNotRead, "lines 2 to 2, 4 to 4 have not been read yet. Read them first"},
		{single("f", `two "x"`, "2", false), change.CodeNotRead, "lines 2 to 2 have not been read yet"},
		{single("f", "three", "3", false), 0, ""},
		{single("line.json", `"z":26`, `"z":27`, false), 0, ""},
	} {
		_, err := w.run(tt.in)
		if (err == nil) != (tt.text == "") || code(err) != tt.code || err != nil && !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%+v: %v", tt.in, err)
		}
	}
	if got := w.content("f"); got != "one\ntwo “x”\n3\ntwo\n" {
		t.Errorf("%q", got)
	}
	if e, _ := w.Files.State.Get(w.path("line.json")); e.Complete || len(e.Seen) > 0 {
		t.Errorf("a file of which a part was named counts as read: %v", e.Seen)
	}
	w.Files.Hidden = func(path string) bool { return path == w.path("secret") }
	w.write("secret", "key=1\n")
	if _, err := w.run(single("secret", "key=1", "key=2", false)); code(err) != change.CodeNotRead {
		t.Errorf("a hidden file: %v", err)
	}
	// Lines seen in an outdated version have no effect.
	w.write("g", "a\nb\n")
	w.Files.State.Saw(filestate.Entry{Path: w.path("g"), Hash: [32]byte{1}, Total: 2, Seen: []filestate.Span{{First: 1, Last: 2}}})
	if _, err := w.run(single("g", "a", "x", false)); err != nil {
		t.Errorf("a file that changed since it was searched: %v", err)
	}
}

// TestSeveralEdits checks that several edits are applied in order, or not at all.
//
// Proves EDIT-13.
func TestSeveralEdits(t *testing.T) {
	w := newWorld(t)
	const before = "a\nb\nc\nd\nc\n"
	w.write("f", before)
	w.read("f", 0, 0)
	edits := func(pairs ...string) Input {
		in := Input{FilePath: "f"}
		for i := 0; i < len(pairs); i += 2 {
			in.Edits = append(in.Edits, Replacement{OldString: pairs[i], NewString: pairs[i+1], ReplaceAll: pairs[i] == "c"})
		}
		return in
	}
	for _, tt := range []struct {
		in   Input
		code int
		text string
	}{
		{edits("a", "A", "nothing", "x"), codeNotFound, "edits[1]: old_string was not found"},
		{edits("a", "A", "A", "a"), codeSame, "undo each other"},
		{edits("a", "A", "b", "b"), codeSame, "edits[1]: old_string and new_string are the same"},
		{edits("a", "A", "", "b"), 0, "edits[1].old_string is empty"},
		{Input{FilePath: "f"}, 0, "old_string and new_string are missing, or edits"},
		{Input{FilePath: "f", OldString: new("a")}, 0, "new_string: required, but missing"},
		{Input{FilePath: "f", NewString: new("a")}, 0, "old_string: required, but missing"},
		{Input{FilePath: "f", NewString: new("a"), Edits: []Replacement{{"a", "b", false}}}, 0, "either edits, or old_string"},
	} {
		if _, err := w.run(tt.in); err == nil || code(err) != tt.code || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%+v: code %d, %v", tt.in, code(err), err)
		}
	}
	if got := w.content("f"); got != before {
		t.Fatalf("%q", got)
	}
	res, err := w.run(edits("a\n", "A\nA2\n", "A2\nb", "B", "c", "C"))
	if err != nil || text(res) != "Edited f: made 3 edits." || w.content("f") != "A\nB\nC\nd\nC\n" {
		t.Errorf("%v, %q", err, w.content("f"))
	}
	if out := res.Structured.(Output); out.Occurrences != 4 || !out.ReplaceAll || len(out.StructuredPatch) == 0 {
		t.Errorf("%+v", out)
	}
}

// Proves EDIT-11, TOOL-05.
func TestResult(t *testing.T) {
	w := newWorld(t)
	w.write("f", "1\n“x”\n3\n4\n5\n6\n7\n8\n9\n10\n“x”\n12\n")
	w.read("f", 0, 0)
	res, err := w.run(single("f", `"x"`, "\"y\"\n\"z\"", true))
	if err != nil {
		t.Fatal(err)
	}
	path := w.path("f")
	want := "Edited f: replaced 2 occurrences. The quotation marks or line ends of new_string were adapted to the file. It now reads:\n" +
		"1\t1\n2\t“y”\n3\t“z”\n4\t3\n...\n11\t10\n12\t“y”\n13\t“z”\n14\t12"
	if diff := cmp.Diff(want, text(res)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	original := "1\n“x”\n3\n4\n5\n6\n7\n8\n9\n10\n“x”\n12\n"
	hunks := []tool.Hunk{
		{OldStart: 1, OldLines: 5, NewStart: 1, NewLines: 6, Lines: []string{" 1", "-“x”", "+“y”", "+“z”", " 3", " 4", " 5"}},
		{OldStart: 8, OldLines: 5, NewStart: 9, NewLines: 6, Lines: []string{" 8", " 9", " 10", "-“x”", "+“y”", "+“z”", " 12"}},
	}
	got := res.Structured.(Output)
	sum := sha256.Sum256([]byte(w.content("f")))
	if got.ContentHash != hex.EncodeToString(sum[:]) {
		t.Errorf("hash %s", got.ContentHash)
	}
	got.OriginalHash, got.ContentHash = "", ""
	if diff := cmp.Diff(Output{
		FilePath: path, OldString: "“x”", NewString: "“y”\n“z”", OriginalFile: &original,
		StructuredPatch: hunks, ReplaceAll: true, Occurrences: 2,
	}, got); diff != "" {
		t.Errorf("structured (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(tool.Diff{Path: path, Added: 4, Removed: 2, Hunks: hunks}, res.Display); diff != "" {
		t.Errorf("display (-want +got):\n%s", diff)
	}
	res, err = w.run(single("f", "3", "three", false))
	if err != nil || text(res) != "Edited f." {
		t.Errorf("%v, %q", err, text(res))
	}
}

// Proves EDIT-07, EDIT-12.
func TestUnencodable(t *testing.T) {
	w := newWorld(t)
	w.write("f", "caf\xe9 x\n")
	w.read("f", 0, 0)
	if _, err := w.run(single("f", "x", "日", false)); err == nil || !strings.Contains(err.Error(), "f was not changed: it is in Windows-1252, which has no character '日' (U+65E5)") {
		t.Errorf("error %v", err)
	}
	if got := w.content("f"); got != "caf\xe9 x\n" {
		t.Errorf("content %q", got)
	}
	if _, err := w.run(single("f", "café x", "Käse – 3 €", false)); err != nil || w.content("f") != "K\xe4se \x96 3 \x80\n" {
		t.Errorf("%v, %q", err, w.content("f"))
	}
	w.write("unknown", "caf\xe9\x81 x\n")
	if _, err := w.run(single("unknown", "caf\uFFFD x", "y", false)); err == nil || !strings.Contains(err.Error(), "choose text without it") {
		t.Errorf("error %v", err)
	}
}

func TestTitleAndPath(t *testing.T) {
	w := newWorld(t)
	call, err := New(w.Config).Bind(json.RawMessage(`{"file_path":" src/a.go ","old_string":"a","new_string":"b"}`))
	if err != nil {
		t.Fatal(err)
	}
	path, _ := tool.PathOf(call)
	type facts struct {
		Title, Activity, Path string
		Facts                 tool.Facts
		Observed              any
	}
	want := facts{"Edit src/a.go", "Editing src/a.go", w.path("src/a.go"), tool.Facts{}, Input{FilePath: w.path("src/a.go"), OldString: new("a"), NewString: new("b")}}
	got := facts{tool.TitleOf("Edit", call), tool.ActivityOf("Edit", call), path, tool.FactsOf(call), tool.ObservedInput(call)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// BenchmarkEdit100MB changes one line in the middle of 100 MB. Compare with BenchmarkCopy100MB.
func BenchmarkEdit100MB(b *testing.B) {
	w := newWorld(b)
	const line = "0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ, and some more text on it\n"
	half := strings.Repeat(line, 50_000_000/len(line))
	w.write("f", half+"target 0\n"+half)
	w.read("f", 0, 0)
	from, to := "target 0", "target 1"
	for b.Loop() {
		b.StopTimer()
		time.Sleep(2100 * time.Millisecond) // recently changed files are compared again
		b.StartTimer()
		if _, err := w.run(single("f", from, to, false)); err != nil {
			b.Fatal(err)
		}
		from, to = to, from
	}
}

func BenchmarkCopy100MB(b *testing.B) {
	dir := b.TempDir()
	from, to := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.WriteFile(from, make([]byte, 100_000_000), 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		os.Remove(to)
		in, err := os.Open(from)
		if err != nil {
			b.Fatal(err)
		}
		out, err := os.Create(to)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := out.ReadFrom(in); err != nil {
			b.Fatal(err)
		}
		in.Close()
		out.Close()
	}
}

// TestCopyingMistakes checks that common mistakes in old_string are reported, or tolerated if
// harmless (model-side review, section 3.2).
func TestCopyingMistakes(t *testing.T) {
	w := newWorld(t)
	w.write("f", "a\n\tprint(\"x\")  \nb\n")
	w.read("f", 0, 0)
	for old, want := range map[string]string{
		"1\ta\n2\t\tprint(": "It has the line numbers that Read shows, which are not part of the file: leave out each number and the tab after it, in new_string too.",
		`print(\"x\")`:      `The file has " where old_string has \": send it as it is in the file, in new_string too.`,
		`a\n` + "\tprint":   "send a real line end",
		"prinf(":            "The closest is at line 2:",
	} {
		if _, err := w.run(Input{FilePath: "f", OldString: new(old), NewString: new("y")}); code(err) != codeNotFound || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", old, err, want)
		}
	}
	res, err := w.run(Input{FilePath: "f", OldString: new("\tprint(\"x\")\nb"), NewString: new("\tprint(\"x\")\nc")})
	if err != nil || w.content("f") != "a\n\tprint(\"x\")  \nc\n" || !strings.Contains(text(res), "differ in blanks at line ends") || !strings.Contains(text(res), "3\tc") {
		t.Errorf("blanks at the end of a line: %v, %q", err, w.content("f"))
	}
}
