package filehistory

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/platform/fs/replace"
)

var (
	ann = Author{ID: "a1", Title: "Ann"}
	bob = Author{ID: "a2", Title: "Bob"}
)

const twelve = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"

// swap replaces a line in a text.
func swap(text, line, by string) string {
	return strings.Replace(text, "\n"+line+"\n", "\n"+by+"\n", 1)
}

// TestUndoOfAnAgent checks that undoing one agent's changes does not affect others' changes.
//
// Proves HIST-04, SESS-31.
func TestUndoOfAnAgent(t *testing.T) {
	type change struct {
		by   Author
		line string // line to replace by its name
		name string
	}
	user := Author{ID: userID}
	tests := []struct {
		name    string
		changes []change
		want    []string // lines that remain of the changes; nil means that the file is not changed
		later   string   // author who made the undo impossible
	}{
		{"alone", []change{{ann, "3", "A"}}, []string{}, ""},
		{"twice", []change{{ann, "3", "A"}, {ann, "A", "B"}}, []string{}, ""},
		{"after another", []change{{bob, "3", "B"}, {ann, "8", "A"}}, []string{"B"}, ""},
		{"over another", []change{{bob, "3", "B"}, {ann, "B", "A"}}, []string{"B"}, ""},
		{"before another, elsewhere", []change{{ann, "3", "A"}, {bob, "8", "B"}}, []string{"B"}, ""},
		{"before the main conversation", []change{{ann, "3", "A"}, {Author{}, "8", "M"}}, []string{"M"}, ""},
		{"around another", []change{{ann, "3", "A"}, {bob, "8", "B"}, {ann, "11", "C"}}, []string{"B"}, ""},
		{"around two others", []change{{ann, "3", "A"}, {bob, "6", "B"}, {ann, "8", "C"}, {Author{}, "11", "M"}}, []string{"B", "M"}, ""},
		{"before another, in the same line", []change{{ann, "3", "A"}, {bob, "A", "B"}}, nil, "Bob"},
		{"before another, in the next line", []change{{ann, "3", "A"}, {bob, "4", "B"}}, nil, "Bob"},
		{"before two others", []change{{ann, "3", "A"}, {bob, "A", "B"}, {Author{}, "B", "M"}}, nil, "Bob main"},
		{"before the user", []change{{ann, "3", "A"}, {user, "8", "U"}}, nil, "outside"}, // the agent's version is not stored
		{"before another and the user", []change{{ann, "3", "A"}, {bob, "8", "B"}, {user, "11", "U"}}, []string{"B", "U"}, ""},
		{"before the user and another", []change{{ann, "3", "A"}, {user, "8", "U"}, {bob, "11", "B"}}, nil, "Bob outside"},
		{"after the user", []change{{user, "3", "U"}, {ann, "8", "A"}}, []string{"U"}, ""},
		{"after the user, twice", []change{{ann, "3", "A"}, {user, "6", "U"}, {ann, "8", "B"}}, nil, "outside"},
		{"nothing", []change{{bob, "3", "B"}}, []string{"B"}, ""},
	}
	for _, tt := range tests {
		for _, reopen := range []bool{false, true} {
			p := newProject(t)
			p.outside("f", twelve)
			p.outside("other", "zero\n")
			p.Begin("m1")
			p.editBy(ann, "other", "one\n")
			now := twelve
			for i, c := range tt.changes {
				if i == 1 {
					p.Begin("m2")
				}
				now = swap(now, c.line, c.name)
				if c.by.ID == userID {
					p.outside("f", now)
				} else {
					p.editBy(c.by, "f", now)
				}
			}
			if reopen {
				p.reopen()
			}
			dry, err := p.Rewind(t.Context(), ann.ID, Options{DryRun: true})
			if err != nil {
				t.Fatal(tt.name, err)
			}
			report, err := p.Rewind(t.Context(), ann.ID, Options{})
			if err != nil {
				t.Fatal(tt.name, err)
			}
			if diff := cmp.Diff(dry.Changes, report.Changes); diff != "" {
				t.Errorf("%s: told before and after: %s", tt.name, diff)
			}
			letters := regexp.MustCompile(`[A-Z]`).FindAllString(p.files()["f"], -1)
			switch {
			case tt.want == nil && (p.files()["f"] != now || len(report.Later) != 1 || laterAuthors(report.Later[0]) != tt.later):
				t.Errorf("%s: it became %q, %+v", tt.name, p.files()["f"], report.Later)
			case tt.want != nil && (!slices.Equal(letters, tt.want) && len(tt.want)+len(letters) > 0 || report.Later != nil):
				t.Errorf("%s: it became %q, %+v", tt.name, p.files()["f"], report.Later)
			}
			if got := p.files()["other"]; got != "zero\n" {
				t.Errorf("%s: the other file is %q", tt.name, got)
			}
			if again, err := p.Rewind(t.Context(), ann.ID, Options{}); err != nil || len(again.Changes) != 0 {
				t.Errorf("%s: a second time it takes back %+v, %v", tt.name, again.Changes, err)
			}
			if reopen {
				p.reopen()
			}
			if _, err := p.Rewind(t.Context(), report.Undo, Options{UndoRewind: true}); err != nil {
				t.Fatal(tt.name, err)
			}
			if diff := cmp.Diff(map[string]string{"f": now, "other": "one\n"}, p.files()); diff != "" {
				t.Errorf("%s: taken back (-want +got):\n%s", tt.name, diff)
			}
			if tt.want == nil {
				continue
			}
			// Then it can be done again.
			if again, err := p.Rewind(t.Context(), ann.ID, Options{}); err != nil || len(again.Changes) != len(report.Changes) || again.Later != nil {
				t.Errorf("%s: done again it is %+v, %v", tt.name, again, err)
			}
		}
	}
}

