package commands

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/session/archive"
	"adze/internal/session/store"
)

// TestResumeList checks that the session list previews how each session began and ended,
// searches their content, and renames, forks and deletes them.
//
// Proves SESS-20.
func TestResumeList(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	s, _ := newSession(t, home, dir, "00000001-id")
	_, other := newSession(t, home, dir, "00000002-id")
	asked := msg.Entry{ID: msg.NewID(), Message: msg.UserText("hi"), Time: time.Now()}
	answer := msg.Entry{ID: msg.NewID(), Parent: asked.ID, Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Text{Text: "The answer\nis 42."}}}, Time: time.Now()}
	if err := errors.Join(other.Append(asked), other.Append(answer), other.Close()); err != nil {
		t.Fatal(err)
	}
	_, elsewhere := newSession(t, home, t.TempDir(), "00000003-id")
	elsewhere.Close()
	var inherited, removed []string
	r := New(Config{Session: s, Home: home, Dir: dir, Now: time.Now, Terminal: true, Env: Env{Sessions: SessionFiles{
		Inherit: func(_ context.Context, from *archive.Info, fork string) error {
			inherited = append(inherited, from.ID)
			return nil
		},
		Remove: func(_ context.Context, info *archive.Info) error {
			removed = append(removed, info.ID)
			return store.Remove(info.Path)
		},
	}}})
	got, err := r.Run(t.Context(), "resume", "")
	if err != nil {
		t.Fatal(err)
	}
	list := got.(List)
	if all, err := list.Views[1].Load(t.Context()); err != nil || len(all) != 2 || len(list.Views[0].Choices) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	c := list.Choices[0]
	if page, err := list.Preview(t.Context(), c); err != nil || cmp.Diff(Say("You: hi", "Model: The answer is 42."), page) != "" {
		t.Errorf("%v, %v", page, err)
	}
	if found, err := list.Search(t.Context(), "answer is 42"); err != nil || len(found) != 1 || found[0].ID != c.ID || !strings.Contains(found[0].Text, "is 42") {
		t.Errorf("%v, %v", found, err)
	}
	names := map[string]Action{}
	for _, a := range list.Actions {
		names[a.Name] = a
	}
	if _, err := names["renames"].Run(t.Context(), c, " "); err == nil {
		t.Error("a title must not be empty")
	}
	if _, err := names["renames"].Run(t.Context(), c, "better"); err != nil {
		t.Error(err)
	}
	if again, err := list.Views[0].Load(t.Context()); err != nil || again[0].Title != "better" {
		t.Errorf("%v, %v", again, err)
	}
	fork, err := names["forks"].Run(t.Context(), c, "")
	if err != nil || fork.(Switch).Session == c.ID || !slices.Equal(inherited, []string{c.ID}) {
		t.Errorf("%v, %v, %v", fork, err, inherited)
	}
	if info, err := archive.Find(home, dir, fork.(Switch).Session); err != nil || !strings.Contains(info.Name(), "better") {
		t.Errorf("%v, %v", info, err)
	}
	if q := names["deletes"].Confirm(c); !strings.Contains(q, "Delete") {
		t.Error(q)
	}
	if _, err := names["deletes"].Run(t.Context(), c, ""); err != nil || !slices.Equal(removed, []string{c.ID}) {
		t.Error(err, removed)
	}
	if _, err := names["deletes"].Run(t.Context(), Choice{ID: "00000001-id"}, ""); err == nil {
		t.Error("the session that is open is deleted")
	}
}

// TestOptionsList checks that settings are changed in place, by choosing a value or by typing.
func TestOptionsList(t *testing.T) {
	values := map[string]string{"verbose": "false", "model": `"opus"`}
	r := New(Config{Terminal: true, Env: Env{
		Options: func(all bool) []Option {
			options := []Option{{Key: "model", Value: values["model"], Doc: "the model to use", Origin: "user settings"}}
			if all {
				options = append(options, Option{Key: "verbose", Value: values["verbose"], Doc: "show more", Values: []string{"true", "false"}})
			}
			return options
		},
		Change: func(_ context.Context, key string, value *string) (string, error) {
			if value == nil {
				delete(values, key)
				return key + " is no longer set.", nil
			}
			values[key] = *value
			return key + " is now " + *value + ".", nil
		},
	}})
	got, err := r.Run(t.Context(), "config", "")
	if err != nil {
		t.Fatal(err)
	}
	list := got.(List)
	all := list.Views[0].Choices
	if len(all) != 2 || len(list.Views[1].Choices) != 1 || all[1].Value != 1 || all[0].Cells[0] != `"opus"` {
		t.Fatalf("%+v", list.Views)
	}
	all[1].Value = 0
	if text, err := list.Set(t.Context(), all[1]); err != nil || text != "verbose is now true." || values["verbose"] != "true" {
		t.Error(text, err)
	}
	change, reset := list.Actions[0], list.Actions[1]
	if got := change.Text(all[0]); got != "opus" {
		t.Error(got)
	}
	if _, err := change.Run(t.Context(), all[0], "sonnet"); err != nil || values["model"] != "sonnet" {
		t.Error(values, err)
	}
	if _, err := reset.Run(t.Context(), all[0], ""); err != nil || values["model"] != "" {
		t.Error(values, err)
	}
	if page, err := list.Preview(t.Context(), all[1]); err != nil || cmp.Diff(Say("show more", "true, from the default"), page) != "" {
		t.Error(page, err)
	}
}
