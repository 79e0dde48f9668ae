package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model/cost"
	"adze/internal/msg"
)

// said returns a message as a line. A parent of "-" is omitted, an empty parent is null.
func said(id, parent, text string) string {
	e := msg.Entry{ID: id, Parent: parent, Time: start, Message: msg.UserText(text)}
	line := string(appendRecord(nil, e, &Options{Session: "s", Dir: "/work/app"}))
	return strings.Replace(line, `"parentUuid":"-",`, "", 1)
}

func compacted(b Boundary) string {
	return string(appendBoundary(nil, b, &Options{Session: "s"}))
}

// back returns a rewind note.
func back(id string) string { return string(appendNote(nil, Rewind(id), &Options{Session: "s"})) }

// ids loads a log and returns the joined IDs of its entries.
func ids(t *testing.T, log string, opt LoadOptions) (string, *Contents) {
	t.Helper()
	c, err := readLog(strings.NewReader(log), int64(len(log)), opt)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range c.Entries {
		all = append(all, e.ID)
	}
	return strings.Join(all, " "), c
}

// Proves SESS-21.
func TestChain(t *testing.T) {
	side := strings.Replace(said("x", "a", "side"), `"isSidechain":false`, `"isSidechain":true`, 1)
	system := `{"type":"system","subtype":"informational","uuid":"sys","parentUuid":"a","isSidechain":false}` + "\n"
	old := strings.Replace(said("c", "b", "3"), "2026-11-03", "1999-01-01", 1) // the clock was set back
	broken := strings.Replace(said("b", "a", "2"), `"content"`, `"content":7,"x"`, 1)
	tests := []struct{ name, log, want string }{
		{"linear", said("a", "", "1") + said("b", "a", "2") + said("c", "b", "3"), "a b c"},
		{"branch", said("a", "", "1") + said("b", "a", "2") + said("c", "b", "3") + said("d", "a", "4"), "a d"},
		{"two trees", said("a", "", "1") + said("b", "a", "2") + said("c", "", "3") + said("d", "c", "4"), "c d"},
		{"side chain", said("a", "", "1") + side + said("b", "a", "2") + side, "a b"},
		{"over a record that is not a message", said("a", "", "1") + system + said("b", "sys", "2"), "a b"},
		{"duplicate", said("a", "", "1") + said("b", "a", "2") + said("a", "", "1") + said("c", "b", "3") + said("b", "a", "2"), "a b c"},
		{"no parents", said("a", "-", "1") + said("b", "-", "2") + said("c", "-", "3"), "a b c"},
		{"parent on a line that is not JSON", said("a", "", "1") + "garbage\n" + said("c", "b", "3"), "a c"},
		{"parent that cannot be read", said("a", "", "1") + broken + said("c", "b", "3"), "a c"},
		{"parent filled with zeros", said("a", "", "1") + strings.Repeat("\x00", 500) + "\n" + said("c", "b", "3"), "a c"},
		{"its own parent", said("a", "", "1") + said("b", "b", "2"), "b"},
		{"circle", said("a", "b", "1") + said("b", "a", "2"), "a b"},
		{"order of lines, not of times", said("a", "", "1") + said("b", "a", "2") + old, "a b c"},
		{"back", said("a", "", "1") + said("b", "a", "2") + back("a"), "a"},
		{"back, and on", said("a", "", "1") + said("b", "a", "2") + back("a") + said("c", "a", "3"), "a c"},
		{"back, and forth", said("a", "", "1") + said("b", "a", "2") + back("a") + back("b"), "a b"},
		{"back to the beginning", said("a", "", "1") + said("b", "a", "2") + back(""), ""},
		{"back to the beginning, and on", said("a", "", "1") + back("") + said("c", "", "3") + said("d", "c", "4"), "c d"},
		{"back to a missing message", said("a", "", "1") + said("b", "a", "2") + back("x"), "a b"},
		{"back to nothing that can be read", said("a", "", "1") + said("b", "a", "2") + `{"type":"rewind","leafUuid":7}` + "\n", "a b"},
		{"empty", "", ""},
		{"only notes", `{"type":"custom-title","customTitle":"t"}` + "\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, c := ids(t, tt.log, LoadOptions{})
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if told := strings.Join(c.Notices, " "); strings.Contains(told, "One line of the transcript cannot be read") != (strings.HasPrefix(tt.name, "parent") || tt.name == "back to nothing that can be read") {
				t.Errorf("notices %q", told)
			}
		})
	}
}

