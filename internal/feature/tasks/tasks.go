// Package tasks provides a conversation's task list: its selection, tools, hooks,
// restoration after a compaction, and the command that shows it.
package tasks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"adze/internal/agent/compact"
	"adze/internal/domain/tasklist"
	"adze/internal/feature"
	"adze/internal/hook"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
	"adze/internal/tools/tasks"
	"adze/internal/tools/todo"
)

// Config configures a conversation's lists.
type Config struct {
	// Home is the state directory; may be empty. Kept is true if the session, and therefore its
	// list, is stored there.
	Home string
	Kept bool
	// Names selects the list. Its Earlier field is set by New, and its Led field from the
	// function Led, which returns the team the conversation leads now and may be nil.
	Names tasklist.Names
	Led   func() string
	// Member is the name of the conversation's teammate, or empty.
	Member string
	// Shared selects the list that several processes can share; otherwise the model has its own
	// to-do list.
	Shared bool
	// Last holds the notes of an earlier process, by kind. Note saves one; it may be nil.
	Last map[string]json.RawMessage
	Note func(kind string, fields map[string]any)
	// Fire runs hooks; may be nil.
	Fire func(context.Context, hook.Event) hook.Outcome
	// Say reports a problem to the user.
	Say      func(string)
	Language func() texts.Language
}

// Kinds of notes.
const (
	listKind  = "task-list"
	todosKind = "todos"
)

// Lists holds a conversation's lists. Nil has none.
type Lists struct {
	cfg  Config
	open func() (*tasklist.List, error)

	mu    sync.Mutex
	todos []todo.Item
	temp  string // temporary directory to remove; may be empty
	noted bool

	stop context.CancelFunc // stops following the list; may be nil
	done sync.WaitGroup
}

// New returns a conversation's lists. Nothing is read or created until the list is used.
func New(c Config) (*Lists, error) {
	var last struct {
		ID    string
		Todos []todo.Item
	}
	json.Unmarshal(c.Last[listKind], &last)  // ok: falls back to the session's list
	json.Unmarshal(c.Last[todosKind], &last) // ok: the model writes it again
	c.Names.Earlier = last.ID
	if _, err := c.Names.Choose(); err != nil {
		return nil, err
	}
	l := &Lists{cfg: c, todos: last.Todos}
	l.open = opener(l)
	return l, nil
}

// opener returns a function that opens the current list, each once.
func opener(l *Lists) func() (*tasklist.List, error) {
	var mu sync.Mutex
	opened := map[string]*tasklist.List{}
	return func() (*tasklist.List, error) {
		names := l.cfg.Names
		if l.cfg.Led != nil {
			names.Led = l.cfg.Led()
		}
		id, err := names.Choose()
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		if opened[id] == nil {
			list, err := l.openList(id)
			if err != nil {
				return nil, err
			}
			opened[id] = list
		}
		return opened[id], nil
	}
}

// openList opens the list with an ID. The list of an ephemeral session is temporary.
func (l *Lists) openList(id string) (*tasklist.List, error) {
	home := l.cfg.Home
	if home == "" || !l.cfg.Kept && id == l.cfg.Names.Session {
		dir, err := os.MkdirTemp("", "adze-tasks-")
		if err != nil {
			return nil, fmt.Errorf("making a directory for the task list: %w", err)
		}
		l.mu.Lock()
		l.temp, home = dir, dir
		l.mu.Unlock()
	}
	return tasklist.Open(tasklist.Config{Dir: tasklist.Dir(home, id), Locks: filepath.Join(home, "locks"), Warn: l.cfg.Say}), nil
}

// Child returns the lists of a nested conversation: it shares the tasks but has its own to-do
// list. member is the conversation's teammate, or empty.
func (l *Lists) Child(member string) *Lists {
	if l == nil {
		return nil
	}
	c := l.cfg
	c.Note, c.Member = nil, cmp.Or(member, c.Member)
	return &Lists{cfg: c, open: l.open}
}