// laterAuthors returns the authors of a later change.
func laterAuthors(l LaterChange) string {
	var names []string
	for _, a := range l.By {
		if a.ID == "" {
			a.Title = "main"
		}
		names = append(names, a.Title)
	}
	if l.Outside {
		names = append(names, "outside")
	}
	return strings.Join(names, " ")
}

// TestUndoOfWholeFiles checks that files created by an agent are removed, and that binary files
// are restored as a whole.
//
// Proves HIST-04.
func TestUndoOfWholeFiles(t *testing.T) {
	p := newProject(t)
	binary := "\x00" + twelve
	p.outside("binary", binary)
	p.Begin("m1")
	p.editBy(ann, "new", "a\n")
	p.editBy(ann, "new, then changed", twelve)
	p.editBy(bob, "new, then changed", swap(twelve, "6", "B"))
	p.editBy(ann, "binary", binary+"a\n")
	p.editBy(ann, "binary and another", "\x00")
	p.editBy(bob, "binary and another", "\x00\x00")
	p.editBy(ann, "removed", "a\n")
	if err := os.Remove(p.path("removed")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p.path("binary"), 0o700); err != nil {
		t.Fatal(err)
	}
	report, err := p.Rewind(t.Context(), ann.ID, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"binary": binary, "new, then changed": swap(twelve, "6", "B"), "binary and another": "\x00\x00"}
	if diff := cmp.Diff(want, p.files()); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(p.path("binary")); err != nil || hasModes && info.Mode().Perm() != 0o700 {
		t.Errorf("the mode that the user gave it is %v, %v", info.Mode(), err)
	}
	var later []string
	for _, l := range report.Later {
		later = append(later, strings.TrimPrefix(l.Path, p.root+string(os.PathSeparator))+": "+laterAuthors(l))
	}
	if diff := cmp.Diff([]string{"binary and another: Bob", "new, then changed: Bob"}, later); diff != "" {
		t.Error(diff)
	}
}

