package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/proc/task"
	"adze/internal/platform/text/amount"
	"adze/internal/tool"
)

func tasksCommand() Command {
	return Command{Name: "tasks", Kind: Change, Args: "[ID]", Doc: "show the background tasks, or the output of one; stop ID stops it, fg ID follows it",
		Run: func(_ context.Context, r *Registry, arg string) (Answer, error) { return r.tasks(arg) }, Complete: (*Registry).completeTasks}
}

// ErrNoTasks is returned if background tasks are disabled.
var ErrNoTasks = errors.New("background tasks are disabled")

var errTasks = errors.New("usage: /tasks, /tasks ID, /tasks stop ID or /tasks fg ID")

// tasks lists the background tasks, or shows, stops or follows one.
func (r *Registry) tasks(arg string) (Answer, error) {
	table := r.Tasks
	if table == nil {
		return nil, ErrNoTasks
	}
	verb, id, _ := strings.Cut(arg, " ")
	if verb != "stop" && verb != "fg" {
		verb, id = "", arg
	}
	if arg == "" {
		if list, ok := r.taskPicker(); ok {
			return list, nil
		}
		return r.taskList(), nil
	}
	t, err := oneTask(table, strings.TrimSpace(id), verb != "")
	switch {
	case err != nil:
		return nil, err
	case verb == "":
		return taskPage(t), nil
	case verb == "stop" && t.Stop():
		return Say("Stopping the task."), nil
	case verb == "stop":
		return Say("The task has already ended."), nil
	case verb == "fg" && t.Status() == task.Running:
		return Follow{t, taskPage(t)}, nil
	case verb == "fg":
		return taskPage(t), nil
	}
	return nil, errTasks
}

// oneTask returns the task with an ID or unique ID prefix, including tasks of agents. If id is
// empty and running is true, it returns the only running background task.
func oneTask(table *task.Table, id string, running bool) (*task.Task, error) {
	if strings.ContainsAny(id, " \t") {
		return nil, errTasks
	}
	known := table.List()
	if id != "" {
		known = table.Everything()
	}
	var fit []*task.Task
	for _, t := range known {
		if t.ID == id {
			return t, nil
		}
		if id != "" && strings.HasPrefix(t.ID, id) || id == "" && running && t.Status() == task.Running {
			fit = append(fit, t)
		}
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1 && id != "":
		return nil, fmt.Errorf("several tasks have an id that begins with %s; give more of it", id)
	case len(fit) > 1:
		return nil, errors.New("several tasks are running; add the id of one: /tasks lists them")
	case id == "":
		return nil, errors.New("no task is running")
	}
	return table.Get(id) // the error lists the existing tasks
}

// completeTasks offers the tasks, and the actions on running ones.
func (r *Registry) completeTasks(_ string) []string {
	if r.Tasks == nil {
		return nil
	}
	offers := []string{"stop ", "fg "}
	for _, t := range r.Tasks.List() {
		offers = append(offers, t.ID)
		if t.Status() == task.Running {
			offers = append(offers, "stop "+t.ID, "fg "+t.ID)
		}
	}
	for _, a := range r.runningAgents() {
		if !slices.Contains(offers, a.ID) {
			offers = append(offers, a.ID, "stop "+a.ID, "fg "+a.ID)
		}
	}
	return offers
}

// taskPicker returns the tasks and agents to choose from. It reports false if the list is empty
// or the front end has no picker.
func (r *Registry) taskPicker() (List, bool) {
	choices := r.taskChoices()
	if !r.Terminal || r.Env.Keys.Lines || len(choices) == 0 {
		return List{}, false
	}
	list := List{
		Title: "Background tasks", Verb: "shows", Usage: "/tasks ID", Choices: choices,
		Views: []View{{Choices: choices, Load: func(context.Context) ([]Choice, error) { return r.taskChoices(), nil }}},
		Preview: func(_ context.Context, c Choice) (Page, error) {
			t, err := oneTask(r.Tasks, c.ID, false)
			if err != nil {
				return Page{}, err
			}
			return taskPage(t), nil
		},
		Choose: func(_ context.Context, c Choice) (Answer, error) { return r.tasks(c.ID) },
		Actions: []Action{
			{Key: "ctrl+x", Name: "stops", Run: func(_ context.Context, c Choice, _ string) (Answer, error) { return r.tasks("stop " + c.ID) }},
		},
	}
	if r.Files.Working != nil {
		AddWork(&list.Page, r.Files.Working(), r.Files.Short, r.Now())
	}
	return list, true
}