// Proves SESS-21.
func TestCompacted(t *testing.T) {
	before := said("a", "", "1") + said("b", "a", "2") + said("c", "b", "3")
	cut := compacted(Boundary{ID: "cut", Trigger: "auto", Last: "c", Summary: "sum", Kept: []string{"b", "gone", "c"}})
	bare := compacted(Boundary{ID: "cut"})
	recast := compacted(Boundary{ID: "cut", Last: "c", Summary: "sum", Kept: []string{"a"}, Recast: []string{"b2", "c2"}})
	tests := []struct{ name, log, want, notice string }{
		{"without a summary", before + bare + said("d", "", "4") + said("e", "d", "5"), "d e", ""},
		{"parent from before", before + bare + said("d", "c", "4"), "d", ""},
		{"kept part, continued", before + cut + said("sum", "", "s") + said("d", "c", "4"), "sum b c d", ""},
		{"kept, going on from the summary", before + cut + said("sum", "cut", "s") + said("d", "sum", "4"), "sum b c d", ""},
		{"the summary names the last message", before + cut + said("sum", "c", "s") + said("d", "sum", "4"), "sum b c d", ""},
		{"nothing said since", before + cut + said("sum", "cut", "s"), "sum b c", ""},
		{"summary lost", before + cut + "garbage\n" + said("d", "sum", "4") + said("e", "d", "5"), "a b c d e", "last compaction was not written whole"},
		{"ends after the boundary", before + cut, "a b c", "last compaction was not written whole"},
		{"ends in the summary", before + cut + "garbage\n", "a b c", "last compaction was not written whole"},
		{"ends after a boundary without a summary", before + bare, "a b c", "last compaction was not written whole"},
		{"continued after a boundary without its summary", before + cut + said("d", "c", "4"), "a b c d", ""},
		{"recast", before + recast + said("sum", "", "s") + said("b2", "sum", "2") + said("c2", "b2", "3") + said("d", "c2", "4"), "sum a b2 c2 d", ""},
		{"ends before rewritten messages", before + recast + said("sum", "", "s"), "a b c", "last compaction was not written whole"},
		{"ends in rewritten messages", before + recast + said("sum", "", "s") + said("b2", "sum", "2"), "a b c", "last compaction was not written whole"},
		{"continued in the middle of rewritten messages", before + recast + said("sum", "", "s") + said("b2", "sum", "2") + said("d", "c", "4"), "a b c d", ""},
		{"twice, the second torn", before + cut + said("sum", "", "s") + said("d", "c", "4") + compacted(Boundary{ID: "cut2", Summary: "sum2", Kept: []string{"d"}}), "sum b c d", "last compaction was not written whole"},
		{"twice", before + cut + said("sum", "", "s") + said("d", "c", "4") + compacted(Boundary{ID: "cut2", Summary: "sum2", Kept: []string{"d"}}) + said("sum2", "", "s") + said("e", "d", "5"), "sum2 d e", ""},
		{"a branch from before it", before + cut + said("sum", "", "s") + said("d", "c", "4") + said("e", "a", "5"), "a e", ""},
		{"back to the summary", before + cut + said("sum", "", "s") + said("d", "c", "4") + back("sum"), "sum", ""},
		{"back to a kept message", before + cut + said("sum", "", "s") + said("d", "c", "4") + back("b") + said("e", "b", "5"), "sum b e", ""},
		{"back to the last that was kept", before + cut + said("sum", "", "s") + said("d", "c", "4") + back("c"), "sum b c", ""},
		{"back to after it", before + cut + said("sum", "", "s") + said("d", "c", "4") + said("e", "d", "5") + back("d"), "sum b c d", ""},
		{"metadata of another form", before + strings.Replace(cut, `"compact_metadata":{`, `"compact_metadata":{"trigger":7,`, 1) + said("d", "", "4"), "d", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, c := ids(t, tt.log, LoadOptions{})
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if notices := strings.Join(c.Notices, "\n"); !strings.Contains(notices, tt.notice) {
				t.Errorf("notices %q", notices)
			}
		})
	}
	_, c := ids(t, before+cut+said("sum", "cut", "s"), LoadOptions{})
	want := &Boundary{ID: "cut", Trigger: "auto", Last: "c", Summary: "sum", Kept: []string{"b", "gone", "c"}, Time: c.Boundary.Time}
	if diff := cmp.Diff(want, c.Boundary); diff != "" {
		t.Error(diff)
	}
	if all, _ := ids(t, before+cut+said("sum", "", "s"), LoadOptions{all: true}); all != "a b c sum" {
		t.Errorf("all: %s", all)
	}
	if got, _ := ids(t, before+recast+said("sum", "", "s")+said("b2", "sum", "2")+said("c2", "b2", "3"), LoadOptions{At: "b2"}); got != "sum a b2" {
		t.Errorf("at a message that was recast: %s", got)
	}
	if got, _ := ids(t, before+cut+said("sum", "", "s"), LoadOptions{At: "b"}); got != "a b" {
		t.Errorf("at a message before the compaction: %s", got)
	}
	log := before
	if _, err := readLog(strings.NewReader(log), int64(len(log)), LoadOptions{At: "zz"}); !errors.Is(err, ErrUnknownMessage) || !strings.Contains(err.Error(), "zz") {
		t.Errorf("unknown message: %v", err)
	}
}

