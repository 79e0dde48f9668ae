package commands

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/platform/fs/filehistory"
	"adze/internal/session"
	"adze/internal/tool"
)

// TestRewindAndUndo checks that a rewind of the conversation and its files can be undone until
// the next message (finding 14).
//
// Proves SESS-31, SESS-32.
func TestRewindAndUndo(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.txt")
	h, err := filehistory.Open(filepath.Join(t.TempDir(), "history"), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	edit := func(message, content string) {
		t.Helper()
		h.Begin(message)
		change, err := h.Backup(t.Context(), file, filehistory.Author{})
		if err != nil {
			t.Fatal(err)
		}
		write(content)
		h.Wrote(change, file, sha256.Sum256([]byte(content)))
	}
	write("zero\n")
	edit("prompt-one", "one\n")
	edit("prompt-two", "two\n")
	entry := func(id string, m msg.Message) msg.Entry { return msg.Entry{ID: id, Time: time.Now(), Message: m} }
	answer := msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Text{Text: "Done."}}}
	s := session.Open(t.Context(), session.Config{
		Tools:  session.Tools{Registry: tool.NewRegistry()},
		Models: session.Models{Main: "m", Resolve: func(name string) (agent.Model, error) { return agent.Model{ID: name, Window: 1000}, nil }},
		Records: session.Records{History: []msg.Entry{
			entry("prompt-one", msg.UserText("first")), entry("answer-one", answer),
			entry("prompt-two", msg.UserText("second")), entry("answer-two", answer),
		}},
	})
	t.Cleanup(s.Close)
	r := New(Config{Session: s, Now: time.Now, Dir: dir, Files: Files{Dir: dir, History: h, Short: filepath.Base}})
	do := func(a Answer, err error) *session.Outcome {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		after := s.Last()
		if err := s.Submit(t.Context(), a.(Operation).Op); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for e := range s.Entries(ctx, after, session.Latest) {
			if end, ok := e.Event.(session.Finished); ok && end.Local != nil {
				return end.Local
			}
		}
		t.Fatal("it did not end")
		return nil
	}
	check := func(entries int, content string) {
		t.Helper()
		got, err := os.ReadFile(file)
		if n := len(s.Conversation()); n != entries || err != nil || string(got) != content {
			t.Errorf("%d entries and %q, want %d and %q", n, got, entries, content)
		}
	}
	choose := func(list Answer, id string) (Answer, error) {
		t.Helper()
		for _, c := range list.(List).Choices {
			if c.ID == id {
				return list.(List).Choose(t.Context(), c)
			}
		}
		t.Fatalf("%s is not among %v", id, list.(List).Choices)
		return nil, nil
	}

	list, err := r.Run(t.Context(), "rewind", "")
	if err != nil {
		t.Fatal(err)
	}
	if c := list.(List).Choices[0]; c.Title != "second" || c.About != "just now; a.txt +1 -1" {
		t.Errorf("%+v", c)
	}
	offer, err := choose(list, "prompt-two")
	if err != nil {
		t.Fatal(err)
	}
	if o := do(choose(offer, "both")); o.Err != nil || !strings.Contains(o.Text, untracked) {
		t.Errorf("%+v", o)
	}
	check(2, "one\n")
	if o := do(r.Run(t.Context(), "undo", "undo")); o.Err != nil {
		t.Error(o.Err)
	}
	check(4, "two\n")
	if _, err := r.Run(t.Context(), "rewind", "undo"); err == nil {
		t.Error("undone twice")
	}

	// Files alone: the model is notified with the next message.
	if o := do(r.Run(t.Context(), "rewind", "prompt-t files")); o.Err != nil {
		t.Error(o.Err)
	}
	check(4, "one\n")
	if err := s.Submit(t.Context(), session.Note{Parts: []msg.Part{&msg.Text{Text: "more"}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o := do(r.Run(t.Context(), "rewind", "undo")); o.Err == nil || !strings.Contains(o.Err.Error(), "has continued since") {
		t.Errorf("%+v", o)
	}
	check(5, "one\n")

	// External changes are kept unless forced.
	write("mine\n")
	if o := do(r.Run(t.Context(), "rewind", "prompt-one both")); o.Err == nil || !strings.Contains(o.Err.Error(), "add force") {
		t.Errorf("%+v", o)
	}
	check(5, "mine\n")
	if o := do(r.Run(t.Context(), "rewind", "prompt-one both force")); o.Err != nil {
		t.Error(o.Err)
	}
	check(0, "zero\n")
}

// TestMessageNamed checks that an ID or ID prefix identifies a user message, and that the ID of
// an answer identifies the message it answers (2.22).
func TestMessageNamed(t *testing.T) {
	entries := []msg.Entry{
		{ID: "aaaa1111", Message: msg.UserText("first")},
		{ID: "bbbb1111", Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Text{Text: "One."}}}},
		{ID: "aaaa2222", Message: msg.UserText("second")},
		{ID: "bbbb2222", Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Text{Text: "Two."}}}},
	}
	for id, want := range map[string]string{
		"aaaa1111": "aaaa1111 aaaa2222", "aaaa2": "aaaa2222", "bbbb1": "aaaa1111 aaaa2222", "bbbb2222": "aaaa2222",
		"aaaa": "aaaa", "bbbb": "bbbb", "aaa": "aaa", "cccc": "cccc", "": "",
	} {
		full, later := MessageNamed(entries, id)
		if got := strings.TrimSpace(full + " " + strings.Join(later, " ")); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

// TestRewindListOfALongSession checks that the picker has all messages of a long session, each
// with the changes made in response; a line-based list has only the last ones.
//
// Proves HIST-03.
func TestRewindListOfALongSession(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.txt")
	h, err := filehistory.Open(filepath.Join(t.TempDir(), "history"), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	var entries []msg.Entry
	const messages = 500
	for i := range messages {
		id := fmt.Sprintf("prompt-%03d", i)
		entries = append(entries, msg.Entry{ID: id, Time: time.Now(), Message: msg.UserText("message " + id)},
			msg.Entry{ID: "answer" + id, Time: time.Now(), Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Text{Text: "Done."}}}})
		if i < messages-50 {
			continue
		}
		h.Begin(id)
		change, err := h.Backup(t.Context(), file, filehistory.Author{})
		if err != nil {
			t.Fatal(err)
		}
		content := []byte(strings.Repeat(id+"\n", 1+i%3))
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
		h.Wrote(change, file, sha256.Sum256(content))
	}
	s := session.Open(t.Context(), session.Config{
		Tools:   session.Tools{Registry: tool.NewRegistry()},
		Models:  session.Models{Main: "m", Resolve: func(name string) (agent.Model, error) { return agent.Model{ID: name, Window: 1000}, nil }},
		Records: session.Records{History: entries},
	})
	t.Cleanup(func() { s.Close() })
	r := New(Config{Session: s, Now: time.Now, Dir: dir, Files: Files{Dir: dir, History: h, Short: filepath.Base}})
	answer, err := r.Run(t.Context(), "rewind", "")
	if err != nil {
		t.Fatal(err)
	}
	list := answer.(List)
	if len(list.Choices) != most || len(list.Views) != 1 {
		t.Fatalf("%d choices, %d views", len(list.Choices), len(list.Views))
	}
	all, err := list.Views[0].Load(t.Context())
	if err != nil || len(all) != messages {
		t.Fatalf("%d choices, %v", len(all), err)
	}
	for at, want := range map[int]string{0: "just now; a.txt +2 -1", 1: "just now; a.txt +1 -3", 48: "just now; a.txt +2 -1", 49: "just now; a.txt +1 -0", 50: "just now", 499: "just now"} {
		if got := all[at]; got.About != want || got.Title != fmt.Sprintf("message prompt-%03d", messages-1-at) {
			t.Errorf("message %d: %q (%s), want (%s)", at+1, got.Title, got.About, want)
		}
	}
	page, err := list.Preview(t.Context(), all[30])
	if err != nil || !strings.Contains(fmt.Sprint(page), "This will undo:") {
		t.Errorf("%v, %v", page, err)
	}
}