// Close removes temporary data.
func (l *Lists) Close() {
	if l == nil {
		return
	}
	if l.stop != nil {
		l.stop()
		l.done.Wait()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.temp != "" {
		os.RemoveAll(l.temp) // ok: the system cleans up
	}
}

// list returns the task list, and records its ID if it is not the session's.
func (l *Lists) list() (*tasklist.List, error) {
	list, err := l.open()
	if err != nil {
		return nil, err
	}
	id, err := l.cfg.Names.Choose()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && !l.noted && l.cfg.Note != nil && id != l.cfg.Names.Session {
		l.cfg.Note(listKind, map[string]any{"id": id})
	}
	l.noted = true
	return list, nil
}

// Tools returns the tools for the lists. The settings determine which are offered.
func (l *Lists) Tools() []tool.Tool {
	either := func(shared bool, instead string) func() error {
		return func() error {
			switch {
			case l == nil:
				return errors.New("no task list")
			case l.cfg.Shared != shared:
				return fmt.Errorf("the list is kept with %s, as the setting tasks.shared says", instead)
			}
			return nil
		}
	}
	shared, own := tasks.Config{Enabled: either(true, todo.Name)}, todo.Config{Enabled: either(false, tasks.CreateName+" and "+tasks.UpdateName)}
	if l != nil {
		shared.List, shared.Create, shared.Complete, shared.Language, shared.Member = l.list, l.creating, l.completing, l.cfg.Language, l.cfg.Member
		own.Replace, own.Language = l.replace, l.cfg.Language
	}
	return append(tasks.Tools(shared), todo.New(own))
}

// Trackers returns the names of the tools that track tasks. Only one is offered.
func Trackers() []string { return []string{tasks.CreateName, todo.Name} }

func (l *Lists) creating(ctx context.Context, t tasklist.Task) error {
	return l.ask(ctx, hook.OnTaskCreated(t.ID, t.Subject, t.Description))
}

func (l *Lists) completing(ctx context.Context, t tasklist.Task) error {
	return l.ask(ctx, hook.OnTaskCompleted(t.ID, t.Subject, t.Description))
}

// ask returns the hooks' objection to an event, if any.
func (l *Lists) ask(ctx context.Context, e hook.Event) error {
	if l.cfg.Fire == nil {
		return nil
	}
	out := l.cfg.Fire(ctx, e)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case out.Blocked:
		return fmt.Errorf("%s refuses: %s", out.By, out.Reason)
	case out.Stop != "":
		return fmt.Errorf("a hook refuses: %s", out.Stop)
	}
	return nil
}

// replace replaces the to-do list and returns the old one.
func (l *Lists) replace(items []todo.Item) []todo.Item {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.todos
	l.todos = slices.Clone(items)
	if l.cfg.Note != nil {
		l.cfg.Note(todosKind, map[string]any{"todos": items})
	}
	return old
}

// Part returns the lists' contribution to a conversation.
func (l *Lists) Part() feature.Part {
	return feature.Part{Name: "tasks", Tools: l.Tools(), Commands: l.Sections(), Restore: l.restore}
}

// restore restores the list after a compaction.
func (l *Lists) restore(ctx context.Context, s *compact.Sources) {
	if l == nil {
		return
	}
	if text := tasklist.State(l.cfg.Language(), l.lines(ctx)); text != "" {
		s.State = append(s.State, text)
	}
}

// maxLines is the maximum number of lines restored. In a longer list, open tasks come first.
const maxLines = 100

// lines formats the list, or returns nil if nothing is open.
func (l *Lists) lines(ctx context.Context) []string {
	var open, done, all []string
	add := func(s tasklist.Status, line string) {
		all = append(all, line)
		if s == tasklist.Completed {
			done = append(done, line)
		} else {
			open = append(open, line)
		}
	}
	if !l.cfg.Shared {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, item := range l.todos {
			add(item.Status, fmt.Sprintf("- [%s] %s", item.Status, tasklist.OneLine(item.Content)))
		}
	} else if list, err := l.tasks(ctx); err == nil {
		for _, t := range tasklist.Visible(list) {
			add(t.Status, tasklist.Line(list, &t))
		}
	}
	switch {
	case len(open) == 0:
		return nil
	case !l.cfg.Shared, len(all) <= maxLines: // the tool limits the to-do list
		return all
	}
	first := slices.Concat(open, done)[:maxLines]
	return append(first, fmt.Sprintf("… and %d more; %s shows all", len(all)-maxLines, tasks.ListName))
}

// tasks returns the shared list's tasks.
func (l *Lists) tasks(ctx context.Context) ([]tasklist.Task, error) {
	list, err := l.open()
	if err != nil {
		return nil, err
	}
	return list.Tasks(ctx)
}

// Checklist returns the list for display.
func (l *Lists) Checklist(ctx context.Context) (tool.Checklist, error) {
	if !l.cfg.Shared {
		l.mu.Lock()
		defer l.mu.Unlock()
		return todo.Checklist(l.todos), nil
	}
	all, err := l.tasks(ctx)
	if err != nil {
		return nil, err
	}
	return tasks.Checklist(all), nil
}
