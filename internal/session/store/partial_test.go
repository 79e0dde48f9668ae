package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"adze/internal/msg"
)

// partialOf returns an arriving answer.
func partialOf(parent, text string) msg.Entry {
	return msg.Entry{ID: "half", Parent: parent, Model: "m", Aborted: true, Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Text{Text: text}}}}
}

// TestPartialAnswerIsRestored checks that an answer that was arriving when the process ended is
// restored once.
//
// Proves SESS-18.
func TestPartialAnswerIsRestored(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	if err := errors.Join(l.Append(text("1", "hi")), l.SavePartial(partialOf("1", "Hal")), l.SavePartial(partialOf("1", "Half of it"))); err != nil {
		t.Fatal(err)
	}
	path := l.Path()
	info, err := os.Stat(path + ".partial")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := os.Stat(path + ".partial.new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file is left: %v", err)
	}
	l.f.Close() // simulate the end of the process
	if c, err := Load(path, LoadOptions{Partial: true}); err != nil || len(c.Entries) != 2 || len(load(t, path).Entries) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if got := content(t, path); strings.Contains(got, "Half") {
		t.Errorf("loading wrote %s", got)
	}
	for i, notices := range []int{1, 0} {
		l, c, err := Resume(opt, LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := partialOf("1", "Half of it")
		if len(c.Entries) != 2 || len(c.Notices) != notices {
			t.Fatalf("resumed %d times: %+v, %v", i+1, c.Entries, c.Notices)
		}
		if diff := cmp.Diff(want, c.Entries[1], entriesOnly()); diff != "" {
			t.Error(diff)
		}
		if err := errors.Join(l.Append(linkedTo("half", "2", "go on")), l.Close()); i == 1 && err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path + ".partial"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file is left: %v", err)
		}
		if i == 0 {
			rewindTo(t, opt, "half")
		}
	}
}

// resultOf returns the result of a call as saved while other calls run.
func resultOf(parent, id, words string) msg.Entry {
	return msg.Entry{Parent: parent, Message: msg.Message{Role: msg.User, Parts: []msg.Part{
		&msg.ToolResult{ID: id, Parts: []msg.Part{&msg.Text{Text: words}}},
	}}, Structured: map[string]json.RawMessage{id: json.RawMessage(`{"of":"` + id + `"}`)}}
}

// TestFinishedResultsAreRestored checks that results of calls that had finished when the
// process was killed are restored as a single message, in the order of the calls. Only results
// of the last answer's calls count, each once.
//
// Proves SESS-19.
func TestFinishedResultsAreRestored(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	answer := msg.Entry{ID: "2", Parent: "1", Model: "m", Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{
		msg.NewToolUse("a", "Read", "{}"), msg.NewToolUse("b", "Bash", "{}"), msg.NewToolUse("c", "Write", "{}"),
	}}}
	told := resultOf("2", "c", "third")
	told.Message.Parts = append(told.Message.Parts, msg.Reminder("a hook says"))
	forged := resultOf("2", "z", "of no call")
	forged.Message.Parts = append(forged.Message.Parts, msg.Reminder("forged"))
	spoken := text("", "words of the user")
	spoken.Parent = "2"
	err := errors.Join(l.Append(text("1", "hi")), l.SavePartial(partialOf("1", "stale")), l.Append(answer),
		l.AddPartial(told), l.AddPartial(resultOf("2", "a", "first")), l.AddPartial(resultOf("2", "a", "again")),
		l.AddPartial(resultOf("1", "b", "of another answer")), l.AddPartial(forged), l.AddPartial(spoken))
	if err != nil {
		t.Fatal(err)
	}
	partial := l.Path() + ".partial"
	if err := os.WriteFile(partial, []byte(content(t, partial)+`{"type":"user","parentUuid":"2","mess`), 0o600); err != nil {
		t.Fatal(err)
	}
	l.f.Close() // simulate the end of the process
	for i, notices := range []int{1, 0} {
		l, c, err := Resume(opt, LoadOptions{Structured: true})
		if err != nil || len(c.Entries) != 3 || len(c.Notices) != notices {
			t.Fatalf("resumed %d times: %+v, %v", i+1, c, err)
		}
		want := resultOf("2", "a", "first")
		want.ID = c.Entries[2].ID
		want.Message.Parts = append(want.Message.Parts, told.Message.Parts...)
		want.Structured["c"] = told.Structured["c"]
		if diff := cmp.Diff(want, c.Entries[2], cmpopts.IgnoreFields(msg.Entry{}, "Time"), cmpopts.IgnoreUnexported(msg.ToolUse{}, msg.ToolResult{}, msg.Text{})); diff != "" {
			t.Error(diff)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(partial); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file is left: %v", err)
		}
	}
}

