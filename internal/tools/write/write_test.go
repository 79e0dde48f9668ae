package write

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/platform/fs/filehistory"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/replace"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tool/tooltest"
)

type world struct {
	*change.Files
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

// file creates a file; known marks it as known to the conversation.
func (w *world) file(name, content string, known bool) {
	w.t.Helper()
	if err := os.WriteFile(w.path(name), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
	if known {
		w.State.Record(filestate.Entry{Path: w.path(name), Hash: sha256.Sum256([]byte(content)), Origin: filestate.Read, Complete: true})
	}
}

func (w *world) run(name, content string) (tool.Result, error) {
	w.t.Helper()
	input, err := json.Marshal(Input{name, content})
	if err != nil {
		w.t.Fatal(err)
	}
	call, err := New(Config{w.Files}).Bind(input)
	if err != nil {
		return tool.Result{}, err
	}
	return call.Run(w.t.Context(), func(tool.Progress) {})
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
	w.file("f", "a\nb\n", true)
	tooltest.Run(t, New(Config{w.Files}), tooltest.Cases{
		Input: Input{},
		Good: map[string]string{
			"create": `{"file_path":"new/file","content":"x\n"}`,
			"update": `{"file_path":"f","content":"a\n"}`,
			"same":   `{"file_path":"f","content":"a\n"}`,
		},
		Dir: w.root,
	})
}

// Proves WRITE-01, FST-02.
func TestExistingAndNew(t *testing.T) {
	w := newWorld(t)
	w.file("unread", "old", false)
	w.file("read", "old", true)
	w.file("part", "1\n2\n3\n", false)
	w.State.Record(filestate.Entry{Path: w.path("part"), Hash: sha256.Sum256([]byte("1\n2\n3\n")), Origin: filestate.Read, Offset: 1, Limit: 2, Lines: 2, Total: 3})
	for name, want := range map[string]int{"unread": change.CodeNotRead, "part": change.CodeNotRead, "read": 0, "new": 0, "a/b/new": 0} {
		_, err := w.run(name, "new")
		if code(err) != want || (err == nil) != (want == 0) {
			t.Errorf("%s: %v", name, err)
		}
		if (w.content(name) == "new") != (want == 0) {
			t.Errorf("%s: content %q", name, w.content(name))
		}
	}
	for _, name := range []string{"new", "a/b/new"} {
		if info, err := os.Stat(w.path(name)); err != nil || info.Mode().Perm()&^0o644 != 0 || info.Mode().Perm()&0o600 != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if info, err := os.Stat(w.path("a/b")); err != nil || info.Mode().Perm()&^0o755 != 0 || info.Mode().Perm()&0o700 != 0o700 {
		t.Errorf("parents: %v, %v", info.Mode(), err)
	}
	if err := os.Mkdir(w.path("dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"dir": "dir is a directory", "read/x/y": w.path("read") + " is not a directory"} {
		if _, err := w.run(name, "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func wide(s string, order binary.AppendByteOrder) string {
	var b []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// Proves WRITE-02.
func TestVerbatim(t *testing.T) {
	for _, before := range []string{"", "a\nb\n", "a\r\nb\r\n", "a\r\nb\n", "\ufeffa\n", "no end"} {
		for _, content := range []string{"x\ny\n", "x\r\ny\r\n", "x\r\ny\n", "no end", "", "\ufeffx", "\x00é"} {
			w := newWorld(t)
			w.file("f", before, true)
			if _, err := w.run("f", content); err != nil {
				t.Fatal(err)
			}
			if got := w.content("f"); got != content {
				t.Errorf("%q over %q gave %q", content, before, got)
			}
		}
	}
	tests := []struct{ name, before, content, want, note string }{
		{"UTF-16LE", wide("a\r\n", binary.LittleEndian), "é𝄞\n", wide("é𝄞\n", binary.LittleEndian), ""},
		{"UTF-16BE", wide("a", binary.BigEndian), "\ufeffb", wide("b", binary.BigEndian), ""},
		{"Latin-1", "caf\xe9", "cafés, 3 €\n", "caf\xe9s, 3 \x80\n", ""},
		{"a character that Latin-1 lacks", "caf\xe9", "日", "日", "is UTF-8 now"},
		{"an unknown encoding", "caf\xe9\x81", "café", "café", "is UTF-8 now"},
	}
	for _, tt := range tests {
		w := newWorld(t)
		w.file("f", tt.before, true)
		res, err := w.run("f", tt.content)
		if err != nil || w.content("f") != tt.want {
			t.Errorf("%s: %q, %v", tt.name, w.content("f"), err)
		}
		if !strings.Contains(text(res), tt.note) {
			t.Errorf("%s: text %q", tt.name, text(res))
		}
	}
}

// Proves WRITE-03, TOOL-05.
func TestCreateOrUpdate(t *testing.T) {
	w := newWorld(t)
	path, old := w.path("f"), "a\n"
	created := []tool.Hunk{{OldStart: 0, OldLines: 0, NewStart: 1, NewLines: 1, Lines: []string{"+a"}}}
	updated := []tool.Hunk{{OldStart: 1, OldLines: 1, NewStart: 1, NewLines: 2, Lines: []string{" a", "+b"}}}
	longer := "a\nb\n"
	tests := []struct {
		content, text string
		want          Output
		display       tool.Diff
	}{
		{"a\n", "Created f.", Output{Type: "create", FilePath: path, Content: "a\n", StructuredPatch: created}, tool.Diff{Path: path, Created: true, Added: 1, Hunks: created}},
		{"a\nb\n", "Updated f.", Output{Type: "update", FilePath: path, Content: "a\nb\n", OriginalFile: &old, StructuredPatch: updated}, tool.Diff{Path: path, Added: 1, Hunks: updated}},
		{"a\nb\n", "f already holds exactly this content, so it was not touched.", Output{Type: "update", FilePath: path, Content: "a\nb\n", OriginalFile: &longer, StructuredPatch: []tool.Hunk{}}, tool.Diff{Path: path, Hunks: []tool.Hunk{}}},
	}
	for _, tt := range tests {
		before, _ := os.Stat(path)
		res, err := w.run("f", tt.content)
		if err != nil {
			t.Fatal(err)
		}
		got := res.Structured.(Output)
		if sum := sha256.Sum256([]byte(tt.content)); got.ContentHash != hex.EncodeToString(sum[:]) {
			t.Errorf("hash %s", got.ContentHash)
		}
		got.OriginalHash, got.ContentHash = "", ""
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("structured (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(tt.display, res.Display); diff != "" {
			t.Errorf("display (-want +got):\n%s", diff)
		}
		if text(res) != tt.text {
			t.Errorf("text %q", text(res))
		}
		if after, _ := os.Stat(path); len(tt.want.StructuredPatch) == 0 && !os.SameFile(before, after) {
			t.Error("the file was touched")
		}
	}
}

// hook creates a file just before the tool does.
type hook struct{ make func() }

func (h hook) Backup(context.Context, string, filehistory.Author) (int64, error) {
	h.make()
	return 0, nil
}
func (hook) Flush() error                             { return nil }
func (hook) Writing(int64, string, [sha256.Size]byte) {}
func (hook) Wrote(int64, string, [sha256.Size]byte)   {}

// Proves WRITE-04.
func TestSomebodyElseCreates(t *testing.T) {
	w := newWorld(t)
	w.History = hook{func() { w.file("f", "theirs", false) }}
	if _, err := w.run("f", "ours"); code(err) != change.CodeChanged {
		t.Errorf("error %v", err)
	}
	if got := w.content("f"); got != "theirs" {
		t.Errorf("content %q", got)
	}
}

func TestFacts(t *testing.T) {
	w := newWorld(t)
	w.file("f", "x", true)
	for name, want := range map[string]struct {
		shown string
		facts tool.Facts
	}{
		"f":           {"Update", tool.Facts{Destructive: true}},
		"new":         {"Write", tool.Facts{}},
		"//host/file": {"Write", tool.Facts{OpenWorld: true}},
	} {
		input, _ := json.Marshal(Input{name, "y"})
		call, err := New(Config{w.Files}).Bind(input)
		if err != nil {
			t.Fatal(err)
		}
		if got := tool.DisplayNameOf("Write", call); got != want.shown || tool.FactsOf(call) != want.facts {
			t.Errorf("%s: %s, %+v", name, got, tool.FactsOf(call))
		}
	}
}
