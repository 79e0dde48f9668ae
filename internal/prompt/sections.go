package prompt

import (
	"slices"
	"strconv"
	"strings"

	"adze/internal/platform/text/texts"
)

// Facts are the inputs of the sections. Everything that varies between sessions comes after the
// boundary; before it only Language, Explained and Style are used, and whether the tools are
// the usual ones.
type Facts struct {
	Language texts.Language
	// Explained requests text that readers who did not follow the work can understand.
	Explained bool
	// Style is the chosen output style, or nil.
	Style *Style

	// Tools are the tools to prefer over commands.
	Tools Toolset

	Env   Environment
	Model Model
	Guide Guidance
	// Memory and ModelNote are finished texts: the memory section, and a note for this model
	// only.
	Memory, ModelNote string
	// Answer is the language to answer in, as named by the user.
	Answer string
	// Servers returns the MCP servers' instructions, if they belong in the prompt.
	Servers func() []Server
	// Kept is the number of latest tool results that are never cleared; 0 if none is cleared
	// soon.
	Kept int
	// Budget is the token budget of a turn.
	Budget int
	// Brief is the tool that sends messages to the user, if they read nothing else.
	Brief string
}

// A Toolset lists the tools that replace shell commands, and the tool that runs commands.
type Toolset struct {
	Shell     string // runs commands; may be empty
	Dedicated []string
	// Usual is true if none is missing. The usual tools are listed before the boundary, others
	// after it.
	Usual bool
}

// A Style is an output style.
type Style struct {
	Name, Text string
	// Coding keeps the instructions for working on code.
	Coding bool
}

// A Server is an MCP server with instructions.
type Server struct{ Name, Text string }

// A Guidance describes a session's capabilities beyond its tools.
type Guidance struct {
	Tracker     string // task-tracking tool
	AskTool     string // tool that asks the user
	Interactive bool   // user can answer questions
	Verify      bool
	Alone       Unattended
}

// Unattended describes the actions that need no approval in a session without a user to approve
// them. It is zero if there is a user or no approval is needed.
type Unattended struct {
	Mode  string // permission mode; empty if there is nothing to state
	Edits bool   // edits in the working directories need no approval
	Rules string // list of further allow rules
}

func staticSections() []Section {
	text := func(name string) Section {
		return Cached(name, func(f *Facts) (string, error) { return catalogText(f.Language, name), nil })
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
		return Cached(name, func(f *Facts) (string, error) { return catalogText(f.Language, name), nil })
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
	return catalogText(f.Language, who) + "\n\n" + catalogText(f.Language, "security"), nil
}

func tasks(f *Facts) (string, error) {
	if f.Style != nil && !f.Style.Coding {
		return "", nil
	}
	return catalogText(f.Language, "tasks"), nil
}

func tools(f *Facts) (string, error) {
	lines := []string{catalogText(f.Language, "tools")}
	if f.Tools.Usual {
		lines = append(lines, f.Tools.preferred(f.Language))
	}
	return strings.Join(append(lines, catalogText(f.Language, "tools.together")), "\n"), nil
}

// preferred returns the line that lists the tools to use instead of commands, or "" without
// alternatives.
func (t *Toolset) preferred(l texts.Language) string {
	if t.Shell == "" || len(t.Dedicated) == 0 {
		return ""
	}
	list := catalogText(l, "instead."+t.Dedicated[0])
	for _, name := range t.Dedicated[1:] {
		list = catalogText(l, "tools.between", list, catalogText(l, "instead."+name))
	}
	return catalogText(l, "tools.prefer", list, t.Shell)
}

func tone(f *Facts) (string, error) {
	text := catalogText(f.Language, "tone")
	if !f.Explained {
		text += "\n" + catalogText(f.Language, "tone.short")
	}
	return text, nil
}

func output(f *Facts) (string, error) {
	if f.Explained {
		return catalogText(f.Language, "output.explained"), nil
	}
	return catalogText(f.Language, "output"), nil
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

// filled returns a section with one value, or "" if the value is empty.
func filled(name string, value func(*Facts) string) func(*Facts) (string, error) {
	return func(f *Facts) (string, error) {
		v := value(f)
		if v == "" {
			return "", nil
		}
		return catalogText(f.Language, name, v), nil
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
			lines = append(lines, catalogText(f.Language, "guidance."+name, values...))
		}
	}
	if line := f.Tools.preferred(f.Language); line != "" && !f.Tools.Usual {
		lines = append(lines, line)
	}
	if g.Alone.Mode != "" {
		what := catalogText(f.Language, "alone.read")
		if g.Alone.Edits {
			what = catalogText(f.Language, "alone.edit")
		}
		if g.Alone.Rules != "" {
			what = catalogText(f.Language, "alone.rules", what, g.Alone.Rules)
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
	return catalogText(f.Language, "guidance") + "\n" + strings.Join(lines, "\n"), nil
}

func style(f *Facts) (string, error) {
	if f.Style == nil {
		return "", nil
	}
	return catalogText(f.Language, "style", f.Style.Name) + "\n" + f.Style.Text, nil
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
			b.WriteString(catalogText(f.Language, "servers"))
		}
		b.WriteString("\n\n## " + s.Name + "\n" + Quote(s.Text))
	}
	return b.String(), nil
}
