package filehistory

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/fs/replace"
)

// TestKilledBetweenWriteAndRecord checks D11: if the process is killed before or after a file
// gets its new content, a rewind is not refused because of a foreign change.
//
// Proves HIST-02.
func TestKilledBetweenWriteAndRecord(t *testing.T) {
	for _, now := range []string{"one", "two", "theirs"} {
		p := newProject(t)
		p.outside("a", "zero")
		p.Begin("m1")
		p.edit("a", "one")
		p.Begin("m2")
		change, err := p.Backup(t.Context(), p.path("a"), Author{})
		if err != nil {
			t.Fatal(err)
		}
		p.Writing(change, p.path("a"), sha256.Sum256([]byte("two")))
		p.outside("a", now)
		p.reopen()
		_, err = p.Rewind(t.Context(), "m1", Options{})
		var conflict *Conflict
		if foreign := now == "theirs"; foreign != errors.As(err, &conflict) || !foreign && err != nil {
			t.Errorf("%s: %v", now, err)
		}
		if want := map[string]string{"a": "zero"}; now != "theirs" && !cmp.Equal(want, p.files()) {
			t.Errorf("%s: %v", now, p.files())
		}
	}
}

// TestKilledRewind checks D14: an interrupted rewind is reported once and can be completed or
// undone.
//
// Proves HIST-04.
func TestKilledRewind(t *testing.T) {
	old, fresh := map[string]string{"a": "old", "b": "old"}, map[string]string{"a": "new", "b": "new"}
	for _, tt := range []struct {
		name string
		id   string
		undo bool
		want map[string]string
	}{
		{"completed", "m1", false, old}, {"taken back", "m1", true, fresh},
		{"of an agent, completed", ann.ID, false, old}, {"of an agent, taken back", ann.ID, true, fresh},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t)
			p.outside("a", "old")
			p.outside("b", "old")
			p.Begin("m1")
			p.editBy(ann, "a", "new")
			p.editBy(ann, "b", "new")
			left := p.dir + "-left" // state after the kill
			p.write = func(path string, data []byte, mode fs.FileMode) error {
				if path == p.path("b") && string(data) == "old" {
					if err := Copy(t.Context(), p.dir, left); err != nil {
						t.Error(err)
					}
					return errors.New("killed")
				}
				return replace.WriteFile(path, data, mode)
			}
			if _, err := p.Rewind(t.Context(), tt.id, Options{}); err == nil {
				t.Fatal("it was not cut short")
			}
			p.reopen()
			if _, _, ok := p.Interrupted(); ok {
				t.Error("a rewind that failed, and put everything back, counts as cut short")
			}
			p.dir = left
			p.reopen()
			p.outside("a", "old") // state at that moment
			to, undo, ok := p.Interrupted()
			if !ok || to != tt.id || !strings.HasPrefix(undo, "rewind-") {
				t.Fatalf("%q, %q, %v", to, undo, ok)
			}
			if _, _, again := p.Interrupted(); again {
				t.Error("reported twice")
			}
			if tt.undo {
				to = undo
			}
			if _, err := p.Rewind(t.Context(), to, Options{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, p.files()); diff != "" {
				t.Error(diff)
			}
			p.reopen()
			if _, _, again := p.Interrupted(); again {
				t.Error("reported again after the rewind")
			}
		})
	}
}
