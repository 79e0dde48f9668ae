package tasklist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
)

// Config configures a List. Dir is its directory, created when needed, and Locks a directory
// for locks, shared by all processes. Warn, if non-nil, is called once for each unusable file.
type Config struct {
	Dir, Locks string
	Warn       func(text string)
}

// A List is a task list. It is safe for concurrent use by any number of processes.
type List struct {
	cfg   Config
	locks *replace.Replacer

	mu     sync.Mutex
	reader reader
	warned map[int]string
	wrote  map[int]Task // last written by this process
}

// Open returns the list in a directory. It reads nothing yet.
func Open(c Config) *List {
	return &List{cfg: c, locks: replace.New(c.Locks), reader: reader{dir: c.Dir}, warned: map[int]string{}, wrote: map[int]Task{}}
}

// A Draft describes a task to create.
type Draft struct {
	Subject, Description, ActiveForm string
	Metadata                         map[string]json.RawMessage
}

// Create adds a task. may, if non-nil, is called first, while others can change the list: if it
// fails, no task is created and its id is not reused.
func (l *List) Create(ctx context.Context, d Draft, may func(Task) error) (Task, error) {
	t := Task{
		Subject: strings.TrimSpace(d.Subject), Description: d.Description, ActiveForm: strings.TrimSpace(d.ActiveForm), Status: Pending,
		Blocks: []string{}, BlockedBy: []string{}, Metadata: maps.Clone(d.Metadata),
	}
	if _, err := t.encode(); err != nil {
		return Task{}, err
	}
	err := l.change(ctx, func(s *snapshot) error {
		if n := len(s.tasks) + len(s.broken); n >= MaxTasks {
			return fmt.Errorf("the list is full (%d tasks); delete completed tasks", n)
		}
		n := l.highest(s) + 1
		t.ID = strconv.Itoa(n)
		return l.mark(n)
	})
	if err != nil {
		return Task{}, err
	}
	if may != nil {
		if err := may(t); err != nil {
			return Task{}, err
		}
	}
	return t, l.locked(ctx, func() error { return l.write(&t) })
}

// Tasks returns the tasks in creation order.
func (l *List) Tasks(context.Context) ([]Task, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.read()
	if err != nil {
		return nil, err
	}
	all := make([]Task, 0, len(s.tasks))
	for _, n := range s.numbers() {
		all = append(all, *s.tasks[n])
	}
	return all, nil
}

// Waits returns the ids of the tasks that a task waits for.
func Waits(all []Task, t *Task) []string {
	s := snapshot{tasks: make(map[int]*Task, len(all))}
	for i := range all {
		s.tasks[number(all[i].ID)] = &all[i]
	}
	var open []string
	for _, id := range t.BlockedBy {
		if other := s.tasks[number(id)]; other == nil || other.Open() { // an unlisted task is unreadable
			open = append(open, id)
		}
	}
	return open
}

// ErrNotFound is returned for an unknown task id.
var ErrNotFound = errors.New("no such task")

// Get returns the task with the given id.
func (l *List) Get(_ context.Context, id string) (Task, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.read()
	if err != nil {
		return Task{}, err
	}
	t, err := s.task(id)
	if err != nil {
		return Task{}, err
	}
	return *t, nil
}

// task returns the task with the given id.
func (s *snapshot) task(id string) (*Task, error) {
	n := number(id)
	if t := s.tasks[n]; t != nil {
		return t, nil
	}
	if err := s.broken[n]; err != nil {
		return nil, fmt.Errorf("task %d cannot be read: %w; it can only be deleted", n, err)
	}
	return nil, fmt.Errorf("%w: %q", ErrNotFound, clip(id))
}

// A Change describes an update of a task; nil fields are unchanged. A null value in Metadata
// removes the key. Blocks and BlockedBy are added to the existing ones.
type Change struct {
	// By is the teammate making the change, who can't take a task from its owner. Empty means
	// the lead, who can.
	By string

	Subject, Description, ActiveForm, Owner *string
	Status                                  *Status
	Blocks, BlockedBy                       []string
	Metadata                                map[string]json.RawMessage
}

