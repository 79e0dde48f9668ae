package task

import (
	"maps"
	"slices"
)

// Join makes another table's tasks visible in t until leave is called. The conversation of a
// sub-agent has its own table.
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

// Everything returns all tasks: background tasks, foreground tasks and tasks of joined tables.
// Running tasks come first, oldest first.
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

// ended returns 1 if a task has ended, otherwise 0.
func ended(task *Task) int {
	if task.Status() == Running {
		return 0
	}
	return 1
}

// Find is like [Table.Get], but also finds foreground tasks and tasks in joined tables.
func (t *Table) Find(id string) (*Task, error) {
	for _, task := range t.Everything() {
		if task.ID == id {
			return task, nil
		}
	}
	return t.Get(id) // the error lists the existing tasks
}
