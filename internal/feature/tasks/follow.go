package tasks

import (
	"context"
	"fmt"

	"adze/internal/domain/tasklist"
)

// Follow notifies the user of changes to the list by other processes, until the lists are
// closed. A list that belongs to the session alone is not watched.
func (l *Lists) Follow() {
	id, err := l.cfg.Names.Choose()
	if err != nil || id == l.cfg.Names.Session || !l.cfg.Shared {
		return
	}
	list, err := l.open()
	if err != nil {
		return // the first call reports the error
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	l.done.Go(func() {
		before, _ := list.Tasks(ctx) // ok: watching reports the error
		err := list.Watch(ctx, func(now []tasklist.Task) {
			for _, line := range news(list, before, now) {
				l.cfg.Say(line)
			}
			before = now
		})
		if err != nil {
			l.cfg.Say(err.Error())
		}
	})
}

// news summarizes in a few lines the tasks that others added, started and completed.
func news(list *tasklist.List, before, now []tasklist.Task) (lines []string) {
	was := map[string]tasklist.Task{}
	for _, t := range before {
		was[t.ID] = t
	}
	for i := range now {
		t := &now[i]
		old, known := was[t.ID]
		if t.Internal() || known && old.Status == t.Status || list.Mine(t) {
			continue
		}
		what := "was added"
		switch {
		case t.Status == tasklist.InProgress:
			what = "was begun"
		case t.Status == tasklist.Completed:
			what = "was completed"
		case known:
			what = "was given back"
		}
		line := fmt.Sprintf("task %s %s: %s", t.ID, what, tasklist.OneLine(t.Subject))
		if t.Owner != "" {
			line += " (" + tasklist.OneLine(t.Owner) + ")"
		}
		lines = append(lines, line)
	}
	const most = 3
	if len(lines) > most {
		return []string{fmt.Sprintf("%d tasks of the task list have changed; /todos shows it", len(lines))}
	}
	return lines
}