// Update changes a task, and returns its old and new state.
func (l *List) Update(ctx context.Context, id string, c Change) (was, is Task, err error) {
	err = l.change(ctx, func(s *snapshot) error {
		t, err := s.task(id)
		if err != nil {
			return err
		}
		was = *t.clone()
		if err := c.allowed(s, t); err != nil {
			return err
		}
		c.apply(t)
		others, err := s.link(t, c.Blocks, c.BlockedBy)
		if err != nil {
			return err
		}
		if _, err := t.encode(); err != nil {
			return err // fail before anything is written
		}
		is = *t
		return l.write(append(others, t)...)
	})
	return was, is, err
}

// allowed returns the refusal for a change that starts or takes t against the rules of
// [List.Claim].
func (c *Change) allowed(s *snapshot, t *Task) error {
	begins := c.Status != nil && *c.Status == InProgress
	takes := c.Owner != nil && *c.Owner != t.Owner
	if c.By != "" && (begins || takes && t.Owner != "") {
		if _, err := s.claimable(t.ID, c.By); err != nil {
			return err
		}
	}
	if open := s.waits(t); begins && t.Status != InProgress && len(open) > 0 {
		return &Refusal{Reason: Blocked, ID: t.ID, By: open}
	}
	if begins && c.By != "" && c.Owner == nil {
		c.Owner = &c.By
	}
	return nil
}

// apply makes the changes that affect only t.
func (c *Change) apply(t *Task) {
	set := func(to *string, value *string) {
		if value != nil {
			*to = *value
		}
	}
	set(&t.Subject, c.Subject)
	set(&t.Description, c.Description)
	set(&t.ActiveForm, c.ActiveForm)
	set(&t.Owner, c.Owner)
	if c.Status != nil {
		t.Status = *c.Status
	}
	for key, value := range c.Metadata {
		if t.Metadata == nil {
			t.Metadata = map[string]json.RawMessage{}
		}
		if t.Metadata[key] = value; value == nil || string(value) == "null" {
			delete(t.Metadata, key)
		}
	}
}

// link makes t wait for some tasks, and others wait for t. It returns the other tasks that
// changed.
func (s *snapshot) link(t *Task, blocks, blockedBy []string) ([]*Task, error) {
	changed := map[int]*Task{}
	join := func(first, then string) error {
		a, err := s.task(first)
		if err != nil {
			return err
		}
		b, err := s.task(then)
		switch {
		case err != nil:
			return err
		case a == b:
			return fmt.Errorf("task %s cannot wait for itself", t.ID)
		case slices.Contains(b.BlockedBy, first):
			return nil
		case s.reaches(number(then), number(first)):
			return fmt.Errorf("task %s cannot wait for task %s, which waits for %s already", then, first, then)
		}
		a.Blocks, b.BlockedBy = sorted(append(a.Blocks, then)), sorted(append(b.BlockedBy, first))
		changed[number(first)], changed[number(then)] = a, b
		return nil
	}
	for _, id := range blocks {
		if err := join(t.ID, id); err != nil {
			return nil, err
		}
	}
	for _, id := range blockedBy {
		if err := join(id, t.ID); err != nil {
			return nil, err
		}
	}
	delete(changed, number(t.ID))
	return slices.Collect(maps.Values(changed)), nil
}

// Delete removes a task. Its id is not reused, and tasks stop waiting for it.
func (l *List) Delete(ctx context.Context, id string) (was Task, err error) {
	err = l.change(ctx, func(s *snapshot) error {
		n := number(id)
		if !s.has(n) {
			return fmt.Errorf("%w: %q", ErrNotFound, clip(id))
		}
		if was.ID = id; s.tasks[n] != nil {
			was = *s.tasks[n]
		}
		if err := l.mark(l.highest(s)); err != nil {
			return err
		}
		if err := os.Remove(l.reader.file(n)); err != nil {
			return fmt.Errorf("deleting task %s: %w", id, err)
		}
		delete(s.tasks, n)
		delete(s.broken, n)
		var changed []*Task
		for _, other := range s.tasks {
			if slices.Contains(other.BlockedBy, id) || slices.Contains(other.Blocks, id) {
				changed = append(changed, other)
			}
		}
		s.mirror()
		return l.write(changed...)
	})
	return was, err
}

