// Package memory implements adze memory: it shows, checks and changes a project's memories.
// It also offers to copy another program's memories.
package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/internal/app/cli/actions"
	"adze/internal/domain/memdir"
	"adze/internal/platform/term"
	"adze/internal/setup"
	"adze/internal/ui/console"
)

// Actions returns the actions of adze memory.
func Actions() actions.Table[*Task] {
	return actions.Table[*Task]{
		{Name: "list", Doc: "list the memories of this project, newest first", Run: list},
		{Name: "show", Args: "NAME", Doc: "print a memory", Least: 1, Most: actions.Any, Run: show},
		{Name: "check", Doc: "report problems in the memories and their index; --fix repairs them where possible", Run: check},
		{Name: "path", Doc: "print the folder of this project's memories", Run: path},
		{Name: "edit", Args: "NAME", Doc: "open a memory in your editor", Least: 1, Most: actions.Any, Run: edit},
		{Name: "rm", Args: "NAME", Doc: "remove a memory and its line in the index; asks first, unless --yes is given", Least: 1, Most: actions.Any, Run: remove},
	}
}

// Options are the flags of the actions.
type Options struct{ JSON, Fix, Yes bool }

// A Task is one action on the memories of a project, with its arguments.
type Task struct {
	memdir.Folder
	*console.Console
	Options
	Args []string
	// Edit opens a file in the user's editor.
	Edit func(path string) error
}

// ErrFailed reports that a check found problems and that the user has been notified.
var ErrFailed = errors.New("failed")

// Run runs an action.
func (t *Task) Run(ctx context.Context, a *actions.Action[*Task]) error {
	if err := a.Check("memory", len(t.Args)); err != nil {
		return err
	}
	return a.Run(ctx, t)
}

// A listedMemory is a memory in JSON output.
type listedMemory struct {
	Name        string      `json:"name"`
	Path        string      `json:"path"`
	Title       string      `json:"title"`
	Type        memdir.Type `json:"type"`
	Description string      `json:"description"`
	Modified    time.Time   `json:"modified"`
	Size        int64       `json:"size"`
	Problems    []string    `json:"problems"`
	Text        *string     `json:"text,omitempty"`
}

func (t *Task) listed(m memdir.Memory) listedMemory {
	return listedMemory{m.Name, t.Path(m.Name), m.Title, m.Type, m.Description, m.Modified.UTC(), m.Size, append([]string{}, m.Problems...), nil}
}

func list(_ context.Context, t *Task) error {
	all, err := t.List()
	if err != nil {
		return err
	}
	if t.JSON {
		list := []listedMemory{}
		for _, m := range all {
			list = append(list, t.listed(m))
		}
		return t.PrintJSON(list)
	}
	if len(all) == 0 {
		t.Say("this project has no memories yet; they will be in " + t.Dir)
	}
	var b strings.Builder
	for _, m := range all {
		date := "-         "
		if !m.Modified.IsZero() {
			date = m.Modified.Format(time.DateOnly)
		}
		fmt.Fprintf(&b, "%s  %s\n", date, m)
	}
	return t.Show(b.String())
}

// maxShownMemory is the maximum number of bytes printed of a memory.
const maxShownMemory = 1 << 20

func show(_ context.Context, t *Task) error {
	m, err := t.Find(strings.Join(t.Args, " "))
	if err != nil {
		return err
	}
	text, err := t.Read(m.Name, maxShownMemory)
	if err != nil {
		return err
	}
	if t.JSON {
		l := t.listed(m)
		l.Text = &text
		return t.PrintJSON(l)
	}
	return t.Page(text)
}

func path(_ context.Context, t *Task) error {
	if t.JSON {
		return t.PrintJSON(map[string]string{"path": t.Dir})
	}
	return t.Show(t.Dir + "\n")
}

func edit(_ context.Context, t *Task) error {
	m, err := t.Find(strings.Join(t.Args, " "))
	if err != nil {
		return err
	}
	return t.Edit(t.Path(m.Name))
}

// check repairs problems if requested and reports the remaining ones. It fails if there are
// any.
func check(_ context.Context, t *Task) error {
	if t.Options.Fix {
		if err := t.Folder.Fix(); err != nil {
			return err
		}
	}
	found, err := t.Check()
	if err != nil {
		return err
	}
	if t.JSON {
		err = t.PrintJSON(append([]memdir.Finding{}, found...))
	} else {
		var b strings.Builder
		for _, f := range found {
			b.WriteString(f.String() + "\n")
		}
		err = t.Show(b.String())
	}
	if err == nil && len(found) > 0 {
		err = ErrFailed
	}
	return err
}

func remove(_ context.Context, t *Task) error {
	m, err := t.Find(strings.Join(t.Args, " "))
	if err != nil {
		return err
	}
	if !t.Yes {
		if !t.StdinTerminal {
			return setup.Errorf("cannot ask for confirmation without a terminal; --yes removes without asking")
		}
		yes, err := t.Confirm(fmt.Sprintf("Remove the memory %s (%s)?", term.Sanitize(m.Name), term.Sanitize(m.Description)))
		if err != nil || !yes {
			return err
		}
	}
	if err := t.Remove(m.Name); err != nil {
		return err
	}
	return t.Show("removed " + m.Name + "\n")
}
