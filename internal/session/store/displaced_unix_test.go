//go:build unix

package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
)

// putAt replaces the file at path, like a sync program.
func putAt(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
}

// TestDisplaced is D8: if the file of an open log is moved, replaced or removed, later messages
// are still found at the log's path, together with the earlier ones.
//
// Proves SESS-12.
func TestDisplaced(t *testing.T) {
	const foreign = `{"type":"user","uuid":"x1","parentUuid":"e1","timestamp":"2026-11-03T12:00:00.250Z","message":{"role":"user","content":"theirs"}}` + "\n"
	tests := []struct {
		name   string
		change func(t *testing.T, path, first, both string)
		want   []string // messages in the file
		notice string
	}{
		{"nothing", func(*testing.T, string, string, string) {}, []string{"one", "two", "three"}, ""},
		{"removed", func(t *testing.T, path, _, _ string) { remove(t, path) }, []string{"one", "two", "three"}, "was removed"},
		{"removed with its folder", func(t *testing.T, path, _, _ string) {
			if err := os.RemoveAll(filepath.Dir(path)); err != nil {
				t.Fatal(err)
			}
		}, []string{"one", "two", "three"}, "was removed"},
		{"moved", func(t *testing.T, path, _, _ string) {
			if err := os.Rename(path, path+".bak"); err != nil {
				t.Fatal(err)
			}
		}, []string{"one", "two", "three"}, "was removed"},
		{"the same again", func(t *testing.T, path, _, both string) { putAt(t, path, both) }, []string{"one", "two", "three"}, "replaced the transcript"},
		{"an older version", func(t *testing.T, path, first, _ string) { putAt(t, path, first) }, []string{"one", "two", "three"}, "replaced the transcript"},
		{"another branch", func(t *testing.T, path, first, _ string) { putAt(t, path, first+foreign) }, []string{"one", "theirs", "two", "three"}, "replaced the transcript"},
		{"a longer version", func(t *testing.T, path, _, both string) { putAt(t, path, both+foreign) }, []string{"one", "two", "theirs", "three"}, "replaced the transcript"},
		{"cut off", func(t *testing.T, path, first, _ string) { putAt(t, path, first+foreign[:40]) }, []string{"one", "two", "three"}, "replaced the transcript"},
		{"empty", func(t *testing.T, path, _, _ string) { putAt(t, path, "") }, []string{"one", "two", "three"}, "replaced the transcript"},
		{"something else", func(t *testing.T, path, _, _ string) { putAt(t, path, "\x00\x01 garbage") }, []string{"one", "two", "three"}, "replaced the transcript"},
		{"cut in place", func(t *testing.T, path, first, _ string) {
			if err := os.Truncate(path, int64(len(first)+20)); err != nil {
				t.Fatal(err)
			}
		}, []string{"one", "three"}, "bytes of earlier messages are gone"},
		{"extended in place", func(t *testing.T, path, _, _ string) { appendTo(t, path, foreign+"half") }, []string{"one", "two", "theirs", "three"}, "wrote to the transcript"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opt := options(t)
			l := open(t, opt)
			say := func(id, parent, text string) {
				if err := l.Append(msg.Entry{ID: id, Parent: parent, Time: start, Message: msg.UserText(text)}); err != nil {
					t.Fatal(err)
				}
			}
			say("e1", "", "one")
			first := content(t, l.Path())
			say("e2", "e1", "two")
			tt.change(t, l.Path(), first, content(t, l.Path()))
			say("e3", "e2", "three")
			notice := l.Notice()
			if (notice == "") != (tt.notice == "") || !strings.Contains(notice, tt.notice) || l.Notice() != "" {
				t.Errorf("notice %q", notice)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range load(t, l.Path()).Entries {
				got = append(got, e.Message.Text())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			resumed, c, err := Resume(opt, LoadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer resumed.Close()
			if last := c.Entries[len(c.Entries)-1]; last.ID != "e3" {
				t.Errorf("the conversation continues after %s", last.ID)
			}
		})
	}
}

// TestDisplacedAtTheEnd closes a log whose file was replaced or removed after the last message.
func TestDisplacedAtTheEnd(t *testing.T) {
	l := open(t, options(t))
	path := appendTwo(t, l)
	putAt(t, path, "")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if c := load(t, path); len(c.Entries) != 2 {
		t.Errorf("replaced: %d messages", len(c.Entries))
	}
	l = open(t, options(t))
	path = appendTwo(t, l)
	remove(t, path)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a transcript that the user removed came back without a new message")
	}
}

// TestDisplacedByASession removes the file of an open log, and opens another log there.
func TestDisplacedByASession(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	path := appendTwo(t, l)
	remove(t, path)
	other := open(t, opt)
	if err := other.Append(text("x1", "theirs")); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(text("e3", "three")); err != nil {
		t.Fatal(err)
	}
	if notice := l.Notice(); !strings.Contains(notice, "open in") || !strings.Contains(notice, l.Path()) {
		t.Errorf("notice %q", notice)
	}
	if c := load(t, l.Path()); l.Path() == path || len(c.Entries) != 3 {
		t.Errorf("%d messages in %s", len(c.Entries), l.Path())
	}
	if c := load(t, path); len(c.Entries) != 1 {
		t.Errorf("the other session has %d messages", len(c.Entries))
	}
}

func appendTwo(t *testing.T, l *Log) (path string) {
	t.Helper()
	for _, e := range []msg.Entry{text("e1", "one"), text("e2", "two")} {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	return l.Path()
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// TestLockIsWaitedFor is D13: a killed process may hold its lock for a moment.
func TestLockIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opt := options(t)
		first := open(t, opt)
		if err := first.Append(text("e1", "hi")); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			time.Sleep(3 * lockPause)
			done <- first.Close()
		}()
		second, err := Open(opt)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(<-done, second.Close()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestDamagedOrigin is D16: a project keeps its folder when its origin file is damaged.
func TestDamagedOrigin(t *testing.T) {
	for _, damage := range []string{"/work/ap", "\x00\x00\x00\x00\x00\x00\x00\x00\x00", "?work/app", "", "/other"} {
		opt := options(t)
		l := open(t, opt)
		path := appendTwo(t, l)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		origin := filepath.Join(filepath.Dir(path), originName)
		if err := os.WriteFile(origin, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ProjectDir(opt.Home, opt.Dir); got != filepath.Dir(path) {
			t.Errorf("%q: the project moved to %s", damage, got)
		}
		l = open(t, opt)
		if err := l.Append(text("e3", "three")); err != nil || l.Path() != path {
			t.Errorf("%q: %s, %v", damage, l.Path(), err)
		}
		if got := content(t, origin); damage != "" && got != opt.Dir {
			t.Errorf("%q: the origin is %q afterwards", damage, got)
		}
	}
}

// TestNameIsSynced checks that the folder of a new log is synced.
//
// Proves SESS-12.
func TestNameIsSynced(t *testing.T) {
	l := open(t, options(t))
	path := appendTwo(t, l)
	away := filepath.Dir(path) + "-away"
	if err := os.Rename(filepath.Dir(path), away); err != nil {
		t.Fatal(err)
	}
	if err := l.Sync(); err == nil {
		t.Error("the folder was not synced")
	}
	if err := os.Rename(away, filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
}