// change calls f with the current list while no other process can change it.
func (l *List) change(ctx context.Context, f func(*snapshot) error) error {
	return l.locked(ctx, func() error {
		s, err := l.read()
		if err != nil {
			return err
		}
		return f(s)
	})
}

// lockName is the name that processes lock in a list's directory.
const lockName = "tasks"

// locked calls f while no other process can change the list.
func (l *List) locked(ctx context.Context, f func() error) error {
	if err := fsys.MkdirPrivate(l.cfg.Dir); err != nil {
		return fmt.Errorf("making the task list: %w", err)
	}
	dir, err := os.Open(l.cfg.Dir)
	if err != nil {
		return fmt.Errorf("opening the task list: %w", err)
	}
	defer dir.Close()
	file, err := l.locks.Lock(ctx, dir, lockName)
	switch {
	case errors.Is(err, replace.ErrBusy):
		return &Refusal{Reason: LockTimeout, err: err}
	case err != nil:
		return fmt.Errorf("locking the task list: %w", err)
	}
	defer file.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	return f()
}

// read returns the list, and warns about unusable files. The caller holds the mutex.
func (l *List) read() (*snapshot, error) {
	s, err := l.reader.all()
	if err != nil {
		return nil, err
	}
	for _, n := range slices.Sorted(maps.Keys(s.broken)) {
		why := s.broken[n].Error()
		if l.warned[n] == why {
			continue
		}
		l.warned[n] = why
		if l.cfg.Warn != nil {
			l.cfg.Warn(fmt.Sprintf("task %d of the task list is left out: %s: %s", n, l.reader.file(n), why))
		}
	}
	return s, nil
}

// write writes tasks one by one.
func (l *List) write(tasks ...*Task) error {
	for _, t := range tasks {
		data, err := t.encode()
		if err != nil {
			return err
		}
		if err := l.locks.WriteFile(l.reader.file(number(t.ID)), data, 0o600); err != nil {
			return fmt.Errorf("writing task %s: %w", t.ID, err)
		}
		l.wrote[number(t.ID)] = *t
	}
	return nil
}

// Mine reports whether this process set a task's current status, owner and subject.
func (l *List) Mine(t *Task) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	own, ok := l.wrote[number(t.ID)]
	return ok && own.Status == t.Status && own.Owner == t.Owner && own.Subject == t.Subject
}

// markFile holds the highest id assigned so far.
const markFile = ".highest"

// highest returns the highest id assigned in the list.
func (l *List) highest(s *snapshot) int {
	data, _ := fsys.ReadSmall(filepath.Join(l.cfg.Dir, markFile), 100) // ok: fall back to the tasks
	top := number(strings.TrimSpace(string(data)))
	for _, n := range slices.Concat(slices.Collect(maps.Keys(s.tasks)), slices.Collect(maps.Keys(s.broken))) {
		top = max(top, n)
	}
	return top
}

// mark records the highest id.
func (l *List) mark(n int) error {
	if err := l.locks.WriteFile(filepath.Join(l.cfg.Dir, markFile), []byte(strconv.Itoa(n)+"\n"), 0o600); err != nil {
		return fmt.Errorf("writing the task list: %w", err)
	}
	return nil
}

// Copy copies a list, unless the destination exists.
func Copy(from, to string) error {
	entries, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("copying the task list: %w", err)
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := fsys.MkdirPrivate(to); err != nil {
		return fmt.Errorf("copying the task list: %w", err)
	}
	for _, e := range entries {
		if numberOf(e.Name()) == 0 && e.Name() != markFile || !e.Type().IsRegular() {
			continue
		}
		data, err := fsys.ReadSmall(filepath.Join(from, e.Name()), maxFile)
		if err == nil {
			err = replace.WriteFile(filepath.Join(to, e.Name()), data, 0o600)
		}
		if err != nil {
			return fmt.Errorf("copying the task list: %w", err)
		}
	}
	return nil
}
