package commands

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/model/catalog"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/prompt"
	"adze/internal/session"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// Proves CMD-01.
func TestParse(t *testing.T) {
	for _, tt := range []struct {
		text, name, arg string
		ok              bool
	}{
		{"/help", "help", "", true}, {"  /compact  the tests \n", "compact", "the tests", true}, {"/compact\nthe tests", "compact", "the tests", true},
		{"/", "", "", true}, {"/usr/bin/x explain", "usr/bin/x", "explain", false}, {"//", "/", "", false}, {"help", "", "", false}, {"", "", "", false},
		{"say /help", "", "", false},
	} {
		name, arg, ok := Parse(tt.text)
		if ok != tt.ok || ok && (name != tt.name || arg != tt.arg) {
			t.Errorf("%q: %q, %q, %t", tt.text, name, arg, ok)
		}
	}
}

// TestLookup checks that names are unique, that every command has a description, and that
// Lookup handles aliases and capitals.
//
// Proves CMD-01.
func TestLookup(t *testing.T) {
	r := New(Config{Terminal: true})
	seen := map[string]bool{}
	for _, c := range r.Commands() {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			if seen[name] || name != strings.ToLower(name) {
				t.Errorf("/%s is there twice, or has capitals", name)
			}
			seen[name] = true
			if got, ok := r.Lookup(strings.ToUpper(name)); !ok || got.Name != c.Name {
				t.Errorf("/%s is not found", name)
			}
		}
		if c.Doc == "" || c.Run == nil {
			t.Errorf("/%s is not complete", c.Name)
		}
	}
	for name, want := range map[string]string{
		"hlep": "unknown command /hlep; did you mean /help?", "qqqqqqq": "unknown command /qqqqqqq; /help lists the commands",
	} {
		if _, err := r.Run(t.Context(), name, ""); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for text, want := range map[string]string{"/cos": "/cost", "/e": "/e", "/nothing": "/nothing", "co": "co"} {
		if got, _ := r.Complete(t.Context(), text); got != want {
			t.Errorf("%q is completed to %q, not %q", text, got, want)
		}
	}
}

// TestAvailable checks that some commands are not offered without a terminal, and return an
// error when run.
//
// Proves CMD-02.
func TestAvailable(t *testing.T) {
	r := New(Config{})
	for _, c := range r.Commands() {
		if c.Terminal {
			t.Errorf("/%s is offered", c.Name)
		}
	}
	if _, err := r.Run(t.Context(), "quit", ""); err == nil || err.Error() != "/exit is available at a terminal only" {
		t.Error(err)
	}
}