// taskChoices returns the background tasks and the running agents.
func (r *Registry) taskChoices() (choices []Choice) {
	seen := map[string]bool{}
	for _, t := range r.Tasks.List() {
		seen[t.ID] = true
		choices = append(choices, Choice{ID: t.ID, Title: t.Title, Cells: []string{taskState(t), t.ID}})
	}
	for _, b := range Tree(r.runningAgents(), func(a RunningAgent) string { return a.ID }, func(a RunningAgent) string { return a.Parent }) {
		if a := b.Item; !seen[a.ID] {
			about := strings.TrimSuffix(amount.Of(a.Calls, "call", "calls")+", "+a.Last, ", ")
			choices = append(choices, Choice{ID: a.ID, Title: strings.Repeat("  ", b.Depth) + a.Title + " (" + a.Type + ")", Cells: []string{about, a.ID}})
		}
	}
	return choices
}

// taskState returns a task's state and run time.
func taskState(t *task.Task) string {
	state := string(t.Status())
	if ending := t.Ending(); ending != "" {
		state += ", " + ending
	}
	return fmt.Sprintf("%s, %v", state, t.Took().Round(time.Second))
}

// taskList shows all tasks, and the commands for them.
func (r *Registry) taskList() (p Page) {
	list, agents := r.Tasks.List(), r.runningAgents()
	switch {
	case len(list) == 0 && r.Terminal && !r.Env.Keys.Lines:
		p = Say("No background tasks. Ctrl-B moves a running command to the background.")
	case len(list) == 0:
		p = Say("No background tasks.")
	default:
		p.Add(TaskTable(list...))
	}
	AddAgents(&p, agents)
	if len(list)+len(agents) > 0 {
		p.Add(Text("/tasks ID shows the output of a task or agent, /tasks stop ID stops it, /tasks fg ID follows it."))
	}
	if r.Files.Working != nil {
		AddWork(&p, r.Files.Working(), r.Files.Short, r.Now())
	}
	return p
}

// runningAgents returns the running agents.
func (r *Registry) runningAgents() []RunningAgent {
	if r.Extensions.Agents.Working == nil {
		return nil
	}
	return r.Extensions.Agents.Working()
}

// TaskTable lists tasks with their states.
func TaskTable(tasks ...*task.Task) Table {
	table := Table{Columns: []Column{{}, {Cut: true}, {}}}
	for _, t := range tasks {
		table.Rows = append(table.Rows, []string{t.ID, t.Title, taskState(t)})
	}
	return table
}

const (
	// shownTail is the number of bytes read from the end of a task's output, and tailLines the
	// number of lines shown.
	shownTail = 16 << 10
	tailLines = 20
)

// taskPage shows a task with the end of its output.
func taskPage(t *task.Task) Page {
	p := Page{Blocks: []Block{TaskTable(t)}}
	tail, lines := t.Output.Tail(shownTail)
	text := strings.TrimRight(strings.ToValidUTF8(string(tail), ""), "\n")
	if text == "" {
		p.Add(Items{"No output."})
		return p
	}
	last := strings.Split(text, "\n")
	shown := last[max(0, len(last)-tailLines):]
	if lines > len(shown) {
		p.Add(Items{fmt.Sprintf("%d earlier lines in %s", lines-len(shown), t.Output.Path())})
	}
	p.Add(Output{tool.Plain{Text: strings.Join(shown, "\n")}})
	return p
}

// TaskOutput returns a task's output after the first from bytes, and the total size of the output. If
// there is a lot, only the end is returned.
func TaskOutput(t *task.Task, from int64) (Page, int64) {
	var p Page
	size := t.Output.Size()
	start := max(from, size-shownTail)
	buf := make([]byte, size-start)
	if n, err := t.Output.ReadAt(buf, start); err == nil && n > 0 {
		if start > from {
			p.Add(Items{fmt.Sprintf("%d bytes left out", start-from)})
		}
		p.Add(Output{tool.Plain{Text: strings.ToValidUTF8(strings.TrimRight(string(buf), "\n"), "\uFFFD")}})
	}
	return p, size
}
