package brief

import (
	"slices"
	"strconv"
	"strings"

	"adze/internal/platform/texts"
)

// Facts are what the sections are written from. Whatever varies between sessions is told after the
// boundary; before it only Language, Explained and Style count, and whether the tools are the usual ones.
type Facts struct {
	Language texts.Language
	// Explained asks for text that can be understood by those who did not watch.
	Explained bool
	// Style is the output style that was chosen, or nil.
	Style *Style

	// Tools are those that the model is to prefer to commands.
	Tools Toolset

	Env   Environment
	Model Model
	Guide Guidance
	// Memory and ModelNote are texts that others wrote: what is remembered, and what only this model is
	// told.
	Memory, ModelNote string
	// Answer is the language to answer in, as the user calls it.
	Answer string
	// Servers are what MCP servers say about themselves, when it is told here.
	Servers func() []Server
	// Kept is how many of the latest results are never cleared; 0 means that none is cleared soon.
	Kept int
	// Budget is how many tokens a turn may use.
	Budget int
	// Brief is the tool that sends the user what they are to read, when they read nothing else.
	Brief string
}

// A Toolset is which tools there are that do what commands of a shell do, and which one runs commands.
type Toolset struct {
	Shell     string // runs commands; empty if none does
	Dedicated []string
	// Usual says that none is missing. The model is told of these before the boundary, and of others after it.
	Usual bool
}

// A Style is a way to answer.
type Style struct {
	Name, Text string
	// Coding keeps the instructions for working on code.
	Coding bool
}

// A Server is an MCP server that explains itself.
type Server struct{ Name, Text string }

// A Guidance is what a session can do beyond its tools: tools are named, all else is said.
type Guidance struct {
	Tracker     string // tracks what is to be done
	AskTool     string // asks the user
	Interactive bool   // the user can be asked
	Verify      bool
	Alone       Alone
}

// Alone is what needs no approval in a session without anyone to give it. The zero value is a session with someone, or one that
// needs no approval.
type Alone struct {
	Mode  string // the permission mode; empty means that there is nothing to say
	Edits bool   // edits in the working directories need none
	Rules string // a list of the rules that allow more
}

func staticSections() []Section {
	text := func(name string) Section {
		return Cached(name, func(f *Facts) (string, error) { return say(f.Language, name), nil })
	}
	return []Section{
		text("identity"),
		Cached("intro", intro),
		text("system"),
		Cached("tasks", tasks),
		text("care"),
		Cached("tools", tools),
		Cached("tone", tone),
		Cached("output", output),
	}
}

// mediumSections and mediumFacts are the sections of the medium prompt.
func mediumSections() []Section {
	text := func(name string) Section {
		return Cached(name, func(f *Facts) (string, error) { return say(f.Language, name), nil })
	}
	return []Section{text("identity"), text("medium")}
}

func mediumFacts() []Section {
	wanted := []string{"environment", "language", "style", "servers", "budget"}
	return slices.DeleteFunc(dynamicSections(), func(s Section) bool { return !slices.Contains(wanted, s.name) })
}

func intro(f *Facts) (string, error) {
	who := "intro"
	if f.Style != nil {
		who = "intro.style"
	}
	return say(f.Language, who) + "\n\n" + say(f.Language, "security"), nil
}

func tasks(f *Facts) (string, error) {
	if f.Style != nil && !f.Style.Coding {
		return "", nil
	}
	return say(f.Language, "tasks"), nil
}

func tools(f *Facts) (string, error) {
	lines := []string{say(f.Language, "tools")}
	if f.Tools.Usual {
		lines = append(lines, f.Tools.preferred(f.Language))
	}
	return strings.Join(append(lines, say(f.Language, "tools.together")), "\n"), nil
}

// preferred returns the line that names the tools to use instead of commands, or "" if there is no choice.
func (t *Toolset) preferred(l texts.Language) string {
	if t.Shell == "" || len(t.Dedicated) == 0 {
		return ""
	}
	list := say(l, "instead."+t.Dedicated[0])
	for _, name := range t.Dedicated[1:] {
		list = say(l, "tools.between", list, say(l, "instead."+name))
	}
	return say(l, "tools.prefer", list, t.Shell)
}

func tone(f *Facts) (string, error) {
	text := say(f.Language, "tone")
	if !f.Explained {
		text += "\n" + say(f.Language, "tone.short")
	}
	return text, nil
}

func output(f *Facts) (string, error) {
	if f.Explained {
		return say(f.Language, "output.explained"), nil
	}
	return say(f.Language, "output"), nil
}

func dynamicSections() []Section {
	return []Section{
		Cached("guidance", guidance),
		Cached("memory", func(f *Facts) (string, error) { return f.Memory, nil }),
		Cached("model", func(f *Facts) (string, error) { return f.ModelNote, nil }),
		Cached("environment", func(f *Facts) (string, error) { return f.Env.describe(f.Language, f.Model), nil }),
		Cached("language", filled("language", func(f *Facts) string { return f.Answer })),
		Cached("style", style),
		Uncached("servers", "servers come and go during a session", servers),
		Cached("clearing", filled("clearing", func(f *Facts) string { return positive(f.Kept) })),
		Cached("notedown", filled("notedown", func(f *Facts) string { return positive(f.Kept) })),
		Cached("budget", filled("budget", func(f *Facts) string { return positive(f.Budget) })),
		Cached("brief", filled("brief", func(f *Facts) string { return f.Brief })),
	}
}

// filled writes a text around one value, and nothing when there is none.
func filled(name string, value func(*Facts) string) func(*Facts) (string, error) {
	return func(f *Facts) (string, error) {
		v := value(f)
		if v == "" {
			return "", nil
		}
		return say(f.Language, name, v), nil
	}
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func guidance(f *Facts) (string, error) {
	g := &f.Guide
	var lines []string
	add := func(is bool, name string, values ...string) {
		if is {
			lines = append(lines, say(f.Language, "guidance."+name, values...))
		}
	}
	if line := f.Tools.preferred(f.Language); line != "" && !f.Tools.Usual {
		lines = append(lines, line)
	}
	if g.Alone.Mode != "" {
		what := say(f.Language, "alone.read")
		if g.Alone.Edits {
			what = say(f.Language, "alone.edit")
		}
		if g.Alone.Rules != "" {
			what = say(f.Language, "alone.rules", what, g.Alone.Rules)
		}
		add(true, "alone", g.Alone.Mode, what)
	}
	add(g.Tracker != "", "tasks", g.Tracker)
	add(g.AskTool != "", "denied", g.AskTool)
	add(g.Interactive, "login")
	add(g.Verify, "verify")
	if len(lines) == 0 {
		return "", nil
	}
	return say(f.Language, "guidance") + "\n" + strings.Join(lines, "\n"), nil
}

func style(f *Facts) (string, error) {
	if f.Style == nil {
		return "", nil
	}
	return say(f.Language, "style", f.Style.Name) + "\n" + f.Style.Text, nil
}

func servers(f *Facts) (string, error) {
	if f.Servers == nil {
		return "", nil
	}
	var b strings.Builder
	for _, s := range f.Servers() {
		if s.Text == "" {
			continue
		}
		if b.Len() == 0 {
			b.WriteString(say(f.Language, "servers"))
		}
		b.WriteString("\n\n## " + s.Name + "\n" + Quote(s.Text))
	}
	return b.String(), nil
}