// newSession returns a session without a model, and its log.
func newSession(t *testing.T, home, dir, id string) (*session.Session, *store.Log) {
	t.Helper()
	log, err := store.Open(store.Options{Home: home, Dir: dir, Session: id, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	if err := log.Append(msg.Entry{ID: msg.NewID(), Message: msg.UserText("hi"), Time: time.Now()}); err != nil {
		t.Fatal(err)
	}
	s := session.Open(t.Context(), session.Config{ID: id, Models: session.Models{Main: "m", Resolve: func(name string) (agent.Model, error) {
		return agent.Model{ID: name, Window: 1000}, nil
	}}})
	t.Cleanup(s.Close)
	return s, log
}

// TestUsageOfAResumedSession checks a resumed session, whose conversation does not contain the
// opening before its first request.
func TestUsageOfAResumedSession(t *testing.T) {
	resolve := func(name string) (agent.Model, error) { return agent.Model{ID: name, Window: 1000}, nil }
	s := session.Open(t.Context(), session.Config{
		Tools:   session.Tools{Registry: tool.NewRegistry()},
		Models:  session.Models{Main: "m", Resolve: resolve},
		Records: session.Records{History: []msg.Entry{{ID: "e1", Time: time.Now(), Message: msg.UserText("a few words")}}},
	})
	t.Cleanup(s.Close)
	r := New(Config{Session: s, Now: time.Now, Preamble: Preamble{
		Resolve:  resolve,
		Describe: func(specs []msg.ToolSpec) []msg.ToolSpec { return specs },
		Blocks:   func(agent.Model, []msg.ToolSpec) []prompt.Block { return nil },
		First:    func() []msg.Part { return []msg.Part{&msg.Text{Text: strings.Repeat("instructions ", 100)}} },
		Watch:    &prompt.Watch{},
	}})
	u, err := r.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if u.Messages != 1 || u.Talk == 0 || u.Talk > 20 {
		t.Errorf("%d messages have %d tokens", u.Messages, u.Talk)
	}
}

func TestSessions(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	s, log := newSession(t, home, dir, "00000001-id")
	r := New(Config{Session: s, Log: log, Home: home, Dir: dir, Now: time.Now, Terminal: true})
	run := func(name, arg string) Answer {
		t.Helper()
		a, err := r.Run(t.Context(), name, arg)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if diff := cmp.Diff(Say("No earlier sessions in this directory."), run("resume", "")); diff != "" {
		t.Error(diff)
	}
	_, other := newSession(t, home, dir, "00000002-id")
	if err := other.Note(store.Title("another")); err != nil {
		t.Fatal(err)
	}
	list := run("resume", "").(List)
	if want := []Choice{{ID: "00000002-id", Title: "another", About: "just now, 1 message", Cells: []string{"just now", "1 message", ""}}}; !cmp.Equal(want, list.Choices) {
		t.Error(list.Choices)
	}
	if next, err := list.Choose(t.Context(), list.Choices[0]); err != nil || next != (Switch{Session: "00000002-id"}) {
		t.Error(next, err)
	}
	if got := run("resume", "x"); got != (Switch{Session: "x"}) {
		t.Error(got)
	}
	run("rename", "a name")
	if _, err := r.Run(t.Context(), "rename", ""); err == nil || !strings.Contains(err.Error(), "usage: /rename TITLE") {
		t.Errorf("a session without a title: %v", err)
	}
	missing := filepath.Join("no", "folder", "x.md")
	if _, err := r.Run(t.Context(), "export", missing); err == nil || !strings.Contains(err.Error(), "directory "+filepath.Join(dir, "no", "folder")) {
		t.Error(err)
	}
	want := filepath.Join(dir, "adze-00000001.md")
	r.Files.Short = filepath.Base
	if diff := cmp.Diff(Say("Written to adze-00000001.md"), run("export", "")); diff != "" {
		t.Error(diff)
	}
	if data, err := os.ReadFile(want); err != nil || !strings.Contains(string(data), "a name") {
		t.Errorf("%s, %v", data, err)
	}
	if _, err := r.Run(t.Context(), "export", ""); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Error(err)
	}
	run("export", "out.json")
	if _, err := os.Stat(filepath.Join(dir, "out.json")); err != nil {
		t.Error(err)
	}

	r = New(Config{Session: s})
	for _, name := range []string{"rename", "export"} {
		if _, err := r.Run(t.Context(), name, "x"); !errors.Is(err, ErrNotKept) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestChoices checks that a choice becomes a session operation.
func TestChoices(t *testing.T) {
	s, _ := newSession(t, t.TempDir(), t.TempDir(), "id")
	var table catalog.Table
	r := New(Config{
		Session: s, Permission: Permission{Mode: func() string { return "default" }},
		Preamble: Preamble{Resolve: func(name string) (agent.Model, error) {
			m, err := table.Resolve(name)
			return agent.Model{ID: m.ID}, err
		}},
	})
	for name, want := range map[string]string{ // descriptions that identify the model or mode (5.16, 2.20)
		"opus": "opus: Claude Opus 5.5 (claude-opus-5-5)", "claude-opus-5-5": "Claude Opus 5.5 (claude-opus-5-5)", "my-model": "my-model",
	} {
		if got := r.ModelInWords(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for name, want := range map[string]string{"oppus": "unknown model oppus; did you mean opus"} {
		if _, err := r.Run(t.Context(), "model", name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if a, err := r.Run(t.Context(), "model", "qwertyuiop"); err != nil || !strings.Contains(a.(Operation).Result, "is not in the table of models") {
		t.Errorf("%v, %v", a, err)
	}
	if _, err := r.Run(t.Context(), "mode", ""); err != nil {
		t.Error(err)
	}
	for _, m := range permission.Modes() {
		if m.About() == "" || DescribeMode(string(m)) == string(m) {
			t.Errorf("%s is not explained", m)
		}
	}
	for _, tt := range []struct {
		name, pick string
		want       session.Op
	}{
		{"model", "opus", session.SetModel{Name: "opus"}},
		{"mode", "plan", session.SetMode{Mode: "plan"}},
	} {
		a, err := r.Run(t.Context(), tt.name, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range a.(List).Choices {
			if c.ID != tt.pick {
				continue
			}
			op, err := a.(List).Choose(t.Context(), c)
			if err != nil || op.(Operation).Op != tt.want {
				t.Errorf("%s: %v, %v", tt.name, op, err)
			}
			tt.pick = ""
		}
		if tt.pick != "" {
			t.Errorf("%s is not among %v", tt.pick, a.(List).Choices)
		}
	}
}

func TestShell(t *testing.T) {
	r := New(Config{})
	if _, err := r.Shell(t.Context(), "make", nil); err == nil {
		t.Error("run without a shell")
	}
	r = New(Config{Execute: func(_ context.Context, command string, _ func(tool.Display)) (ShellResult, error) {
		return ShellResult{Output: "ran " + command}, errors.New(", badly")
	}})
	a, err := r.Shell(t.Context(), "make", nil)
	if err != nil {
		t.Fatal(err)
	}
	note := a.(Operation).Op.(session.Note)
	if got := msg.PlainText(note.Parts); got != "I ran this command:\n\n$ make\nran make, badly" {
		t.Errorf("%q", got)
	}
}
