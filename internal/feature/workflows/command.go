package workflows

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/commands"
	"adze/internal/domain/skill"
	"adze/internal/domain/workflow"
	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
	workflowtool "adze/internal/tools/workflow"
)

// errNone rejects the commands in sessions without agents.
var errNone = errors.New("workflows are unavailable: this session can't launch agents")

// Sections returns the commands, in their /help section.
func (ws *Workflows) Sections() []commands.Section {
	return []commands.Section{{Name: "Extensions", Commands: []commands.Command{
		{
			Name: "workflows", Doc: "list the workflows, and the unfinished runs of this session",
			Run: func(context.Context, *commands.Registry, string) (commands.Answer, error) { return ws.page() },
		},
		{
			Name: "workflow", Kind: commands.Change, Args: "NAME [INPUT=VALUE...] [restart]",
			Doc: "run a workflow, or continue an unfinished run; restart begins at the first step",
			Run: func(ctx context.Context, _ *commands.Registry, arg string) (commands.Answer, error) {
				return ws.typed(ctx, arg)
			},
			Complete: func(*commands.Registry, string) []string { return ws.names() },
		},
	}}}
}

// names returns the names of the workflows.
func (ws *Workflows) names() (names []string) {
	if ws == nil {
		return nil
	}
	set := Find(ws.cfg.Project)
	for _, w := range set.All {
		names = append(names, w.Name)
	}
	return names
}

// page lists the workflows.
func (ws *Workflows) page() (commands.Answer, error) {
	if ws == nil {
		return nil, errNone
	}
	set := Find(ws.cfg.Project)
	var p commands.Page
	if len(set.All) == 0 {
		p.Add(commands.Text("No workflows. Put workflow files in .adze/workflows (of a trusted project) or " + userFolder(ws.cfg.Project) + "."))
	} else {
		t := commands.Table{Columns: []commands.Column{{Name: "Workflow"}, {Name: "Inputs"}, {Name: "From"}, {Name: "About"}}}
		for _, w := range set.All {
			t.Rows = append(t.Rows, []string{w.Name, strings.Join(w.Inputs, ", "), origin(w.Scope), tool.OneLine(w.Description, 200)})
		}
		p.Add(t)
	}
	for _, line := range ws.cut(&set) {
		p.Add(commands.Text(line))
	}
	for _, problem := range set.Problems {
		p.Add(commands.Notice(problem))
	}
	return p, nil
}

// origin describes a workflow's source.
func origin(s scope.Scope) string {
	switch s {
	case scope.Managed:
		return "administrator"
	case scope.User:
		return "you"
	}
	return "project"
}

// cut lists the session's unfinished runs, and how to continue each. If the workflow has
// changed since, its run cannot be continued.
func (ws *Workflows) cut(set *Set) (lines []string) {
	files, _ := filepath.Glob(ws.journal("*")) // ok: a bad pattern matches nothing
	for _, file := range files {
		h, ended, err := workflow.ReadHead(file)
		w := set.get(h.Name)
		if err != nil || ended || w == nil {
			continue
		}
		key, err := keyOf(w.Workflow, h.Inputs)
		if err != nil || ws.journal(key) != file || ws.underWay(key) {
			continue
		}
		lines = append(lines, "A run did not finish. To continue it: "+typedAs(h))
	}
	return lines
}

// underWay reports whether a run is in progress.
func (ws *Workflows) underWay(key string) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.running[key] != ""
}

// typedAs returns the command that starts a run.
func typedAs(h workflow.Head) string {
	words := []string{fmt.Sprintf("/workflow %s", h.Name)}
	for _, name := range slices.Sorted(maps.Keys(h.Inputs)) {
		value := h.Inputs[name]
		if value == "" || strings.ContainsAny(value, " \t\n\"'\\") {
			value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
		words = append(words, name+"="+value)
	}
	return strings.Join(words, " ")
}

// parse parses the arguments of the command.
func parse(arg string) (in workflowtool.Input, err error) {
	in.Inputs = map[string]string{}
	for _, word := range skill.SplitArguments(arg) {
		name, value, given := strings.Cut(word, "=")
		switch {
		case word == "restart" && in.Name != "":
			in.Restart = true
		case in.Name == "" && !given:
			in.Name = word
		case given && in.Name != "":
			in.Inputs[name] = value
		default:
			return in, fmt.Errorf("%q is not INPUT=VALUE; put a value with blanks in quotes", tool.OneLine(word, 60))
		}
	}
	if in.Name == "" {
		return in, errors.New("usage: /workflow NAME [INPUT=VALUE...]; /workflows lists the workflows")
	}
	return in, nil
}

// typed runs the workflow typed by the user.
func (ws *Workflows) typed(ctx context.Context, arg string) (commands.Answer, error) {
	if ws == nil {
		return nil, errNone
	}
	in, err := parse(arg)
	if err != nil {
		return nil, err
	}
	if ws.cfg.Waits {
		return ws.wait(ctx, in)
	}
	t, err := ws.Start(ctx, in)
	if err != nil {
		return nil, err
	}
	return commands.Say(fmt.Sprintf("The workflow %s runs as task %s; /tasks shows how far it is.", in.Name, t.ID)), nil
}

// wait runs the workflow to completion and returns its result.
func (ws *Workflows) wait(ctx context.Context, in workflowtool.Input) (commands.Answer, error) {
	r, err := ws.begin(ctx, in)
	if err != nil {
		return nil, err
	}
	r.task.Stay()
	defer r.task.Output.Discard()
	defer context.AfterFunc(ctx, func() { r.task.Stop() })()
	text, err := r.work()
	if err != nil {
		return nil, err
	}
	return commands.Say(text), nil
}
