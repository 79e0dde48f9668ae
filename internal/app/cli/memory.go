package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/app/memories"
	"adze/internal/app/settings"
	"adze/internal/app/setup"
	"adze/internal/app/syntax"
	"adze/internal/memory"
	"adze/internal/platform/term"
)

// A memoryAction is an action of adze memory.
type memoryAction struct {
	name, args, doc string
	run             func(*memoryTask) error
}

func memoryActions() []memoryAction {
	return []memoryAction{
		{"list", "", "list the memories of this project, newest first", (*memoryTask).list},
		{"show", "NAME", "print a memory", (*memoryTask).show},
		{"check", "", "report problems in the memories and their index; --fix repairs what it can", (*memoryTask).check},
		{"path", "", "print the folder of this project's memories", (*memoryTask).path},
		{"edit", "NAME", "open a memory in your editor", (*memoryTask).edit},
		{"rm", "NAME", "remove a memory and its line in the index; asks first, unless --yes is given", (*memoryTask).remove},
	}
}

// memoryOptions belong to adze memory.
type memoryOptions struct {
	project        settings.Source
	json, fix, yes bool
}

func (o *memoryOptions) flags() []flag {
	return append([]flag{
		{Name: "json", Doc: "with list, show, check and path, print JSON", Set: syntax.SetBool(&o.json)},
		{Name: "fix", Doc: "with check, repair what can be repaired", Set: syntax.SetBool(&o.fix)},
		{Name: "yes", Doc: "with rm, do not ask first", Set: syntax.SetBool(&o.yes)},
	}, syntax.Only(projectFlags(&o.project), "settings", "setting-sources", "managed-settings", "trust")...)
}

// explain says what a memory is called.
func (*memoryOptions) explain() string { return "A memory is named by its file or its title.\n" }

func (*memoryOptions) actions() (list []action) {
	for _, a := range memoryActions() {
		list = append(list, action{Name: a.name, Args: a.args, Doc: a.doc})
	}
	return list
}

// offers completes the names of the memories.
func (o *memoryOptions) offers(env *Env, args []string) (list []offer) {
	if len(args) != 1 || !slices.Contains([]string{"show", "edit", "rm"}, args[0]) {
		return nil
	}
	p, _ := settings.Open(env.source(o.project)) // ok: nothing is completed then
	if p.HomeErr != nil {
		return nil
	}
	f, _, _ := memories.Folder(p)
	all, _ := f.List() // ok: nothing is completed then
	for _, m := range all {
		list = append(list, offer{Word: m.Name, Doc: m.Title})
	}
	return list
}

// A memoryTask is one action on the memories of a project, with its argument.
type memoryTask struct {
	memory.Folder
	env *Env
	o   *memoryOptions
	arg string
}

// run runs an action on the memories; without a name, it lists them.
func (o *memoryOptions) run(_ context.Context, env *Env, in invocation) error {
	name, args := actionOf(in, "list")
	var names []string
	for _, a := range memoryActions() {
		names = append(names, a.name)
		if a.name != name {
			continue
		}
		if (a.args == "") != (len(args) == 0) {
			return setup.Errorf("usage: adze memory %s", strings.TrimSpace(a.name+" "+a.args))
		}
		p, warnings := settings.Open(env.source(o.project))
		for _, w := range warnings {
			env.Say(w.String())
		}
		if p.HomeErr != nil {
			return setup.Errorf("%v", p.HomeErr)
		}
		f, _, refused := memories.Folder(p)
		for _, err := range refused {
			env.Say(err.Error())
		}
		return a.run(&memoryTask{f, env, o, strings.Join(args, " ")})
	}
	return noAction("memory", name, names)
}

// A listedMemory is a memory in JSON output.
type listedMemory struct {
	Name        string      `json:"name"`
	Path        string      `json:"path"`
	Title       string      `json:"title"`
	Type        memory.Type `json:"type"`
	Description string      `json:"description"`
	Modified    time.Time   `json:"modified"`
	Size        int64       `json:"size"`
	Problems    []string    `json:"problems"`
	Text        *string     `json:"text,omitempty"`
}

func (t *memoryTask) listed(m memory.Memory) listedMemory {
	return listedMemory{m.Name, t.Path(m.Name), m.Title, m.Type, m.Description, m.Modified.UTC(), m.Size, append([]string{}, m.Problems...), nil}
}

func (t *memoryTask) list() error {
	all, err := t.List()
	if err != nil {
		return err
	}
	if t.o.json {
		list := []listedMemory{}
		for _, m := range all {
			list = append(list, t.listed(m))
		}
		return t.env.print(marshal(list))
	}
	if len(all) == 0 {
		t.env.Say("this project has no memories yet; they will be in " + t.Dir)
	}
	var b strings.Builder
	for _, m := range all {
		date := "-         "
		if !m.Modified.IsZero() {
			date = m.Modified.Format(time.DateOnly)
		}
		fmt.Fprintf(&b, "%s  %s\n", date, m)
	}
	return t.env.show(b.String())
}

// maxShownMemory bounds what is printed of a memory, in bytes.
const maxShownMemory = 1 << 20

func (t *memoryTask) show() error {
	m, err := t.Find(t.arg)
	if err != nil {
		return err
	}
	text, err := t.Read(m.Name, maxShownMemory)
	if err != nil {
		return err
	}
	if t.o.json {
		l := t.listed(m)
		l.Text = &text
		return t.env.print(marshal(l))
	}
	return t.env.show(text)
}

func (t *memoryTask) path() error {
	if t.o.json {
		return t.env.print(marshal(map[string]string{"path": t.Dir}))
	}
	return t.env.show(t.Dir + "\n")
}

func (t *memoryTask) edit() error {
	m, err := t.Find(t.arg)
	if err != nil {
		return err
	}
	return t.env.edit(t.Path(m.Name))
}

// check repairs what it can, if asked to, and reports the problems that are left. Any of them makes it fail.
func (t *memoryTask) check() error {
	if t.o.fix {
		if err := t.Fix(); err != nil {
			return err
		}
	}
	found, err := t.Check()
	if err != nil {
		return err
	}
	if t.o.json {
		err = t.env.print(marshal(append([]memory.Finding{}, found...)))
	} else {
		var b strings.Builder
		for _, f := range found {
			b.WriteString(f.String() + "\n")
		}
		err = t.env.show(b.String())
	}
	if err == nil && len(found) > 0 {
		err = &Ended{Reason: agent.Reason("memory_check")}
	}
	return err
}

func (t *memoryTask) remove() error {
	m, err := t.Find(t.arg)
	if err != nil {
		return err
	}
	if !t.o.yes {
		if !t.env.StdinTerminal {
			return setup.Errorf("cannot ask for confirmation without a terminal; --yes removes without asking")
		}
		yes, err := t.env.confirm(fmt.Sprintf("Remove the memory %s (%s)?", term.Sanitize(m.Name), term.Sanitize(m.Description)))
		if err != nil || !yes {
			return err
		}
	}
	if err := t.Remove(m.Name); err != nil {
		return err
	}
	return t.env.show("removed " + m.Name + "\n")
}
