package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"adze/internal/msg"
	"adze/internal/platform/fs/cachefile"
	"adze/internal/session/store"
)

var start = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

// A maker creates sessions, each an hour older than the previous one.
type maker struct {
	t    testing.TB
	home string
	n    int
}

func (m *maker) session(dir, id string, notes []store.Note, texts ...string) string {
	m.t.Helper()
	l, err := store.Open(store.Options{Home: m.home, Dir: dir, Session: id, Version: "1", Branch: "main", NoSync: true})
	if err != nil {
		m.t.Fatal(err)
	}
	parent := ""
	for i, text := range texts {
		e := msg.Entry{ID: fmt.Sprintf("%s-m%d", id, i), Parent: parent, Time: start, Message: msg.UserText(text)}
		if i%2 == 1 {
			e.Message.Role = msg.Assistant
		}
		parent = e.ID
		if err := l.Append(e); err != nil {
			m.t.Fatal(err)
		}
	}
	for _, n := range notes {
		if err := l.Note(n); err != nil {
			m.t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		m.t.Fatal(err)
	}
	m.n++
	when := start.Add(-time.Duration(m.n) * time.Hour)
	if err := os.Chtimes(l.Path(), when, when); err != nil && len(texts) > 0 {
		m.t.Fatal(err)
	}
	return l.Path()
}

func list(t *testing.T, home, dir string) []Info {
	t.Helper()
	infos, err := List(home, ListOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return infos
}

func names(infos []Info) string {
	var all []string
	for i := range infos {
		all = append(all, infos[i].Name())
	}
	return strings.Join(all, ", ")
}

// Proves SESS-24.
func TestList(t *testing.T) {
	m := &maker{t: t, home: t.TempDir()}
	m.session("/work/app", "aaaa-1", []store.Note{store.Title("Mine")}, "first words of it", "answer", "more")
	m.session("/work/app", "aaaa-2", nil, "second\n\nsession "+strings.Repeat("long ", 40))
	m.session("/work/other", "bbbb-1", []store.Note{store.AutoTitle("By itself"), store.Tag("later")}, "hello")
	folder := store.ProjectDir(m.home, "/work/app")
	for name, text := range map[string]string{"empty.jsonl": "", "foreign.jsonl": "{\"a\":1}\n", "zeros.jsonl": strings.Repeat("\x00", 5000), "notes.txt": "x"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "dir.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := []Info{
		{ID: "aaaa-1", Dir: "/work/app", Title: "Mine", AutoTitle: "first words of it", Branch: "main", Created: start, Modified: start.Add(-time.Hour), Messages: 3},
		{ID: "aaaa-2", Dir: "/work/app", AutoTitle: "second session " + strings.Repeat("long ", 12) + "long…", Branch: "main", Created: start, Modified: start.Add(-2 * time.Hour), Messages: 1},
		{ID: "bbbb-1", Dir: "/work/other", AutoTitle: "By itself", Tag: "later", Branch: "main", Created: start, Modified: start.Add(-3 * time.Hour), Messages: 1},
	}
	ignore := cmpopts.IgnoreFields(Info{}, "Path", "Size")
	for _, state := range []string{"without an index", "with an index"} {
		if diff := cmp.Diff(want, list(t, m.home, ""), ignore, cmpopts.EquateApproxTime(0)); diff != "" {
			t.Error(state, diff)
		}
		if diff := cmp.Diff(want[:2], list(t, m.home, "/work/app"), ignore, cmpopts.EquateApproxTime(0)); diff != "" {
			t.Error(state, diff)
		}
	}
	if got := list(t, m.home, "/work/none"); len(got) != 0 {
		t.Errorf("a project without sessions: %v", got)
	}
	if got := list(t, t.TempDir(), ""); len(got) != 0 {
		t.Errorf("an empty home: %v", got)
	}
}

// TestTitleOfAPromptTakenBack checks that a session whose first prompt was withdrawn gets its
// title from the next prompt, whether or not it was listed before.
func TestTitleOfAPromptTakenBack(t *testing.T) {
	for _, listed := range []bool{false, true} {
		m := &maker{t: t, home: t.TempDir()}
		path := m.session("/work/app", "aaaa-1", nil, "rund it")
		if listed {
			list(t, m.home, "")
		}
		l, _, err := store.Resume(store.Options{Session: "aaaa-1", Path: path}, store.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.Append(msg.Entry{ID: "x", Time: start, Message: msg.UserText("round it")}), l.Close()); err != nil {
			t.Fatal(err)
		}
		if got := names(list(t, m.home, "")); got != "round it" {
			t.Errorf("listed before %t: %s", listed, got)
		}
	}
}

// TestIndexIsNeverWrong changes logs without updating the index, and damages the index itself.
func TestIndexIsNeverWrong(t *testing.T) {
	m := &maker{t: t, home: t.TempDir()}
	one := m.session("/work/app", "aaaa-1", nil, "one", "answer")
	two := m.session("/work/app", "aaaa-2", nil, "two")
	m.session("/work/other", "bbbb-1", nil, "three")
	if got := names(list(t, m.home, "")); got != "one, two, three" {
		t.Fatal(got)
	}
	index := filepath.Join(store.Projects(m.home), indexName)
	info, err := os.Stat(index)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the index has mode %v", info.Mode())
	}

	// Add a title and a message.
	if err := store.Annotate(one, store.Title("Uno")); err != nil {
		t.Fatal(err)
	}
	l, _, err := store.Resume(store.Options{Session: "aaaa-2", Path: two}, store.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Append(msg.Entry{ID: "x", Parent: "aaaa-2-m0", Time: start, Message: msg.UserText("more")}), l.Close()); err != nil {
		t.Fatal(err)
	}
	got := list(t, m.home, "/work/app")
	if names(got) != "two, Uno" || got[0].Messages != 2 || got[1].Messages != 2 {
		t.Errorf("%+v", got)
	}
	// Another log replaces the first.
	other := m.session("/work/app", "cccc-1", nil, "another")
	if err := os.Rename(other, one); err != nil {
		t.Fatal(err)
	}
	if got := names(list(t, m.home, "")); got != "two, three, another" {
		t.Error(got)
	}
	if err := os.Remove(one); err != nil {
		t.Fatal(err)
	}
	if got := names(list(t, m.home, "")); got != "two, three" {
		t.Error(got)
	}
	good, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty": nil, "garbage": []byte("garbage"), "cut": good[:len(good)-3], "of another version": append([]byte("adze sessions 9\n"), good[16:]...),
		"flipped": append(append([]byte{}, good[:40]...), append([]byte{good[40] ^ 1}, good[41:]...)...),
	} {
		if err := os.WriteFile(index, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := names(list(t, m.home, "")); got != "two, three" {
			t.Errorf("%s index: %s", name, got)
		}
		if again, err := os.ReadFile(index); err != nil || string(again[:16]) != indexFormat.Mark {
			t.Errorf("%s index is not made anew: %v", name, err)
		}
	}
	// An index that cannot be written is ignored.
	if err := errors.Join(os.Remove(index), os.Mkdir(index, 0o700)); err != nil {
		t.Fatal(err)
	}
	if got := names(list(t, m.home, "")); got != "two, three" {
		t.Error(got)
	}
	if left, _ := filepath.Glob(index + ".*"); len(left) != 0 {
		t.Errorf("%q is left", left)
	}
}

// FuzzIndex checks that a forged index with a valid checksum does no harm, and that a decoded
// index survives a round trip.
func FuzzIndex(f *testing.F) {
	path := filepath.Join(f.TempDir(), "index")
	f.Add("\x01\x01a\x01t\x00\x00\x00\x00\x03\x01" + strings.Repeat("\x02", 40))
	f.Add("\xff\xff\xff\x01")
	f.Fuzz(func(t *testing.T, data string) {
		known := decodeIndex(cachefile.NewReader(data))
		if known == nil {
			return
		}
		if err := indexFormat.Save(path, encodeIndex(known)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(known, decodeIndex(indexFormat.Load(path)), cmp.AllowUnexported(listed{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestLargeLogs(t *testing.T) {
	m := &maker{t: t, home: t.TempDir()}
	texts := []string{"what it is about"}
	for range 999 {
		texts = append(texts, strings.Repeat("x", 2000))
	}
	m.session("/work/app", "large", []store.Note{store.Title("Late title")}, texts...)
	m.session("/work/app", "long", nil, "a first prompt that is long "+strings.Repeat("word \"x\" ", 50_000), "answer")
	got := list(t, m.home, "/work/app")
	if len(got) != 2 {
		t.Fatal(names(got))
	}
	large := got[0]
	if large.Title != "Late title" || large.AutoTitle != "what it is about" || !large.About || large.Messages < 900 || large.Messages > 1100 || large.Branch != "main" {
		t.Errorf("%+v", large)
	}
	if !strings.HasPrefix(got[1].AutoTitle, `a first prompt that is long word "x" word`) {
		t.Errorf("%+v", got[1])
	}
}

// TestMessagesAreThoseOfTheUserAndTheModel checks that only prompts and answers are counted:
// not calls, results or reminders to the model.
func TestMessagesAreThoseOfTheUserAndTheModel(t *testing.T) {
	l, err := store.Open(store.Options{Home: t.TempDir(), Dir: "/x", Session: "s", NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	use := msg.NewToolUse("u1", "Bash", `{"command":"a"}`)
	parent := ""
	for i, e := range []msg.Entry{
		{Message: msg.UserText("tell me")},
		{Message: msg.UserText("the date"), Hidden: true},
		{Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{use}}},
		{Message: msg.Message{Role: msg.User, Parts: []msg.Part{&msg.ToolResult{ID: "u1", Parts: []msg.Part{&msg.Text{Text: "r"}}}}}},
		{Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Text{Text: "so it is"}}}},
	} {
		e.ID, e.Parent, e.Time = fmt.Sprint("e", i), parent, start
		parent = e.ID
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := Describe(l.Path())
	if err != nil || info.Messages != 2 {
		t.Errorf("got %+v, %v", info, err)
	}
}

func TestForeignLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.jsonl")
	log := `{"parentUuid":null,"isSidechain":false,"isMeta":true,"cwd":"/x","sessionId":"s","type":"user","message":{"role":"user","content":"caveat"},"uuid":"m0","timestamp":"2026-11-03T12:00:00Z"}
{"parentUuid":"m0","isSidechain":false,"cwd":"/x","sessionId":"s","gitBranch":"dev","type":"user","message":{"role":"user","content":"<command-name>/clear</command-name>"},"uuid":"m1"}
{"parentUuid":"m1","isSidechain":false,"cwd":"/x","sessionId":"s","gitBranch":"dev","type":"user","message":{"role":"user","content":"the real question"},"uuid":"m2"}
{"isSidechain":false,"type":"assistant","parentUuid":"m2","uuid":"m3","gitBranch":"topic","message":{"content":[{"type":"text","text":"ok"}]}}
{"type":"summary","summary":"Summed up","leafUuid":"m3"}
`
	if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := Describe(path)
	if err != nil {
		t.Fatal(err)
	}
	want := &Info{ID: "s", Path: path, Dir: "/x", AutoTitle: "Summed up", Branch: "topic", Created: start, Messages: 3}
	if diff := cmp.Diff(want, info, cmpopts.IgnoreFields(Info{}, "Modified", "Size")); diff != "" {
		t.Error(diff)
	}
}

// Proves SESS-20.
func TestFind(t *testing.T) {
	m := &maker{t: t, home: t.TempDir()}
	const one, two, far = "3f2a9c1e-5b7d-4e80-9a61-0c4d8e2f7b13", "3f2a0000-5b7d-4e80-9a61-0c4d8e2f7b13", "77777777-5b7d-4e80-9a61-0c4d8e2f7b13"
	path := m.session("/work/app", one, []store.Note{store.Title("Fix the parser")}, "please fix it")
	m.session("/work/app", two, nil, "Write some docs")
	m.session("/work/other", far, []store.Note{store.Title("Fix the parser")}, "in another folder")
	m.session("/work/other", "88888888-5b7d-4e80-9a61-0c4d8e2f7b13", []store.Note{store.Title("Far away")}, "x")
	m.session("/work/other", "99999999-5b7d-4e80-9a61-0c4d8e2f7b13", []store.Note{store.Title("Twin")}, "x")
	m.session("/work/other", "99990000-5b7d-4e80-9a61-0c4d8e2f7b13", []store.Note{store.Title("Twin")}, "x")
	for what, want := range map[string]string{
		one: one, strings.ToUpper(one): one, far: far,
		"Fix the parser": one, "fix THE parser": one, "Write some docs": two, "Far away": "88888888-5b7d-4e80-9a61-0c4d8e2f7b13",
		"3f2a9": one, "7777": far, "Fix": "", "Fix t": one, "Far a": "88888888-5b7d-4e80-9a61-0c4d8e2f7b13", "  " + one + " ": one,
		path: one,
	} {
		got, err := Find(m.home, "/work/app", what)
		if want == "" {
			if err == nil {
				t.Errorf("%q: %s", what, got.ID)
			}
			continue
		}
		if err != nil || got.ID != want {
			t.Errorf("%q: %v, %v", what, got, err)
		}
	}
	if got, err := Find(m.home, filepath.Dir(path), filepath.Base(path)); err != nil || got.ID != one || got.Dir != "/work/app" {
		t.Errorf("a relative path: %v, %v", got, err)
	}
	var unknown *UnknownError
	for what, want := range map[string]string{
		"3f2b9c1e-5b7d-4e80-9a61-0c4d8e2f7b13": `no session "3f2b9c1e-5b7d-4e80-9a61-0c4d8e2f7b13"; did you mean ` + one + " (Fix the parser), " + two + " (Write some docs)",
		"Fix the parsre":                       one + " (Fix the parser)",
		"docs":                                 two,
		"zzzzzzzz":                             "adze sessions list --all",
	} {
		_, err := Find(m.home, "/work/app", what)
		if !errors.As(err, &unknown) || len(unknown.Near) > 3 || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", what, err)
		}
	}
	var ambiguous *AmbiguousError
	for _, what := range []string{"Twin", "9999", "3f2a"} {
		if _, err := Find(m.home, "/work/app", what); !errors.As(err, &ambiguous) || len(ambiguous.Matches) != 2 {
			t.Errorf("%q: %v", what, err)
		}
	}
	if _, err := Find(m.home, "/work/app", "no/such.jsonl"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no/such.jsonl") {
		t.Errorf("no file: %v", err)
	}
	for _, what := range []string{"", " ", "../x", "*", "[", "a/b"} {
		if got, err := Find(m.home, "/work/app", what); err == nil {
			t.Errorf("%q: %v", what, got)
		}
	}
}

// Proves SESS-20.
func TestLatest(t *testing.T) {
	m := &maker{t: t, home: t.TempDir()}
	m.session("/work/app", "newer", nil, "x")
	m.session("/work/app", "older", nil, "x")
	m.session("/work/other", "other", nil, "x")
	if got, err := Latest(m.home, "/work/app"); err != nil || got.ID != "newer" {
		t.Error(got, err)
	}
	var unknown *UnknownError
	if _, err := Latest(m.home, "/work/none"); !errors.As(err, &unknown) {
		t.Error(err)
	}
}

func tool(id, name, input, result string) []msg.Entry {
	return []msg.Entry{
		{ID: id + "u", Time: start, Model: "m", Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.ToolUse{ID: id, Name: name, Input: json.RawMessage(input)}}}},
		{ID: id + "r", Time: start, Message: msg.Message{Role: msg.User, Parts: []msg.Part{&msg.ToolResult{ID: id, Parts: []msg.Part{&msg.Text{Text: result}}}}}},
	}
}