// TestTornCompaction checks that a compaction cut off by a crash at any point leaves the
// previous conversation.
func TestTornCompaction(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	after := func(parent, id string) msg.Entry {
		e := text(id, "said")
		e.Parent = parent
		return e
	}
	for _, e := range []msg.Entry{after("", "a"), after("a", "b"), after("b", "c")} {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	read := func() string {
		data, err := os.ReadFile(l.path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	before := len(read())
	if err := l.Compact(Boundary{ID: "cut", Last: "c", Summary: "sum", Kept: []string{"a"}}, after("a", "sum"), after("a", "b2"), after("b2", "c2")); err != nil {
		t.Fatal(err)
	}
	log := read()
	for size := before; size <= len(log); size++ {
		want := "a b c"
		if size == len(log) {
			want = "sum a b2 c2"
		}
		if got, _ := ids(t, log[:size], LoadOptions{}); got != want {
			t.Fatalf("cut at %d of %d: got %s, want %s", size-before, len(log)-before, got, want)
		}
	}
}

func ledger() *cost.Ledger {
	l := cost.New(func(string) cost.Facts { return cost.Facts{} })
	l.Book("m", msg.Usage{Input: 5, Output: 7}, cost.Times{API: time.Second})
	return l
}

func totals() cost.Totals { return ledger().Totals() }

// Proves SESS-11, SESS-22, SESS-42.
func TestNotes(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	notes := []Note{
		Model("first"), Model("opus[1m]"), Mode("plan"), Agent("reviewer"), Dirs{"/a b", "/\"c\""}, Tag("later"),
		Title("Old"), Title("Neu \u2028 Titel"), AutoTitle("auto"), Cost{ledger()},
		Queue{Op: Enqueue, Content: "one"}, Queue{Op: Enqueue, Content: "two"}, Queue{Op: Enqueue, Content: "three"}, Queue{Op: Dequeue}, Queue{Op: Discard, Content: "three"},
		Other{Kind: "worktree-state", Fields: map[string]any{"path": "/w", "n": 1}},
	}
	for _, n := range notes[:3] {
		if err := l.Note(n); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(opt.Home); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a note made a file: %v", err)
	}
	if err := l.Append(text("e1", "hi")); err != nil {
		t.Fatal(err)
	}
	for _, n := range notes[3:] {
		if err := l.Note(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, c, err := Resume(opt, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	sum := totals()
	last := c.State.Last["worktree-state"]
	want := State{Title: "Neu Titel", AutoTitle: "auto", Tag: "later", Model: "opus[1m]", Agent: "reviewer", Mode: "plan", Dirs: []string{"/a b", "/\"c\""},
		Cost: &sum, Queued: []string{"two"}, Last: map[string]json.RawMessage{"worktree-state": last}}
	want.key, want.modeSigned, want.dirsSigned = c.State.key, true, true
	if diff := cmp.Diff(want, c.State, cmp.AllowUnexported(State{})); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(string(last), `"path":"/w"`) || c.Session != "s-1" || c.Dir != "/work/app" || c.Version != "1.0" {
		t.Errorf("%s, %+v", last, c)
	}
	for _, bad := range []Note{Other{Kind: "user"}, Other{Kind: ""}, Other{Kind: "x", Fields: map[string]any{"uuid": "1"}}} {
		if l.Note(bad) == nil {
			t.Errorf("%+v accepted", bad)
		}
	}
}

// TestNoteOfJSON checks that raw JSON is written unchanged, unless it would break the line.
func TestNoteOfJSON(t *testing.T) {
	note := Other{Kind: "k", Fields: map[string]any{
		"b": json.RawMessage(`{"x":[1,"ä"]}`), "a": json.RawMessage("{\n  \"y\": 2\n}"), "c": json.RawMessage(nil), "d<": "\u2028",
	}}
	opt := options(t)
	line := appendNote(nil, note, &opt)
	if want := `{"type":"k","a":{"y":2},"b":{"x":[1,"ä"]},"c":null,"d<":"\u2028",`; !strings.HasPrefix(string(line), want) || bytes.Count(line, []byte("\n")) != 1 || !json.Valid(line) {
		t.Errorf("%s", line)
	}
	note.Fields["z"] = make(chan int)
	if got := string(note.appendFields([]byte("{"))); got != "{" {
		t.Errorf("with a value that JSON cannot represent: %s", got)
	}
}

// Proves SESS-42.
func TestCorruptCost(t *testing.T) {
	log := said("a", "", "1") + `{"type":"cost-state","cost":{"totalCostUSD":-5}}` + "\n"
	_, c := ids(t, log, LoadOptions{})
	if c.State.Cost != nil || len(c.Notices) != 1 || !strings.Contains(c.Notices[0], "cost") {
		t.Errorf("%+v", c)
	}
	opt := options(t)
	if err := SaveCost(opt.Home, opt.Dir, "s-1", totals()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(opt.Home); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a cost without a session made a folder")
	}
	if err := open(t, opt).Append(text("e", "hi")); err != nil {
		t.Fatal(err)
	}
	if err := SaveCost(opt.Home, opt.Dir, "s-1", totals()); err != nil {
		t.Fatal(err)
	}
	got, err := LastCost(opt.Home, opt.Dir, "s-1")
	sum := totals()
	if diff := cmp.Diff(&sum, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got, err := LastCost(opt.Home, opt.Dir, "another"); got != nil || err != nil {
		t.Error("the cost of another session", got, err)
	}
	path := filepath.Join(ProjectDir(opt.Home, opt.Dir), lastCostName)
	if err := os.WriteFile(path, []byte(`{"sessionId":"s-1","cost":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := LastCost(opt.Home, opt.Dir, "s-1"); got != nil || err == nil {
		t.Error(got, err)
	}
}

// Proves SESS-11.
func TestFromANewerVersion(t *testing.T) {
	log := said("a", "", "1") + `{"type":"hologram","uuid":"h","parentUuid":"a","isSidechain":false,"payload":{"x":[1,2]}}` + "\n" +
		`{"type":"user","uuid":"b","parentUuid":"h","isSidechain":false,"isSidechain2":[{}],"message":{"role":"user","content":[{"type":"hologram","z":1},{"type":"text","text":"x","new":{"y":[]}}],"mood":"good"}}` + "\n"
	got, c := ids(t, log, LoadOptions{})
	if got != "a b" || c.Bad != 0 || c.State.Last["hologram"] == nil {
		t.Errorf("%s, %+v", got, c)
	}
	if _, ok := c.Entries[1].Message.Parts[0].(*msg.Opaque); !ok {
		t.Errorf("%T", c.Entries[1].Message.Parts[0])
	}
}

// Proves SESS-20.
func TestResumeRefuses(t *testing.T) {
	opt := options(t)
	if _, _, err := Resume(opt, LoadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	l := open(t, opt)
	if err := l.Append(text("e1", "hi")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Resume(opt, LoadOptions{}); !errors.Is(err, ErrLocked) {
		t.Errorf("in use: %v", err)
	}
	if c, err := Load(l.Path(), LoadOptions{}); err != nil || len(c.Entries) != 1 {
		t.Errorf("following: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "e.jsonl")
	appendTo(t, empty, `{"type":"custom-title","customTitle":"t"}`+"\n")
	opt.Path = empty
	if _, _, err := Resume(opt, LoadOptions{}); !errors.Is(err, ErrNoMessages) || !strings.Contains(err.Error(), empty) {
		t.Errorf("no messages: %v", err)
	}
	opt.Path = t.TempDir()
	if _, _, err := Resume(opt, LoadOptions{}); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a folder: %v", err)
	}
}

// Proves SESS-20, SESS-23.
func TestResumeGoesOn(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	if err := errors.Join(l.Append(text("e1", "hi")), l.Close()); err != nil {
		t.Fatal(err)
	}
	path := l.Path()
	appendTo(t, path, `{"type":"us`)
	elsewhere := Options{Home: opt.Home, Dir: "/another", Session: "s-1", Path: path}
	l, c, err := Resume(elsewhere, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if l.Path() != path || len(c.Entries) != 1 || len(c.Notices) != 1 || !strings.Contains(c.Notices[0], path+".torn") {
		t.Errorf("%s, %q", l.Path(), c.Notices)
	}
	e := text("e2", "more")
	e.Parent = "e1"
	if err := errors.Join(l.Append(e), l.Close()); err != nil {
		t.Fatal(err)
	}
	if got, _ := ids(t, content(t, path), LoadOptions{}); got != "e1 e2" {
		t.Error(got)
	}
	if _, err := os.Stat(filepath.Join(Projects(opt.Home), "-another")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("resuming a session of another folder made one for this")
	}
}

// Proves SESS-12.
func TestResumeWithoutLeaveToWrite(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	if err := errors.Join(l.Append(text("e1", "hi")), l.Close()); err != nil {
		t.Fatal(err)
	}
	appendTo(t, l.Path(), `{"type":"us`)
	// A folder in place of the .torn file blocks even root.
	if err := os.Mkdir(l.Path()+".torn", 0o700); err != nil {
		t.Fatal(err)
	}
	r, c, err := Resume(opt, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Entries) != 1 || !strings.Contains(strings.Join(c.Notices, "\n"), "Writing the transcript failed") {
		t.Errorf("%+v", c)
	}
	if err := r.Append(text("e2", "more")); err == nil || !strings.Contains(err.Error(), ".torn") {
		t.Errorf("append: %v", err)
	}
	if err := errors.Join(os.Remove(l.Path()+".torn"), r.Append(text("e3", "again")), r.Close()); err != nil {
		t.Fatal(err)
	}
	if got := load(t, l.Path()); len(got.Entries) != 3 || got.Bad != 0 {
		t.Errorf("%d entries, %d bad", len(got.Entries), got.Bad)
	}
}

// large writes a log of at least size bytes, with additional records from record.
func large(t *testing.T, size int, record func(n int) string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "large.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f := bufio.NewWriter(file)
	defer f.Flush()
	body := strings.Repeat("lorem ipsum dolor ", 60)
	parent := ""
	for n, written := 0, 0; written < size; n++ {
		id := fmt.Sprint("m", n)
		line := record(n) + said(id, parent, body)
		parent = id
		k, err := f.WriteString(line)
		if err != nil {
			t.Fatal(err)
		}
		written += k
	}
	return path
}

// Proves SESS-15.
func TestLargeLog(t *testing.T) {
	const size = 60 << 20
	title := func(n int) string {
		if n == 1 {
			return `{"type":"custom-title","customTitle":"Far back"}` + "\n"
		}
		return ""
	}
	without := large(t, size, title)
	c, err := Load(without, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	first := c.Entries[0]
	if c.Skipped < 1<<20 || first.ID == "m0" || c.State.Title != "Far back" || len(c.Notices) != 1 || !strings.Contains(c.Notices[0], "were not loaded") {
		t.Errorf("first entry %s, skipped %d, title %q, notices %q", first.ID, c.Skipped, c.State.Title, c.Notices)
	}
	last := c.Entries[len(c.Entries)-1]
	if want := fmt.Sprint("m", len(c.Entries)-1+number(t, first.ID)); last.ID != want {
		t.Errorf("last entry %s, want %s", last.ID, want)
	}
	with := large(t, size, func(n int) string {
		if n == 45_000 {
			return compacted(Boundary{ID: "cut"}) // near the end
		}
		return title(n)
	})
	c, err = Load(with, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Entries[0].ID != "m45000" || c.Boundary == nil || len(c.Notices) != 1 {
		t.Errorf("first entry %s, notices %q", c.Entries[0].ID, c.Notices)
	}
}

// TestLargeLogBeginsWithAPrompt reads a log whose loaded part starts in the middle of a turn.
//
// Proves SESS-15.
func TestLargeLogBeginsWithAPrompt(t *testing.T) {
	answer := func(id, parent string, parts ...msg.Part) string {
		e := msg.Entry{ID: id, Parent: parent, Time: start, Message: msg.Message{Role: msg.Assistant, Parts: parts}}
		return string(appendRecord(nil, e, &Options{Session: "s"}))
	}
	result := msg.Entry{ID: "c", Parent: "b", Time: start, Message: msg.Message{Role: msg.User, Parts: []msg.Part{&msg.ToolResult{ID: "t1"}}}}
	got, _ := ids(t, said("a", "", strings.Repeat("x", ReadCap))+
		answer("b", "a", &msg.ToolUse{ID: "t1", Name: "Read", Input: json.RawMessage("{}")})+
		string(appendRecord(nil, result, &Options{Session: "s"}))+
		answer("d", "c", &msg.Text{Text: "done"})+said("e", "d", "next")+answer("f", "e", &msg.Text{Text: "well"}), LoadOptions{})
	if got != "e f" {
		t.Errorf("the conversation is %s", got)
	}
}

func number(t *testing.T, id string) int {
	t.Helper()
	var n int
	if _, err := fmt.Sscanf(id, "m%d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTwoGigabytes loads a sparse log: a line of two gigabytes of zeros.
//
// Proves SESS-15.
func TestTwoGigabytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "huge.jsonl")
	appendTo(t, path, said("a", "", "1"))
	if err := os.Truncate(path, 2<<30); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, "\n"+said("b", "a", "2")+said("c", "b", "3"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := Load(path, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if len(c.Entries) != 2 || c.Entries[0].ID != "b" || c.Skipped == 0 {
		t.Errorf("%d entries, skipped %d", len(c.Entries), c.Skipped)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 300<<20 {
		t.Errorf("%d MB were used", used>>20)
	}
	// The last record alone is longer than ReadCap.
	path = filepath.Join(t.TempDir(), "long.jsonl")
	appendTo(t, path, said("a", "", "1")+said("b", "a", strings.Repeat("x", ReadCap+1000)))
	c, err = Load(path, LoadOptions{})
	if err != nil || len(c.Entries) != 1 || c.Entries[0].ID != "b" {
		t.Errorf("%d entries, %v", len(c.Entries), err)
	}
}

// TestMemoryOfLoading checks that dropped messages are not held in memory. The collector runs
// often, so that the heap size reflects live memory.
//
// Proves SESS-15.
func TestMemoryOfLoading(t *testing.T) {
	kept := int64(0)
	path := large(t, 40<<20, func(n int) string {
		if n == 8_000 {
			return compacted(Boundary{ID: "cut"})
		}
		return ""
	})
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	runtime.GC()
	before := inUse()
	c, err := Load(path, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Entries {
		kept += int64(len(e.Message.Text()))
	}
	runtime.GC()
	after := inUse()
	runtime.KeepAlive(c)
	if held := after - before; held > 2*kept {
		t.Errorf("%d bytes are held for %d bytes of messages", held, kept)
	}
}

func inUse() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