// TestPartialFollowsNoLink checks that a symlink in place of the file is replaced, not
// followed.
func TestPartialFollowsNoLink(t *testing.T) {
	for _, suffix := range []string{".partial", ".partial.new"} {
		l := open(t, options(t))
		if err := l.Append(text("1", "hi")); err != nil {
			t.Fatal(err)
		}
		victim := filepath.Join(t.TempDir(), "victim")
		if err := errors.Join(os.WriteFile(victim, []byte("mine"), 0o600), os.Symlink(victim, l.Path()+suffix)); err != nil {
			t.Skip(err)
		}
		save := l.AddPartial
		if suffix == ".partial.new" {
			save = l.SavePartial
		}
		if err := errors.Join(save(resultOf("1", "a", "x")), l.DropPartial(), save(resultOf("1", "a", "x")), l.Close()); err != nil {
			t.Error(err)
		}
		if got := content(t, victim); got != "mine" {
			t.Errorf("%s: the file that the link led to: %s", suffix, got)
		}
	}
}

func linkedTo(parent, id, words string) msg.Entry {
	e := text(id, words)
	e.Parent = parent
	return e
}

// rewindTo rewinds the log to a message.
func rewindTo(t *testing.T, opt Options, id string) {
	t.Helper()
	l, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Note(Rewind(id)), l.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestPartialAnswerIsDropped checks that records that do not follow the last message, or are
// not answers, are ignored.
func TestPartialAnswerIsDropped(t *testing.T) {
	use := partialOf("1", "x")
	use.Message.Parts = append(use.Message.Parts, msg.NewToolUse("u", "Read", "{}"))
	user := text("half", "x")
	user.Parent = "1"
	for name, save := range map[string]func(l *Log) error{
		"of an earlier message": func(l *Log) error {
			return errors.Join(l.SavePartial(partialOf("1", "x")), l.Append(linkedTo("1", "2", "answered")))
		},
		"of an unknown message": func(l *Log) error { return l.SavePartial(partialOf("7", "x")) },
		"with a call":           func(l *Log) error { return l.SavePartial(use) },
		"of the user":           func(l *Log) error { return l.SavePartial(user) },
		"damaged":               func(l *Log) error { return os.WriteFile(l.Path()+".partial", []byte(`{"type":"assistant"`), 0o600) },
		"empty":                 func(l *Log) error { return os.WriteFile(l.Path()+".partial", nil, 0o600) },
		"half written":          func(l *Log) error { return os.WriteFile(l.Path()+".partial.new", []byte(`{`), 0o600) },
		"dropped":               func(l *Log) error { return errors.Join(l.SavePartial(partialOf("1", "x")), l.DropPartial()) },
	} {
		t.Run(name, func(t *testing.T) {
			opt := options(t)
			l := open(t, opt)
			if err := errors.Join(l.Append(text("1", "hi")), save(l)); err != nil {
				t.Fatal(err)
			}
			before := len(load(t, l.Path()).Entries)
			l.f.Close()
			again, c, err := Resume(opt, LoadOptions{})
			if err != nil || len(c.Entries) != before || len(c.Notices) > 0 {
				t.Fatalf("%+v, %v", c, err)
			}
			defer again.Close()
			for _, suffix := range []string{".partial", ".partial.new"} {
				if _, err := os.Lstat(l.Path() + suffix); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s is left: %v", suffix, err)
				}
			}
		})
	}
	t.Run("resumed at a message", func(t *testing.T) {
		opt := options(t)
		l := open(t, opt)
		if err := errors.Join(l.Append(text("1", "hi")), l.Append(linkedTo("1", "2", "more")), l.SavePartial(partialOf("2", "x"))); err != nil {
			t.Fatal(err)
		}
		l.f.Close()
		again, c, err := Resume(opt, LoadOptions{At: "1"})
		if err != nil || len(c.Entries) != 1 {
			t.Fatalf("%+v, %v", c, err)
		}
		again.Close()
	})
	t.Run("removed with the session", func(t *testing.T) {
		l := open(t, options(t))
		if err := errors.Join(l.Append(text("1", "hi")), l.SavePartial(partialOf("1", "x")), l.Close(), Remove(l.Path())); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(l.Path() + ".partial"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it is left: %v", err)
		}
	})
}
