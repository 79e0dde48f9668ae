package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent/compact"
	"adze/internal/domain/tasklist"
	"adze/internal/hook"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
	"adze/internal/tools/todo"
)

// A place holds a conversation's lists, notes and messages.
type place struct {
	*Lists
	t     *testing.T
	notes map[string]json.RawMessage

	mu   sync.Mutex
	said []string
}

func newPlace(t *testing.T, change func(*Config)) *place {
	t.Helper()
	p := &place{t: t, notes: map[string]json.RawMessage{}}
	c := Config{
		Home: t.TempDir(), Kept: true, Shared: true, Names: tasklist.Names{Session: "s"},
		Language: func() texts.Language { return texts.English },
		Note: func(kind string, fields map[string]any) {
			data, err := json.Marshal(fields)
			if err != nil {
				t.Error(err)
			}
			p.notes[kind] = data
		},
		Say: func(text string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.said = append(p.said, text)
		},
	}
	if change != nil {
		change(&c)
	}
	l, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	p.Lists = l
	t.Cleanup(l.Close)
	return p
}

// call calls a tool and returns its error.
func (p *place) call(name, input string) error {
	p.t.Helper()
	for _, one := range p.Tools() {
		if one.Spec().Name != name {
			continue
		}
		c, err := one.Bind(json.RawMessage(input))
		if err != nil {
			p.t.Fatal(err)
		}
		_, err = c.Run(p.t.Context(), func(tool.Progress) {})
		return err
	}
	p.t.Fatal(name)
	return nil
}

