package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"adze/internal/msg"
)

var start = time.Date(2026, 11, 3, 12, 0, 0, 250_000_000, time.UTC)

func options(t *testing.T) Options {
	t.Helper()
	return Options{Home: filepath.Join(t.TempDir(), "home"), Dir: "/work/app", Session: "s-1", Version: "1.0"}
}

func open(t *testing.T, opt Options) *Log {
	t.Helper()
	l, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func text(id, s string) msg.Entry {
	return msg.Entry{ID: id, Time: start, Message: msg.UserText(s)}
}

func load(t *testing.T, path string) *Contents {
	t.Helper()
	c, err := Load(path, LoadOptions{all: true, Structured: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// entriesOnly compares only the entries of contents.
func entriesOnly() cmp.Options {
	return cmp.Options{cmpopts.IgnoreFields(Contents{}, "State", "Notices", "Session", "Dir", "Branch", "Version"), cmpopts.EquateEmpty()}
}

// conversation has every kind of part and every field of an entry.
func conversation() []msg.Entry {
	return []msg.Entry{
		{ID: "e1", Time: start, Message: msg.Message{Role: msg.User, Parts: []msg.Part{
			&msg.Text{Text: "look at\nthis \u2028 \x00 \"file\""},
			&msg.Image{MediaType: "image/png", Data: []byte{1, 2, 3}},
			&msg.Document{MediaType: "application/pdf", Title: "t", Data: []byte("%PDF")},
		}}},
		{ID: "e2", Parent: "e1", Time: start.Add(time.Second), Hidden: true, Message: msg.UserText("<reminder>")},
		{ID: "e3", Parent: "e2", Time: start.Add(2 * time.Second),
			Model: "claude-opus-5-5", ResponseID: "msg_1", RequestID: "req_1", Stop: "tool_use",
			Usage: &msg.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 9, CacheWrite1h: 4, WebSearches: 5, Estimated: true},
			Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{
				&msg.Thinking{Text: "hm", Signature: "sig"},
				&msg.Redacted{Data: "xx"},
				&msg.Text{Text: "I will."},
				&msg.ToolUse{ID: "t1", Name: "Read", Input: json.RawMessage("{\"file_path\":\n \"a\"}")},
				&msg.ToolUse{ID: "t2", Name: "Read", Input: json.RawMessage("{}"), Malformed: "{\"a"},
				&msg.Server{Raw: json.RawMessage(`{"type":"server_tool_use","id":"s1"}`)},
				&msg.Opaque{Raw: json.RawMessage(`{"type":"future_block","x":[1]}`)},
			}}},
		{ID: "e4", Parent: "e3", Time: start.Add(3 * time.Second),
			Structured: map[string]json.RawMessage{"t1": json.RawMessage(`{"type":"text"}`), "t2": json.RawMessage(`"Error: x"`)},
			Message: msg.Message{Role: msg.User, Parts: []msg.Part{
				&msg.ToolResult{ID: "t1", Parts: []msg.Part{&msg.Text{Text: "content"}}},
				&msg.ToolResult{ID: "t2", Parts: []msg.Part{&msg.Text{Text: "bad"}}, IsError: true},
			}}},
		{ID: "e5", Parent: "e4", Time: start.Add(4 * time.Second), Aborted: true, Model: "m",
			Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.ToolUse{ID: "t3", Name: "Bash", Input: json.RawMessage(`{"a":1}`)}}}},
		{ID: "e6", Parent: "e5", Time: start.Add(5 * time.Second),
			Structured: map[string]json.RawMessage{"t3": json.RawMessage(`{"stdout":"x"}`)},
			Message:    msg.Message{Role: msg.User, Parts: []msg.Part{&msg.ToolResult{ID: "t3", Parts: []msg.Part{&msg.Text{Text: "x"}}}}}},
	}
}