// TestUndoOfChangesAtTheSameTime checks that agents that backed up a file at the same time do
// not undo each other: the state that the second one found is uncertain.
func TestUndoOfChangesAtTheSameTime(t *testing.T) {
	p := newProject(t)
	p.outside("f", twelve)
	p.Begin("m1")
	first, err := p.Backup(t.Context(), p.path("f"), ann)
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.Backup(t.Context(), p.path("f"), bob)
	if err != nil {
		t.Fatal(err)
	}
	theirs := swap(twelve, "3", "A")
	both := swap(theirs, "8", "B")
	for _, c := range []struct {
		change int64
		text   string
	}{{first, theirs}, {second, both}} {
		p.Writing(c.change, p.path("f"), sha256.Sum256([]byte(c.text)))
		p.outside("f", c.text)
		p.Wrote(c.change, p.path("f"), sha256.Sum256([]byte(c.text)))
	}
	for _, a := range []Author{ann, bob} {
		report, err := p.Rewind(t.Context(), a.ID, Options{})
		if err != nil || p.files()["f"] != both || len(report.Later) != 1 {
			t.Errorf("undo of %s: %q, %+v, %v", a.Title, p.files()["f"], report.Later, err)
		}
	}
	// Two calls by one agent count as one change.
	p.editBy(bob, "f", twelve)
	var calls []int64
	for range 2 {
		c, err := p.Backup(t.Context(), p.path("f"), ann)
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, c)
	}
	for i, text := range []string{theirs, swap(theirs, "8", "A")} {
		p.Writing(calls[1-i], p.path("f"), sha256.Sum256([]byte(text)))
		p.outside("f", text)
		p.Wrote(calls[1-i], p.path("f"), sha256.Sum256([]byte(text)))
	}
	if _, err := p.Rewind(t.Context(), ann.ID, Options{}); err != nil || p.files()["f"] != twelve {
		t.Errorf("undo of two calls: %q, %v", p.files()["f"], err)
	}
}

// TestUndoAfterARefusal checks that an edit refused after the backup does not count as a
// change.
func TestUndoAfterARefusal(t *testing.T) {
	p := newProject(t)
	p.outside("f", twelve)
	p.Begin("m1")
	p.editBy(ann, "f", swap(twelve, "3", "A"))
	for range 2 {
		if _, err := p.Backup(t.Context(), p.path("f"), bob); err != nil {
			t.Fatal(err)
		}
	}
	p.reopen()
	if report, err := p.Rewind(t.Context(), bob.ID, Options{}); err != nil || len(report.Changes) > 0 || report.Undo != "" {
		t.Errorf("the agent that was refused: %+v, %v", report, err)
	}
	if _, err := p.Rewind(t.Context(), ann.ID, Options{}); err != nil || p.files()["f"] != twelve {
		t.Errorf("%q, %v", p.files()["f"], err)
	}
	agents, paths := Agents(p.History)
	if diff := cmp.Diff([]Author{ann}, agents); diff != "" || len(paths[ann.ID]) != 1 {
		t.Error(diff, paths)
	}
}

// TestUndoAfterAKill checks that a change counts even if the process was killed between the
// write and its record.
func TestUndoAfterAKill(t *testing.T) {
	p := newProject(t)
	p.outside("f", twelve)
	p.Begin("m1")
	p.editBy(bob, "f", swap(twelve, "8", "B"))
	text := swap(p.files()["f"], "3", "A")
	change, err := p.Backup(t.Context(), p.path("f"), ann)
	if err != nil {
		t.Fatal(err)
	}
	p.Writing(change, p.path("f"), sha256.Sum256([]byte(text)))
	p.outside("f", text)
	p.reopen()
	if _, err := p.Rewind(t.Context(), ann.ID, Options{}); err != nil || p.files()["f"] != swap(twelve, "8", "B") {
		t.Errorf("%q, %v", p.files()["f"], err)
	}
}

