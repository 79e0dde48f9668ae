package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adze/internal/platform/text/amount"
	"adze/internal/tool"
)

func helpCommand() Command {
	return Command{Name: "help", Args: "[NAME|WORD|all]", Doc: "list commands, or explain one, those matching a word, or all",
		Run: func(_ context.Context, r *Registry, arg string) (Answer, error) {
			return r.help(strings.TrimPrefix(arg, "/"))
		},
		Complete: func(r *Registry, _ string) []string {
			names := []string{"all"}
			for _, c := range r.Commands() {
				names = append(names, c.Name)
			}
			return names
		}}
}

const (
	// maxOffered is the maximum number of listed commands that are not built in.
	maxOffered = 30
	// maxNames is the maximum length in bytes of their names in the overview, which should fit
	// on a screen.
	maxNames = 350
)

// help lists the commands, or explains the ones matching arg.
func (r *Registry) help(arg string) (Answer, error) {
	switch c, ok := r.Lookup(arg); {
	case arg == "":
		return r.overview(), nil
	case ok:
		return r.explain(c), nil
	}
	var t Terms
	all := r.Commands()
	for i := range all {
		c := &all[i]
		if arg == "all" || about(arg, c.Name, c.Doc, r.sectionOf(c)) {
			t = append(t, Term{c.usage(), c.Doc})
		}
	}
	if len(t) == 0 {
		return nil, fmt.Errorf("no command is about %s; /help lists the commands", tool.OneLine(arg, maxWord))
	}
	most := min(len(t), len(r.builtIn())+maxOffered)
	p := Page{Blocks: []Block{t[:most]}}
	if more := len(t) - most; more > 0 {
		p.Add(Text("And " + amount.Of(more, "command", "commands") + " more; Tab completes their names."))
	}
	return p, nil
}

// about reports whether any of the texts contains a word, ignoring case.
func about(word string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(word)) })
}

// explain describes a command.
func (r *Registry) explain(c *Command) Page {
	p := Page{Blocks: []Block{Terms{{c.usage(), c.Doc}}}}
	var fields Fields
	if len(c.Aliases) > 0 {
		fields = append(fields, Field{"Also", "/" + strings.Join(c.Aliases, ", /")})
	}
	if c.Origin != "" {
		fields = append(fields, Field{"From", c.Origin})
	}
	if len(fields) > 0 {
		p.Add(fields)
	}
	if err := r.unavailable(c); err != nil {
		p.Add(Notice(err.Error()))
	}
	return p
}

// overview lists the built-in commands by section, other commands by origin, and special input.
func (r *Registry) overview() Page {
	var list Fields
	for _, s := range r.sections {
		if names := r.names(s.Commands); names != "" {
			list = append(list, Field{s.Name, names})
		}
	}
	p := Page{Blocks: []Block{list}}
	if own, more := r.offers(); len(own) > 0 {
		p.Add(own)
		if more > 0 {
			p.Add(Text("And " + amount.Of(more, "command", "commands") + " more; Tab completes their names, and /skills lists skills."))
		}
	}
	t := Terms{{"@PATH", "attach a file or directory; @PATH#L10-20 attaches lines"}}
	if r.Terminal {
		t = append(t,
			Term{"!COMMAND", "run a command in the shell; the model sees its output, too"},
			Term{"#TEXT", "add a line to your instructions"})
	}
	p.Add(t, Text("/help NAME explains a command, /help WORD finds some, /help all explains all."))
	if r.Terminal {
		p.Add(Text("Type while the model works to steer it; Ctrl-C interrupts it. /keys lists keys."))
	}
	return p
}

// names returns the names of the available commands, as they are typed.
func (r *Registry) names(commands []Command) string {
	var b strings.Builder
	for i := range commands {
		if c := &commands[i]; r.unavailable(c) == nil {
			b.WriteString(" /" + c.Name)
		}
	}
	return strings.TrimSpace(b.String())
}

// offers returns the names of commands that are not built in, by origin and most used first,
// and how many more there are.
func (r *Registry) offers() (list Fields, more int) {
	all := r.dynamic(false)
	if score := r.Env.Score; score != nil {
		slices.SortStableFunc(all, func(a, b Command) int { return cmp.Compare(score(b.Name), score(a.Name)) })
	}
	n, size := 0, 0
	for n < min(maxOffered, len(all)) && size < maxNames {
		size += len(all[n].Name) + len(" /")
		n++
	}
	shown := all[:n]
	for i := range shown {
		origin := shown[i].Origin
		if slices.ContainsFunc(list, func(f Field) bool { return f.Name == "From "+origin }) {
			continue
		}
		same := slices.DeleteFunc(slices.Clone(shown), func(c Command) bool { return c.Origin != origin })
		list = append(list, Field{"From " + origin, r.names(same)})
	}
	return list, len(all) - len(shown)
}

// IsBuiltIn returns a function that reports whether a name is a built-in command or an alias of
// one. More are the commands of other packages, see [Env].
func IsBuiltIn(more []Section) func(name string) bool {
	names := sync.OnceValue(func() map[string]bool {
		all := map[string]bool{}
		for _, s := range merge(sections(), more) {
			for _, c := range s.Commands {
				for _, name := range append([]string{c.Name}, c.Aliases...) {
					all[strings.ToLower(name)] = true
				}
			}
		}
		return all
	})
	return func(name string) bool { return names()[strings.ToLower(name)] }
}

// builtIn returns the built-in commands. sectionOf returns the name of a command's section, or
// "".
func (r *Registry) builtIn() (all []Command) {
	for _, s := range r.sections {
		all = append(all, s.Commands...)
	}
	return all
}

func (r *Registry) sectionOf(c *Command) string {
	for _, s := range r.sections {
		if find(s.Commands, func(name string) bool { return name == c.Name }) != nil && c.Origin == "" {
			return s.Name
		}
	}
	return ""
}

// The commands for keys and flags: front ends enter them as if the user had typed them.
const (
	ExplainKeys = "/keys"
	GoBack      = "/rewind"
	PickSession = "/resume"
	PickModel   = "/model"
	ShowTasks   = "/tasks"
)
