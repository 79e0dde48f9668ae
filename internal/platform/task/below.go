package task

import (
	"maps"
	"slices"
)

// Join makes the tasks of a table known to who looks for one in t, until leave is called: a conversation that works for
// another has tasks of its own.
func (t *Table) Join(below *Table) (leave func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.below = append(t.below, below)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.below = slices.DeleteFunc(t.below, func(b *Table) bool { return b == below })
	}
}

// Everything returns all tasks: those in the background, those that their caller waits for, and those of the tables
// below. What runs comes first, the oldest first.
func (t *Table) Everything() []*Task {
	t.mu.Lock()
	known := maps.Clone(t.all)
	for _, task := range t.tasks {
		known[task] = true
	}
	tables := slices.Clone(t.below)
	t.mu.Unlock()
	all := slices.Collect(maps.Keys(known))
	for _, b := range tables {
		all = append(all, b.Everything()...)
	}
	slices.SortFunc(all, func(a, b *Task) int { return a.Started.Compare(b.Started) })
	slices.SortStableFunc(all, func(a, b *Task) int { return ended(a) - ended(b) })
	return all
}

// ended returns 1 for a task that has ended, and 0 for others.
func ended(task *Task) int {
	if task.Status() == Running {
		return 0
	}
	return 1
}

// Find is like [Table.Get] for everything that runs, whether in the background or not, here or in a table below.
func (t *Table) Find(id string) (*Task, error) {
	for _, task := range t.Everything() {
		if task.ID == id {
			return task, nil
		}
	}
	return t.Get(id) // it says which there are
}
