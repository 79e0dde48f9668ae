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
	case arg == "" && r.Terminal && !r.Env.Keys.Lines:
		return r.card(), nil
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

// mainKeys are the actions of the keys on the card of /help.
var mainKeys = [...]struct{ action, does string }{
	{"chat:submit", "send the message"},
	{"chat:newline", "begin a new line"},
	{"chat:cancel", "stop; twice: go back"},
	{"chat:cycleMode", "next permission mode"},
	{"history:search", "search earlier messages"},
	{"chat:stash", "put the text aside"},
	{"chat:externalEditor", "write in your editor"},
	{"task:background", "move to the background"},
	{"app:toggleTranscript", "show everything"},
}

// mainCommands are the commands on the card of /help.
var mainCommands = [...]Term{
	{"model", "choose the model"},
	{"plan", "explore before changing"},
	{"diff", "show the changed files"},
	{"rewind", "go back to a message"},
	{"resume", "open an earlier session"},
	{"context", "what fills the window"},
	{"compact", "summarise to make room"},
	{"clear", "start a new conversation"},
	{"permissions", "rules for tools"},
	{"memory", "instructions, memories"},
	{"cost", "tokens and money so far"},
	{"config", "change settings"},
}

// card shows the most used keys and commands.
func (r *Registry) card() Page {
	card := Columns{Titles: [2]string{"Keys", "Commands"}}
	if r.Env.Keys.Bound != nil {
		bound := r.Env.Keys.Bound()
		for _, k := range mainKeys {
			i := slices.IndexFunc(bound, func(t Term) bool { return strings.HasSuffix(t.Text, "("+k.action+")") })
			if i < 0 || strings.HasPrefix(bound[i].Name, "(") { // not bound
				continue
			}
			name, _, _ := strings.Cut(bound[i].Name, ", ")
			card.Terms[0] = append(card.Terms[0], Term{name, k.does})
		}
	}
	card.Terms[0] = append(card.Terms[0], Term{"@", "attach a file"}, Term{"!", "run a shell command"}, Term{"#", "add to your instructions"})
	for _, t := range mainCommands {
		if c, ok := r.Lookup(t.Name); ok && c.Origin == "" && r.unavailable(c) == nil {
			card.Terms[1] = append(card.Terms[1], Term{"/" + t.Name, t.Text})
		}
	}
	p := Page{Blocks: []Block{card}}
	r.addOffers(&p)
	p.Add(Remark("Type / and a word to find a command. /help NAME explains one, /help all lists all, /keybindings all keys."))
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
	r.addOffers(&p)
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

// addOffers adds the commands that are not built in.
func (r *Registry) addOffers(p *Page) {
	own, more := r.offers()
	if len(own) == 0 {
		return
	}
	p.Add(own)
	if more > 0 {
		p.Add(Text("And " + amount.Of(more, "command", "commands") + " more; Tab completes their names, and /skills lists skills."))
	}
}

// names returns the names of the available commands other than rare ones, as they are typed.
func (r *Registry) names(commands []Command) string {
	var b strings.Builder
	for i := range commands {
		if c := &commands[i]; !c.Rare && r.unavailable(c) == nil {
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

// Sections returns the sections of the built-in commands.
func (r *Registry) Sections() []Section { return r.sections }

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
	ExplainKeys = "/help"
	GoBack      = "/rewind"
	PickSession = "/resume"
	PickModel   = "/model"
	ShowTasks   = "/tasks"
)