// TestHistoryWithoutAuthors checks that an old history without authors can be read and
// continued.
//
// Proves HIST-02.
func TestHistoryWithoutAuthors(t *testing.T) {
	p := newProject(t)
	p.outside("f", twelve)
	p.Begin("m1")
	p.edit("f", swap(twelve, "3", "M"))
	p.Begin("m2")
	p.edit("f", swap(p.files()["f"], "5", "N"))
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p.History = nil
	data, err := os.ReadFile(p.dir + "/index.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var old []byte
	for line := range bytes.Lines(data) {
		line = regexp.MustCompile(`,"sum":"[0-9a-f]{8}"|,"change":[0-9]+`).ReplaceAll(line, nil)
		old = append(old, regexp.MustCompile(`"n":[0-9]+,?`).ReplaceAll(line, nil)...)
	}
	if bytes.Contains(old, []byte("change")) || bytes.Contains(old, []byte(`"n"`)) {
		t.Fatalf("%s", old)
	}
	if err := os.WriteFile(p.dir+"/index.jsonl", old, 0o600); err != nil {
		t.Fatal(err)
	}
	p.reopen()
	p.Begin("m3")
	before := p.files()["f"]
	p.editBy(ann, "f", swap(before, "10", "A"))
	p.reopen()
	if _, err := p.Rewind(t.Context(), ann.ID, Options{}); err != nil || p.files()["f"] != before {
		t.Errorf("%q, %v", p.files()["f"], err)
	}
	if _, err := p.Rewind(t.Context(), "m1", Options{}); err != nil || p.files()["f"] != twelve {
		t.Errorf("to the first message: %q, %v", p.files()["f"], err)
	}
}

// TestTakeBackARewindAlone checks that undoing a rewind keeps later changes.
//
// Proves HIST-04.
func TestTakeBackARewindAlone(t *testing.T) {
	p := newProject(t)
	for _, name := range []string{"f", "g", "h"} {
		p.outside(name, "zero\n")
	}
	p.Begin("m1")
	p.edit("f", "one\n")
	p.edit("g", "one\n")
	report, err := p.Rewind(t.Context(), "m1", Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.editBy(ann, "g", "of Ann\n")
	p.editBy(ann, "h", "of Ann\n")
	back, err := p.Rewind(t.Context(), report.Undo, Options{UndoRewind: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"f": "one\n", "g": "of Ann\n", "h": "of Ann\n"}, p.files()); diff != "" {
		t.Error(diff)
	}
	if len(back.Later) != 1 || back.Later[0].Path != p.path("g") || laterAuthors(back.Later[0]) != "Ann" {
		t.Errorf("left are %+v", back.Later)
	}
	if _, err := p.Rewind(t.Context(), "m1", Options{UndoRewind: true}); err == nil {
		t.Error("a message was taken for a rewind")
	}
	for _, id := range []string{"a9", "", userID} {
		if _, err := p.Rewind(t.Context(), id, Options{}); err == nil {
			t.Errorf("an agent %q, which there is not, was undone", id)
		}
	}
}

// TestRewindBesideAnAgent checks that a file changed by an agent during a rewind is not
// overwritten, and that the other files are reverted.
//
// Proves HIST-04.
func TestRewindBesideAnAgent(t *testing.T) {
	p := newProject(t)
	for _, name := range []string{"a", "b", "c"} {
		p.outside(name, "zero\n")
	}
	p.Begin("m1")
	for _, name := range []string{"a", "b", "c", "d"} {
		p.editBy(ann, name, "one\n")
	}
	p.write = func(path string, data []byte, mode os.FileMode) error {
		if path == p.path("b") {
			p.outside("c", "of Bob\n")
		}
		return replace.WriteFile(path, data, mode)
	}
	_, err := p.Rewind(t.Context(), ann.ID, Options{})
	if err == nil || !strings.Contains(err.Error(), p.path("c")+": it was changed just now") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(map[string]string{"a": "one\n", "b": "one\n", "c": "of Bob\n", "d": "one\n"}, p.files()); diff != "" {
		t.Error(diff)
	}
}

// TestUndoAfterCompaction checks that authors and order of changes survive dropping the oldest
// messages and compaction.
//
// Proves HIST-02.
func TestUndoAfterCompaction(t *testing.T) {
	p := newProject(t)
	p.outside("f", twelve)
	p.outside("g", twelve)
	p.Begin("m0")
	p.editBy(ann, "f", swap(twelve, "2", "OLD"))
	for i := range maxSnapshots {
		p.Begin(fmt.Sprint("m", i+1))
		p.edit("other", fmt.Sprint(i))
	}
	p.editBy(bob, "f", swap(p.files()["f"], "5", "B"))
	p.editBy(ann, "f", swap(p.files()["f"], "8", "A"))
	p.editBy(bob, "f", swap(p.files()["f"], "11", "C"))
	var calls []int64
	for _, a := range []Author{ann, bob} { // concurrently
		c, err := p.Backup(t.Context(), p.path("g"), a)
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, c)
	}
	for i, text := range []string{swap(twelve, "3", "A"), swap(swap(twelve, "3", "A"), "9", "B")} {
		p.outside("g", text)
		p.Wrote(calls[i], p.path("g"), sha256.Sum256([]byte(text)))
	}
	size := func() int64 {
		info, err := os.Stat(p.dir + "/index.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	for before := int64(-1); before != size(); { // until nothing is left to drop
		before = size()
		p.reopen()
	}
	if p.authored(ann.ID) < 0 || p.ids["m0"] != nil {
		t.Fatal("the history does not begin after the first message")
	}
	both := p.files()["g"]
	report, err := p.Rewind(t.Context(), ann.ID, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := swap(swap(swap(twelve, "2", "OLD"), "5", "B"), "11", "C")
	if got := p.files(); got["f"] != want || got["g"] != both || len(report.Later) != 1 {
		t.Errorf("%q, %q, %+v", got["f"], got["g"], report.Later)
	}
	if _, err := p.Rewind(t.Context(), bob.ID, Options{}); err != nil || p.files()["f"] != swap(twelve, "2", "OLD") || p.files()["g"] != both {
		t.Errorf("%q, %q, %v", p.files()["f"], p.files()["g"], err)
	}
}

// TestUndoWithBadRecords checks that arbitrary change numbers and authors in records cause
// neither loss nor failure.
func TestUndoWithBadRecords(t *testing.T) {
	hash := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	for _, bad := range []string{
		`{"type":"left","path":"F","hash":"` + hash("zero\n") + `","change":1}`,
		`{"type":"left","path":"F","hash":"` + hash("theirs\n") + `","change":9223372036854775807}`,
		`{"type":"next","path":"F","hash":"` + hash("theirs\n") + `","change":1}`,
		`{"type":"file","path":"F","of":"m1","hash":"` + hash("theirs\n") + `","change":9223372036854775807,"by":"a1"}`,
		`{"type":"file","path":"F","of":"m1","hash":"` + hash("theirs\n") + `","change":1,"by":"user"}`,
		`{"type":"file","path":"F","of":"m1","change":-1,"by":"a1","title":"\u001b[2J"}`,
	} {
		p := newProject(t)
		p.outside("f", "zero\n")
		p.Begin("m1")
		p.editBy(ann, "f", "one\n")
		p.editBy(bob, "f", "one\ntwo\nthree\n")
		last := p.store.last
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		p.History = nil
		var r record
		if err := json.Unmarshal([]byte(bad), &r); err != nil {
			t.Fatal(err)
		}
		r.Path = p.path("f")
		line, err := encodeAll([]record{r}, last)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(p.dir+"/index.jsonl", os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = f.Write(line)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		p.reopen()
		before := p.files()["f"]
		report, err := p.Rewind(t.Context(), ann.ID, Options{Force: true})
		if err != nil {
			continue // reported, and nothing was changed
		}
		if now := p.files()["f"]; !strings.Contains(now, "two\nthree\n") {
			t.Errorf("%s: of %q there is %q, %+v", bad, before, now, report)
		}
		p.Begin("m2")
		p.editBy(bob, "f", "four\n")
		if _, err := p.Rewind(t.Context(), bob.ID, Options{DryRun: true, Force: true}); err != nil {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// An authorGroup is a group of authors that change files whose line names are unique.
type authorGroup struct {
	*project
	rt      *rapid.T
	n       int
	removed map[string]string // line name to the author who removed it
}

// lines returns the lines of a file.
func (c *authorGroup) lines(name string) []string { return strings.Fields(c.files()[name]) }

// change makes a random change by an author.
func (c *authorGroup) change(by, name string) {
	lines := c.lines(name)
	at := rapid.IntRange(0, len(lines)).Draw(c.rt, "at")
	end := min(len(lines), at+rapid.IntRange(0, 2).Draw(c.rt, "removed"))
	for _, l := range lines[at:end] {
		c.removed[l] = by
	}
	var fresh []string
	for range rapid.IntRange(0, 2).Draw(c.rt, "added") {
		c.n++
		fresh = append(fresh, fmt.Sprintf("%s.%d", by, c.n))
	}
	text := strings.Join(append(slices.Replace(lines, at, end, fresh...), ""), "\n")
	if text == c.files()[name] {
		return
	}
	if by == userID {
		c.outside(name, text)
	} else {
		c.editBy(Author{ID: strings.TrimPrefix(by, "main")}, name, text)
	}
}

// undo undoes an agent's changes and checks that no other changes are affected.
func (c *authorGroup) undo(agent string) {
	before := c.files()
	report, err := c.Rewind(c.t.Context(), agent, Options{})
	if err != nil {
		if c.authored(agent) >= 0 {
			c.rt.Fatal(err)
		}
		return
	}
	for name, was := range before {
		now := c.files()[name]
		if slices.ContainsFunc(report.Later, func(l LaterChange) bool { return l.Path == c.path(name) }) {
			if now != was {
				c.rt.Fatalf("%s was left, and changed:\n%s\n%s", name, was, now)
			}
			continue
		}
		mine := func(l string) bool { return strings.HasPrefix(l, agent+".") }
		theirs := slices.DeleteFunc(strings.Fields(was), mine)
		for _, l := range strings.Fields(now) {
			if mine(l) {
				c.rt.Fatalf("%s of %s is still there:\n%s", l, agent, now)
			}
			if !slices.Contains(theirs, l) && c.removed[l] != agent {
				c.rt.Fatalf("%s, which %s removed, is back:\n%s", l, c.removed[l], now)
			}
		}
		if left := slices.DeleteFunc(strings.Fields(now), func(l string) bool { return !slices.Contains(theirs, l) }); !slices.Equal(left, theirs) {
			c.rt.Fatalf("of %v there is left %v", theirs, left)
		}
	}
	if report.Undo == "" {
		return
	}
	done := c.files()
	if rapid.Bool().Draw(c.rt, "reopen") {
		c.reopen()
	}
	back, err := c.Rewind(c.t.Context(), report.Undo, Options{UndoRewind: true})
	if diff := cmp.Diff(before, c.files()); diff != "" || err != nil || back.Later != nil {
		c.rt.Fatalf("undone and done again (-want +got):\n%s, %v", diff, err)
	}
	if rapid.Bool().Draw(c.rt, "stay") {
		return
	}
	if _, err := c.Rewind(c.t.Context(), back.Undo, Options{UndoRewind: true}); err != nil {
		c.rt.Fatal(err)
	}
	if diff := cmp.Diff(done, c.files()); diff != "" {
		c.rt.Fatalf("the undo made again (-want +got):\n%s", diff)
	}
}

// TestUndoNeverTouchesOthers checks that, with several authors changing the same files, undoing
// one author's changes never modifies a byte of another's, and that undoing the undo leaves no
// trace.
//
// Proves HIST-04.
func TestUndoNeverTouchesOthers(t *testing.T) {
	undone, left := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		c := &authorGroup{project: newProject(t), rt: rt, removed: map[string]string{}}
		defer c.Close()
		c.outside("f", "l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\nl10\nl11\nl12\n")
		c.outside("g", "k1\nk2\nk3\nk4\nk5\nk6\n")
		c.Begin("m0")
		states, removed := map[string]map[string]string{}, map[string]map[string]string{}
		var ids []string
		for i := range rapid.IntRange(2, 14).Draw(rt, "steps") {
			name := rapid.SampledFrom([]string{"f", "g"}).Draw(rt, "file")
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				c.undo(rapid.SampledFrom([]string{"a1", "a2", "a3"}).Draw(rt, "agent"))
			case 1:
				c.reopen()
			case 2:
				id := fmt.Sprint("m", i+1)
				c.Begin(id)
				states[id], removed[id], ids = c.files(), maps.Clone(c.removed), append(ids, id)
			case 3:
				if len(ids) == 0 {
					continue
				}
				id := rapid.SampledFrom(ids).Draw(rt, "message")
				if _, err := c.Rewind(t.Context(), id, Options{Force: true, Later: []string{}}); err != nil {
					rt.Fatal(err)
				}
				maps.Copy(c.removed, removed[id]) // restores who had removed which lines at that time
				for name := range c.files() {
					for _, l := range slices.Concat(slices.Collect(maps.Keys(c.removed)), c.lines(name)) {
						if c.removed[l] == "" || slices.Contains(c.lines("f"), l) || slices.Contains(c.lines("g"), l) {
							delete(c.removed, l)
						}
					}
				}
			case 4:
				c.change(userID, name)
			default:
				c.change(rapid.SampledFrom([]string{"main", "a1", "a2", "a3"}).Draw(rt, "author"), name)
			}
		}
		for _, agent := range []string{"a1", "a2"} {
			dry, err := c.Rewind(t.Context(), agent, Options{DryRun: true})
			if err == nil {
				undone, left = undone+len(dry.Changes), left+len(dry.Later)
			}
			c.undo(agent)
		}
	})
	t.Logf("%d files were changed by undo, %d were left", undone, left)
	if undone == 0 || left == 0 {
		t.Error("the test says nothing")
	}
}