// Proves SESS-11.
func TestRoundTrip(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	for _, e := range conversation()[:3] {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	const future = `{"type":"future_thing","sessionId":"s-1","value":{"a":[1,2]}}` + "\n"
	appendTo(t, l.Path(), future)

	l = open(t, opt)
	for _, e := range conversation()[3:] {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	got := load(t, l.Path())
	want := &Contents{Entries: conversation(), Other: 1}
	if diff := cmp.Diff(want, got, entriesOnly()); diff != "" {
		t.Error(diff)
	}
	if data := content(t, l.Path()); !strings.Contains(data, future) {
		t.Error("the record of an unknown type is gone")
	}
}

// Proves SESS-11.
func TestRecordForm(t *testing.T) {
	opt := options(t)
	opt.Branch = "main"
	l := open(t, opt)
	entries := conversation()
	for _, i := range []int{1, 2, 5} {
		if err := l.Append(entries[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Append(text("e0", "hi")); err != nil {
		t.Fatal(err)
	}
	const common = `"isSidechain":false,"sessionId":"s-1","timestamp":"2026-11-03T12:00:0%d.250Z","cwd":"/work/app","version":"1.0","gitBranch":"main"`
	want := []string{
		`{"type":"user","uuid":"e2","parentUuid":"e1",` + fmt.Sprintf(common, 1) + `,"isMeta":true,"message":{"role":"user","content":[{"type":"text","text":"<reminder>"}]}}`,
		`{"type":"assistant","uuid":"e3","parentUuid":"e2",` + fmt.Sprintf(common, 2) + `,"requestId":"req_1","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[` +
			`{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"redacted_thinking","data":"xx"},{"type":"text","text":"I will."},` +
			`{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"a"},"input_text":"{\"file_path\":\n \"a\"}"},` +
			`{"type":"tool_use","id":"t2","name":"Read","input":{},"malformed_input":"{\"a"},{"type":"server_tool_use","id":"s1"},{"type":"future_block","x":[1]}],` +
			`"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":9,"cache_read_input_tokens":3,` +
			`"cache_creation":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":4},"server_tool_use":{"web_search_requests":5},"estimated":true}}}`,
		`{"type":"user","uuid":"e6","parentUuid":"e5",` + fmt.Sprintf(common, 5) + `,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t3","content":[{"type":"text","text":"x"}]}]},"toolUseResult":{"stdout":"x"}}`,
		`{"type":"user","uuid":"e0","parentUuid":null,` + fmt.Sprintf(common, 0) + `,"message":{"role":"user","content":[{"type":"text","text":"hi"}]}}`,
	}
	got := strings.Split(content(t, l.Path()), "\n")
	if diff := cmp.Diff(append(want, ""), got); diff != "" {
		t.Error(diff)
	}
}

// Proves SESS-12.
func TestConcurrentAppend(t *testing.T) {
	const writers, each = 100, 1000
	opt := options(t)
	l := open(t, opt)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if err := l.Append(text(fmt.Sprintf("%d/%d", w, i), strings.Repeat("x", i%100))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	next := map[string]int{}
	for line := range strings.Lines(content(t, l.Path())) {
		r, err := ParseRecord([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		writer, number, _ := strings.Cut(r.ID, "/")
		if number != fmt.Sprint(next[writer]) {
			t.Fatalf("entry %s after %d of its writer", r.ID, next[writer])
		}
		next[writer]++
	}
	for w := range writers {
		if n := next[fmt.Sprint(w)]; n != each {
			t.Errorf("writer %d has %d entries", w, n)
		}
	}
}

// Proves SESS-13.
func TestNothingBeforeTheFirstRecord(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	if err := errors.Join(l.Sync(), l.Close()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(opt.Home); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the state home exists: %v", err)
	}
}

// Proves SESS-14.
func TestModes(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	if err := l.Append(text("e1", "hi")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.SaveResult("call", "txt", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(opt.Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Proves SESS-14.
func TestNilLogKeepsNothing(t *testing.T) {
	var l *Log
	if err := errors.Join(l.Append(text("e1", "hi")), l.Sync(), l.Close()); err != nil {
		t.Error(err)
	}
	if l.Path() != "" || l.ResultsDir() != "" {
		t.Error("the nil log has a place")
	}
	if _, _, err := l.SaveResult("c", "txt", strings.NewReader("x")); !errors.Is(err, ErrNotKept) {
		t.Errorf("error %v", err)
	}
}

// Proves SESS-10.
func TestPathsThatLookAlike(t *testing.T) {
	opt := options(t)
	folders := map[string]string{}
	for range 2 { // the second time the folders exist
		for _, dir := range []string{"/work/app", "/work.app", "/work/app/x"} {
			opt.Dir = dir
			l := open(t, opt)
			if err := l.Append(text("e", "hi")); err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			folder := filepath.Base(filepath.Dir(l.Path()))
			if known, ok := folders[dir]; ok && known != folder {
				t.Errorf("%s moved from %s to %s", dir, known, folder)
			}
			folders[dir] = folder
		}
	}
	want := map[string]string{"/work/app": "-work-app", "/work.app": "-work-app-c2926cd8", "/work/app/x": "-work-app-x"}
	if diff := cmp.Diff(want, folders); diff != "" {
		t.Error(diff)
	}
}

func TestSessionIDIsAName(t *testing.T) {
	opt := options(t)
	for _, id := range []string{"", "../x", "a/b", `a\b`, "a.b", "é"} {
		opt.Session = id
		if _, err := Open(opt); err == nil {
			t.Errorf("%q accepted", id)
		}
	}
}

// Proves SESS-12.
func TestTornTailIsMovedAside(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	if err := l.Append(text("e1", "hi")); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	long := `{"type":"user","text":"` + strings.Repeat("x", 200_000) // longer than a search step
	for i, tail := range []string{`{"type":"us`, "\x00\x00\x00", long} {
		appendTo(t, l.Path(), tail)
		if c := load(t, l.Path()); !c.Torn || len(c.Entries) != 1+i {
			t.Errorf("before: %d entries, torn %t", len(c.Entries), c.Torn)
		}
		l = open(t, opt)
		if diff := cmp.Diff(&Torn{Path: l.Path() + ".torn", Bytes: int64(len(tail))}, l.torn); diff != "" {
			t.Error(diff)
		}
		if err := errors.Join(l.Append(text(fmt.Sprint("n", i), "more")), l.Close()); err != nil {
			t.Error(err)
		}
	}
	got := load(t, l.Path())
	if len(got.Entries) != 4 || got.Bad != 0 || got.Torn {
		t.Errorf("%d entries, %d bad, torn %t", len(got.Entries), got.Bad, got.Torn)
	}
	if got, want := content(t, l.Path()+".torn"), "{\"type\":\"us\n\x00\x00\x00\n"+long+"\n"; got != want {
		t.Errorf("%d bytes were kept aside, want %d", len(got), len(want))
	}
	if again := open(t, opt); again.torn != nil {
		t.Errorf("torn again: %v", again.torn)
	}
}

func TestLock(t *testing.T) {
	opt := options(t)
	first := open(t, opt)
	if err := first.Append(text("e1", "hi")); err != nil {
		t.Fatal(err)
	}
	_, err := Open(opt)
	var locked *LockedError
	if !errors.Is(err, ErrLocked) || !errors.As(err, &locked) {
		t.Fatalf("second opener: %v", err)
	}
	if locked.Path != first.Path() || locked.PID != 0 && locked.PID != os.Getpid() {
		t.Errorf("%+v", locked)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, opt)
}

func TestLargeRecords(t *testing.T) {
	opt := options(t)
	opt.NoSync = true
	l := open(t, opt)
	want := []msg.Entry{text("e1", strings.Repeat("a", 4<<20)), text("e2", strings.Repeat("\x01\u2028", 1<<18))}
	for _, e := range want {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if got := load(t, l.Path()); !cmp.Equal(want, got.Entries, cmpopts.EquateEmpty()) {
		t.Error("large records came back changed")
	}
}

// Proves RES-02.
func TestSaveResult(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	path, n, err := l.SaveResult("toolu_01", "txt", strings.NewReader("first"))
	if err != nil || n != 5 {
		t.Fatal(path, n, err)
	}
	want := filepath.Join(opt.Home, "projects", "-work-app", "s-1", "tool-results", "toolu_01.txt")
	if path != want || content(t, path) != "first" {
		t.Errorf("got %s with %q", path, content(t, path))
	}
	again, n, err := l.SaveResult("toolu_01", "txt", strings.NewReader("second, longer"))
	if again != path || n != 5 || err != nil || content(t, path) != "first" {
		t.Errorf("second time: %s, %d, %v, %q", again, n, err, content(t, path))
	}

	seen := map[string]bool{path: true}
	for _, id := range []string{"../../x", "..", "", "a/b", "a_b", "a:b", strings.Repeat("l", 300)} {
		p, _, err := l.SaveResult(id, "../sh", strings.NewReader(id))
		if err != nil || filepath.Dir(p) != l.ResultsDir() || seen[p] {
			t.Errorf("%q: %s, %v", id, p, err)
		}
		seen[p] = true
	}

	broken := errors.New("broken pipe")
	if _, _, err := l.SaveResult("half", "txt", &failingReader{err: broken}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	entries, err := os.ReadDir(l.ResultsDir())
	if err != nil || len(entries) != len(seen) {
		t.Errorf("%d files, want %d; %v", len(entries), len(seen), err)
	}
}

type failingReader struct {
	err  error
	done bool
}

func (r *failingReader) Read(p []byte) (int, error) {
	if r.done {
		return 0, r.err
	}
	r.done = true
	return copy(p, "half"), nil
}

// Proves SESS-14.
func TestCleanup(t *testing.T) {
	opt := options(t)
	ages := map[string]int{"old": 31, "recent": 29, "open": 400, "ancient": 1826}
	for id, days := range ages {
		opt.Session = id
		opt.Dir = "/work/app"
		if id == "ancient" {
			opt.Dir = "/work/gone"
		}
		l := open(t, opt)
		if err := l.Append(text("e1", "hi")); err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.SaveResult("c", "txt", strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
		appendTo(t, l.Path()+".torn", "x")
		if id != "open" {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		when := start.AddDate(0, 0, -days)
		if err := os.Chtimes(l.Path(), when, when); err != nil {
			t.Fatal(err)
		}
	}
	stray := filepath.Join(ProjectDir(opt.Home, "/work/app"), "notes.txt") // unrelated file
	appendTo(t, stray, "x")
	if err := os.Chtimes(stray, start.AddDate(-3, 0, 0), start.AddDate(-3, 0, 0)); err != nil {
		t.Fatal(err)
	}
	elsewhere := func(id string) string { return filepath.Join(opt.Home, "elsewhere", id) }
	for id := range ages {
		if err := os.MkdirAll(elsewhere(id), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := Cleanup(Projects(opt.Home), start.AddDate(0, 0, -30), func(id string) []string { return []string{elsewhere(id)} })
	if removed != 2 || err != nil {
		t.Errorf("removed %d, %v", removed, err)
	}
	var left []string
	err = filepath.WalkDir(Projects(opt.Home), func(path string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			left = append(left, strings.TrimPrefix(path, Projects(opt.Home)))
		}
		return err
	})
	want := []string{
		"/-work-app/.origin", "/-work-app/notes.txt", "/-work-app/open/tool-results/c.txt", "/-work-app/open.jsonl", "/-work-app/open.jsonl.torn",
		"/-work-app/recent/tool-results/c.txt", "/-work-app/recent.jsonl", "/-work-app/recent.jsonl.torn",
	}
	if diff := cmp.Diff(want, left); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := os.Stat(filepath.Join(Projects(opt.Home), "-work-gone")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of a project without sessions stays: %v", err)
	}
	for id, want := range map[string]bool{"old": false, "recent": true, "open": true, "ancient": false} {
		if _, err := os.Stat(elsewhere(id)); (err == nil) != want {
			t.Errorf("%s elsewhere: %v", id, err)
		}
	}
	if removed, err := Cleanup(filepath.Join(opt.Home, "nothing"), start, nil); removed != 0 || err != nil {
		t.Errorf("no projects: %d, %v", removed, err)
	}
}

func appendTo(t *testing.T, path, s string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(s)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestSyncsWhatBelongsToIt checks that the log does not count as safe until its With file is
// synced, and that a missing file is ignored.
//
// Proves AGENT-39.
func TestSyncsWhatBelongsToIt(t *testing.T) {
	dir := t.TempDir()
	with := filepath.Join(dir, "agent.meta.json")
	l, err := Open(Options{Home: dir, Dir: "/work/app", Session: "s", Path: filepath.Join(dir, "agent.jsonl"), With: with})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	record := func(text string) {
		t.Helper()
		if err := l.Append(msg.Entry{Message: msg.Message{Role: msg.User, Parts: []msg.Part{&msg.Text{Text: text}}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(with, 0o700); err != nil { // a directory cannot be opened for syncing
		t.Fatal(err)
	}
	record("one")
	if err := l.Sync(); err == nil || !l.unsynced {
		t.Errorf("the log counts as safe: %v", err)
	}
	if err := os.Remove(with); err != nil {
		t.Fatal(err)
	}
	if err := l.Sync(); err != nil || l.unsynced {
		t.Errorf("a log alone in its directory is not synced: %v", err)
	}
}
