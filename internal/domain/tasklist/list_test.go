package tasklist

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A fixture is a separate list with the warnings it gave.
type fixture struct {
	*List
	t      testing.TB
	warned []string
}

func newList(t testing.TB) *fixture {
	t.Helper()
	home := t.TempDir()
	f := &fixture{t: t}
	f.List = Open(Config{Dir: Dir(home, "l"), Locks: filepath.Join(home, "locks"), Warn: func(text string) { f.warned = append(f.warned, text) }})
	return f
}

// add adds tasks with these subjects.
func (f *fixture) add(subjects ...string) {
	f.t.Helper()
	for _, s := range subjects {
		if _, err := f.Create(f.t.Context(), Draft{Subject: s}, nil); err != nil {
			f.t.Fatal(err)
		}
	}
}

// update changes a task and returns the error.
func (f *fixture) update(id string, c Change) error {
	_, _, err := f.Update(f.t.Context(), id, c)
	return err
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// shown formats the list: id, status, owner, dependencies and dependents.
func (f *fixture) shown() string {
	f.t.Helper()
	all, err := f.Tasks(f.t.Context())
	f.must(err)
	var lines []string
	for _, t := range all {
		line := t.ID + " " + string(t.Status)
		if t.Owner != "" {
			line += " " + t.Owner
		}
		if len(t.BlockedBy) > 0 {
			line += " after " + strings.Join(t.BlockedBy, ",")
		}
		if len(t.Blocks) > 0 {
			line += " before " + strings.Join(t.Blocks, ",")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

func (f *fixture) expect(want string) {
	f.t.Helper()
	if got := f.shown(); got != want {
		f.t.Errorf("the list is %q, not %q", got, want)
	}
}

// file overwrites a task's file.
func (f *fixture) file(id, content string) {
	f.t.Helper()
	f.must(os.WriteFile(filepath.Join(f.cfg.Dir, id+".json"), []byte(content), 0o600))
}

func ptr[T any](v T) *T { return &v }

// TestRecord checks that a task is stored unchanged, and updated field by field.
//
// Proves TASK-01.
func TestRecord(t *testing.T) {
	f := newList(t)
	made, err := f.Create(t.Context(), Draft{Subject: " Fix it ", Description: "all of it", ActiveForm: "Fixing", Metadata: map[string]json.RawMessage{"n": json.RawMessage("1"), "m": json.RawMessage(`"x"`)}}, nil)
	f.must(err)
	want := Task{ID: "1", Subject: "Fix it", Description: "all of it", ActiveForm: "Fixing", Status: Pending, Blocks: []string{}, BlockedBy: []string{},
		Metadata: map[string]json.RawMessage{"n": json.RawMessage("1"), "m": json.RawMessage(`"x"`)}}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
	was, is, err := f.Update(t.Context(), "1", Change{Status: ptr(InProgress), Owner: ptr("ada"), Metadata: map[string]json.RawMessage{"n": json.RawMessage("null"), "k": json.RawMessage("true")}})
	f.must(err)
	if diff := cmp.Diff(want, was); diff != "" {
		t.Error(diff)
	}
	want.Status, want.Owner, want.Metadata = InProgress, "ada", map[string]json.RawMessage{"m": json.RawMessage(`"x"`), "k": json.RawMessage("true")}
	again, err := Open(f.cfg).Get(t.Context(), "1")
	f.must(err)
	for _, got := range []Task{is, again} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	info, err := os.Stat(filepath.Join(f.cfg.Dir, "1.json"))
	f.must(err)
	if info.Mode().Perm() != 0o600 {
		t.Error(info.Mode())
	}
}

// TestDependencies checks that dependencies are visible from both sides, and that cycles,
// self-dependencies and unknown tasks are refused without changing anything.
//
// Proves TASK-01.
func TestDependencies(t *testing.T) {
	f := newList(t)
	f.add("a", "b", "c", "d")
	f.must(f.update("2", Change{BlockedBy: []string{"1"}, Blocks: []string{"3"}}))
	f.expect("1 pending before 2; 2 pending after 1 before 3; 3 pending after 2; 4 pending")
	for _, bad := range []struct {
		id   string
		c    Change
		want string
	}{
		{"1", Change{BlockedBy: []string{"1"}}, "task 1 cannot wait for itself"},
		{"1", Change{BlockedBy: []string{"3"}, Status: ptr(Completed)}, "task 1 cannot wait for task 3, which waits for 1 already"},
		{"3", Change{Blocks: []string{"1"}}, "task 1 cannot wait for task 3, which waits for 1 already"},
		{"4", Change{Blocks: []string{"1"}, BlockedBy: []string{"3"}}, "task 4 cannot wait for task 3, which waits for 4 already"},
		{"4", Change{Blocks: []string{"1", "9"}}, `no such task: "9"`},
		{"4", Change{Blocks: []string{"../1"}}, `no such task: "../1"`},
		{"04", Change{}, `no such task: "04"`},
		{"", Change{}, `no such task: ""`},
		{"4", Change{Subject: ptr(" ")}, "a task needs a subject"},
		{"4", Change{Status: ptr(Status("done"))}, `"done" is not a status; there are pending, in_progress and completed`},
		{"4", Change{Subject: ptr(strings.Repeat("ä", maxSubject+1))}, "the subject is longer than 1000 characters; put details into the description"},
	} {
		if err := f.update(bad.id, bad.c); err == nil || err.Error() != bad.want {
			t.Errorf("%s: %v, not %s", bad.id, err, bad.want)
		}
	}
	f.expect("1 pending before 2; 2 pending after 1 before 3; 3 pending after 2; 4 pending")
	f.must(f.update("2", Change{BlockedBy: []string{"1"}})) // again
	_, err := f.Delete(t.Context(), "2")
	f.must(err)
	f.expect("1 pending; 3 pending; 4 pending")
	for _, id := range []string{"1", "3"} {
		data, err := os.ReadFile(filepath.Join(f.cfg.Dir, id+".json"))
		f.must(err)
		if strings.Contains(string(data), `"2"`) {
			t.Errorf("%s", data)
		}
	}
	if _, err := f.Delete(t.Context(), "2"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

// TestIDsIncrease checks that no id is reused after any removal.
//
// Proves TASK-01.
func TestIDsIncrease(t *testing.T) {
	f := newList(t)
	f.add("a", "b", "c")
	for _, id := range []string{"3", "2", "1"} {
		_, err := f.Delete(t.Context(), id)
		f.must(err)
	}
	f.add("d")
	f.expect("4 pending")
	_, err := f.Create(t.Context(), Draft{Subject: "no"}, func(task Task) error { return fmt.Errorf("no task %s", task.ID) })
	if err == nil || err.Error() != "no task 5" {
		t.Error(err)
	}
	f.add("e")
	f.expect("4 pending; 6 pending")
	f.must(os.Remove(filepath.Join(f.cfg.Dir, "6.json"))) // manually
	f.add("f")
	f.expect("4 pending; 7 pending")
	f.must(os.WriteFile(filepath.Join(f.cfg.Dir, markFile), []byte("rubbish"), 0o600))
	f.add("g")
	f.expect("4 pending; 7 pending; 8 pending")
	f.must(os.Remove(filepath.Join(f.cfg.Dir, markFile)))
	_, err = f.Delete(t.Context(), "8") // list created by another program
	f.must(err)
	f.add("h")
	f.expect("4 pending; 7 pending; 9 pending")
}

// TestBrokenFiles checks that an unusable file is skipped with a single warning, and that its
// dependents keep waiting until it is deleted.
//
// Proves TASK-01.
func TestBrokenFiles(t *testing.T) {
	for name, content := range map[string]string{
		"half": `{"id":"2","subject":"x"`, "empty": "", "list": "[]", "null": "null", "other id": `{"id":"3","subject":"x","status":"pending"}`,
		"no status": `{"id":"2","subject":"x"}`, "no subject": `{"id":"2","status":"pending"}`, "wrong type": `{"id":2,"subject":"x","status":"pending"}`,
		"wrong dependency": `{"id":"2","subject":"x","status":"pending","blockedBy":["../../x"]}`, "large": strings.Repeat(" ", maxFile) + "{}",
	} {
		t.Run(name, func(t *testing.T) {
			f := newList(t)
			f.add("a", "b", "c")
			f.must(f.update("3", Change{BlockedBy: []string{"2"}}))
			f.file("2", content)
			f.expect("1 pending; 3 pending after 2")
			f.expect("1 pending; 3 pending after 2")
			if len(f.warned) != 1 || !strings.HasPrefix(f.warned[0], "task 2 of the task list is left out: "+filepath.Join(f.cfg.Dir, "2.json")) {
				t.Errorf("warned of %q", f.warned)
			}
			if _, err := f.Get(t.Context(), "2"); err == nil || !strings.Contains(err.Error(), "it can only be deleted") {
				t.Error(err)
			}
			var refused *Refusal
			if _, err := f.Claim(t.Context(), "3", "ada"); !errors.As(err, &refused) || refused.Reason != Blocked {
				t.Error(err)
			}
			f.add("d")
			_, err := f.Delete(t.Context(), "2")
			f.must(err)
			f.expect("1 pending; 3 pending; 4 pending")
		})
	}
}

// TestHostileFiles checks that symlinks, directories and pipes in place of a task are not
// followed, and that nothing waits for them.
func TestHostileFiles(t *testing.T) {
	f := newList(t)
	f.add("a")
	outside := filepath.Join(t.TempDir(), "x.json")
	f.must(os.WriteFile(outside, []byte(`{"id":"2","subject":"stolen","status":"pending"}`), 0o600))
	f.must(os.Symlink(outside, filepath.Join(f.cfg.Dir, "2.json")))
	f.must(os.Mkdir(filepath.Join(f.cfg.Dir, "3.json"), 0o700))
	pipe(t, filepath.Join(f.cfg.Dir, "4.json"))
	f.file("007", `{"id":"007","subject":"x","status":"pending"}`)
	f.file("99999999999999999999", `{"id":"99999999999999999999","subject":"x","status":"pending"}`)
	f.expect("1 pending")
	f.add("b")
	f.expect("1 pending; 5 pending")
	_, err := f.Delete(t.Context(), "2")
	f.must(err)
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

// TestBounds checks the size limits of tasks and of the list.
func TestBounds(t *testing.T) {
	f := newList(t)
	if _, err := f.Create(t.Context(), Draft{Subject: "x", Description: strings.Repeat("x", maxFile)}, nil); err == nil || !strings.Contains(err.Error(), "write long texts to a file") {
		t.Error(err)
	}
	f.must(os.MkdirAll(f.cfg.Dir, 0o700))
	for n := range MaxTasks {
		id := fmt.Sprint(n + 1)
		f.file(id, `{"id":"`+id+`","subject":"x","status":"completed"}`)
	}
	start := time.Now()
	if _, err := f.Create(t.Context(), Draft{Subject: "x"}, nil); err == nil || !strings.Contains(err.Error(), "delete completed tasks") {
		t.Error(err)
	}
	t.Logf("a full list is read in %v", time.Since(start))
}

// TestChangesAreSeen checks that a minimal change right after the list was read is seen.
func TestChangesAreSeen(t *testing.T) {
	f := newList(t)
	f.add("a")
	other := Open(f.cfg)
	for i := range 50 {
		want := []Status{InProgress, Pending}[i%2]
		if _, _, err := other.Update(t.Context(), "1", Change{Status: &want, Subject: ptr(fmt.Sprintf("%02d", i))}); err != nil {
			t.Fatal(err)
		}
		got, err := f.Get(t.Context(), "1")
		f.must(err)
		if got.Status != want || got.Subject != fmt.Sprintf("%02d", i) {
			t.Fatalf("%d: %+v", i, got)
		}
	}
}

// TestCopy checks that a copy is independent.
func TestCopy(t *testing.T) {
	f := newList(t)
	f.add("a", "b")
	_, err := f.Delete(t.Context(), "2")
	f.must(err)
	c := f.cfg
	c.Dir += "-copy"
	f.must(Copy(f.cfg.Dir, c.Dir))
	twin := &fixture{List: Open(c), t: t}
	twin.add("c")
	twin.expect("1 pending; 3 pending")
	f.expect("1 pending")
	f.must(Copy(f.cfg.Dir, c.Dir))
	twin.expect("1 pending; 3 pending")
	f.must(Copy(f.cfg.Dir+"-none", c.Dir+"-none"))
}

// Proves TEAM-03.
func TestChoose(t *testing.T) {
	all := Names{Named: "env", Member: "member", Team: "team", Led: "led", Earlier: "earlier", Session: "session"}
	var got []string
	for _, drop := range []*string{nil, &all.Named, &all.Member, &all.Team, &all.Led, &all.Earlier} {
		if drop != nil {
			*drop = ""
		}
		id, err := all.Choose()
		if err != nil {
			t.Error(err)
		}
		got = append(got, id)
	}
	if diff := cmp.Diff([]string{"env", "member", "team", "led", "earlier", "session"}, got); diff != "" {
		t.Error(diff)
	}
	for _, id := range []string{"../x", "a/b", `a\b`, "..", ".", "a..b", "/etc", "~", "a b", "a\x00", "ü", ".hidden", "a.", "a\n", strings.Repeat("a", 129), "C:"} {
		if got, err := (Names{Named: id, Session: "s"}).Choose(); err == nil || !strings.Contains(err.Error(), "ADZE_TASK_LIST_ID names the task list") {
			t.Errorf("%q: %q, %v", id, got, err)
		}
	}
	for _, id := range []string{"0199a1b2-77aa-7000-8000-000000000000", "team_1", "a.b"} {
		if got, err := (Names{Team: id}).Choose(); got != id || err != nil {
			t.Errorf("%q: %q, %v", id, got, err)
		}
	}
	for names, want := range map[Names]string{
		{Earlier: "../x", Session: "s"}: "s",
		{Session: "../../a b"}:          "session-------a-b-",
	} {
		if got, err := names.Choose(); err != nil || !validID(got) || !strings.HasPrefix(got, want) {
			t.Errorf("%+v: %q, %v", names, got, err)
		}
	}
	if _, err := (Names{}).Choose(); err == nil {
		t.Error("a list without a name")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":"7","subject":"x","description":"","status":"pending","blocks":["1"],"blockedBy":["2"],"metadata":{"a":null}}`))
	f.Add([]byte(`{"id":"7","subject":"\u0000","status":"completed","metadata":{"_internal":true}}`))
	f.Add([]byte(`{"id":"7","subject":"x","status":"done"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		task, err := decode(7, data)
		if err != nil {
			return
		}
		again, err := task.encode()
		if err != nil {
			if len(data) < maxFile/16 {
				t.Fatal(err)
			}
			return
		}
		second, err := decode(7, again)
		if err != nil || second.Subject != task.Subject || second.Status != task.Status || second.Internal() != task.Internal() {
			t.Fatalf("%+v became %+v, %v", task, second, err)
		}
	})
}