// shown returns the list as displayed.
func (p *place) shown() string {
	p.t.Helper()
	list, err := p.Checklist(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	var all []string
	for _, c := range list {
		all = append(all, c.Text)
	}
	return strings.Join(all, ", ")
}

// TestListIsNoted checks that a list other than the session's is recorded, and restored when
// the session is resumed without it.
//
// Proves SESS-22.
func TestListIsNoted(t *testing.T) {
	own := newPlace(t, nil)
	if err := own.call("TaskCreate", `{"subject":"x","description":""}`); err != nil || len(own.notes) > 0 {
		t.Error(err, own.notes)
	}
	named := newPlace(t, func(c *Config) { c.Names.Named = "release" })
	if named.call("TaskCreate", `{"subject":"y","description":""}`); string(named.notes[listKind]) != `{"id":"release"}` {
		t.Errorf("%s", named.notes)
	}
	again := newPlace(t, func(c *Config) { c.Home, c.Last = named.cfg.Home, named.notes })
	if got := again.shown(); got != "1 y" {
		t.Error(got)
	}
	hostile := newPlace(t, func(c *Config) {
		c.Last = map[string]json.RawMessage{listKind: json.RawMessage(`{"id":"../../x"}`), todosKind: json.RawMessage(`{"todos":7}`)}
	})
	if id, err := hostile.cfg.Names.Choose(); id != "s" || err != nil {
		t.Errorf("the transcript names the list %q, %v", id, err)
	}
}

// TestNotKept checks that an ephemeral session leaves nothing behind, unless the user named the
// list.
func TestNotKept(t *testing.T) {
	p := newPlace(t, func(c *Config) { c.Kept = false })
	p.call("TaskCreate", `{"subject":"x","description":""}`)
	if p.temp == "" || p.shown() != "1 x" {
		t.Error(p.temp, p.shown())
	}
	p.Close()
	if _, err := os.Stat(p.temp); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if left, err := os.ReadDir(p.cfg.Home); len(left) > 0 || err != nil {
		t.Error(left, err)
	}
	named := newPlace(t, func(c *Config) { c.Kept, c.Names.Named = false, "release" })
	named.call("TaskCreate", `{"subject":"x","description":""}`)
	if named.temp != "" {
		t.Error(named.temp)
	}
}

// TestChild checks that a nested conversation shares the tasks but has its own to-do list.
func TestChild(t *testing.T) {
	p := newPlace(t, nil)
	child := &place{Lists: p.Child(""), t: t}
	child.call("TaskCreate", `{"subject":"x","description":""}`)
	if p.shown() != "1 x" {
		t.Error(p.shown())
	}
	p.replace([]todo.Item{{Content: "a", Status: tasklist.Pending}})
	child.replace([]todo.Item{{Content: "b", Status: tasklist.Pending}})
	if p.todos[0].Content != "a" || !strings.Contains(string(p.notes[todosKind]), `"a"`) {
		t.Errorf("%v, %s", p.todos, p.notes)
	}
	if (*Lists)(nil).Child("") != nil {
		t.Error("a child of nothing")
	}
}

// TestHooksRefuse checks that a hook can reject a task and end the turn.
//
// Proves TEAM-12.
func TestHooksRefuse(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out hook.Outcome
	p := newPlace(t, func(c *Config) { c.Fire = func(context.Context, hook.Event) hook.Outcome { return out } })
	for want, o := range map[string]hook.Outcome{
		"the hook x refuses: no tests": {Blocked: true, By: "the hook x", Reason: "no tests"},
		"a hook refuses: enough":       {Stop: "enough"},
		"<nil>":                        {Messages: []string{"careful"}},
	} {
		out = o
		if got := fmt.Sprint(p.ask(ctx, hook.OnTaskCreated("1", "s", "d"))); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	cancel()
	if err := p.ask(ctx, hook.OnTaskCompleted("1", "s", "d")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestRestoring checks that the list is sent to the model after a compaction, unless everything
// is done.
//
// Proves CTX-43.
func TestRestoring(t *testing.T) {
	p := newPlace(t, nil)
	state := func() string {
		s := compact.Sources{State: []string{"first"}}
		p.restore(t.Context(), &s)
		return strings.Join(s.State, "|")
	}
	if got := state(); got != "first" {
		t.Error(got)
	}
	p.call("TaskCreate", `{"subject":"a","description":""}`)
	p.call("TaskCreate", `{"subject":"b","description":"","metadata":{"_internal":true}}`)
	if got := state(); !strings.HasPrefix(got, "first|Your task list") || !strings.HasSuffix(got, "\n1 [pending] a") {
		t.Error(got)
	}
	p.call("TaskUpdate", `{"taskId":"1","status":"completed"}`)
	if got := state(); got != "first" {
		t.Error(got)
	}
	for range maxLines + 5 {
		p.call("TaskCreate", `{"subject":"more","description":""}`)
	}
	if got := state(); strings.Contains(got, "completed") || strings.Count(got, "more\n") != maxLines || !strings.HasSuffix(got, "\n… and 6 more; TaskList shows all") {
		t.Error(got)
	}
}

// TestFollow checks that the user is notified of changes to a shared list by other processes,
// but not by this one.
//
// Proves TASK-01.
func TestFollow(t *testing.T) {
	p := newPlace(t, func(c *Config) { c.Names.Named = "release" })
	p.Follow()
	other := newPlace(t, func(c *Config) { c.Home, c.Names.Named = p.cfg.Home, "release" })
	heard := func(text string) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.ContainsFunc(p.said, func(s string) bool { return strings.Contains(s, text) })
	}
	for i := 0; !heard("was added: theirs"); i++ { // the first ones may precede the watch
		if i > 1000 {
			t.Fatalf("told %q", p.said)
		}
		p.call("TaskCreate", `{"subject":"mine","description":""}`)
		other.call("TaskCreate", `{"subject":"theirs","description":""}`)
		time.Sleep(60 * time.Millisecond)
	}
	if heard("mine") {
		t.Errorf("told of its own: %q", p.said)
	}
	p.Close()
	alone := newPlace(t, nil)
	if alone.Follow(); alone.stop != nil {
		t.Error("a list of the session alone is watched")
	}
}

func TestNews(t *testing.T) {
	list := tasklist.Open(tasklist.Config{})
	before := []tasklist.Task{{ID: "1", Status: "pending", Subject: "a"}, {ID: "2", Status: "in_progress", Subject: "b"}, {ID: "3", Status: "pending", Subject: "c"}}
	now := []tasklist.Task{{ID: "1", Status: "in_progress", Subject: "a", Owner: "ada"}, {ID: "2", Status: "pending", Subject: "b"}, {ID: "3", Status: "completed", Subject: "c\x1b[2J\nx"}}
	want := []string{"task 1 was begun: a (ada)", "task 2 was given back: b", "task 3 was completed: c\x1b[2J x"}
	if diff := cmp.Diff(want, news(list, before, now)); diff != "" {
		t.Error(diff)
	}
	now = append(now, tasklist.Task{ID: "4", Status: "pending", Subject: "d"})
	if diff := cmp.Diff([]string{"4 tasks of the task list have changed; /todos shows it"}, news(list, before, now)); diff != "" {
		t.Error(diff)
	}
}

func TestPage(t *testing.T) {
	p := newPlace(t, func(c *Config) { c.Shared = false })
	page := func() string {
		a, err := p.page(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(a)
	}
	if got := page(); !strings.Contains(got, "The task list is empty.") {
		t.Error(got)
	}
	p.replace([]todo.Item{{Content: "a", Status: tasklist.Completed}})
	if got := page(); !strings.Contains(got, "1 of 1 done.") {
		t.Error(got)
	}
	if _, err := (*Lists)(nil).page(t.Context()); err == nil {
		t.Error("a page of nothing")
	}
}
