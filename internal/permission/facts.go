package permission

import (
	"adze/internal/permission/inner"
	"adze/internal/permission/rule"
	"adze/internal/platform/gitrepo"
	"adze/internal/platform/paths"
	"adze/internal/platform/shell"
	"adze/internal/tool"
)

// Facts are what a call is judged by. [FactsOf] looks at the file system to find them; the decision
// itself looks at nothing else.
type Facts struct {
	// Names are the tool's: the one it has, then those it had. That of a call that goes to a server ends in the name
	// it would have as a tool of the server.
	Names []string
	// Origin says whose tool it is, if not adze's own: what it says of itself is a hint.
	Origin string

	ReadOnly    bool // the tool says that the call changes nothing
	Hinted      bool // the tool is not adze's own, so that ReadOnly is a hint
	OpenWorld   bool // the tool says that the call reaches beyond this machine
	Planning    bool // it may be used while planning, whatever it changes
	NeedsPerson bool
	// Unsandboxed says that the call asks to be run outside the sandbox.
	Unsandboxed bool

	Targets []Target // files the call reads and writes
	Command *Command // the line of shell it executes, or nil
	// Foreign is the command in another language that it executes, or nil.
	Foreign *tool.Foreign
	// Doubt is why it is not known to only read, or nil.
	Doubt error
	Hosts []string // what it connects to; empty for one that cannot be told
	// Preapproved says that hosts about which no rule speaks need no permission, nor does a call that touches nothing.
	Preapproved bool
	// Rules are the contents of rules that the user may be offered; nil means a rule for the whole tool.
	Rules []string
	// Matcher compares the content of a rule with the call; nil if the tool cannot.
	Matcher func(content string) (bool, error)
	// HookAllow and HookAsk say what hooks decided before.
	HookAllow, HookAsk string
}

// Name returns the tool's name.
func (f *Facts) Name() string { return f.Names[0] }

// A Target is a path a call touches, with everything the path leads through.
type Target struct {
	Write bool
	Given string // as the model wrote it
	Set   paths.Set
	// Tree says that the call may touch whatever is below as well.
	Tree bool
	// Vague says that the path is not known before the call runs.
	Vague bool
	// Soft says that it is asked about where something would allow it, but not in every mode.
	Soft bool
	// Met says that a wildcard stands for it: it is there, and that its name is odd is asked about, but not in
	// every mode.
	Met bool

	names []string // of Set, in the form in which paths are compared
}

// A Command is a line of shell with the files it touches.
type Command struct {
	Script *shell.Script
	Uses   []Use
	// Git says why git may not be run here without asking, or is nil. It does not count in a jail.
	Git error
	// Jailed says that the whole line is proven to only read, and that the kernel keeps it to that.
	Jailed bool
	// Doubt is why the line as a whole is not proven where what only reads runs in a jail; nil elsewhere.
	Doubt error
	// Edits says that nothing is run: the call edits the files that the line names, and does nothing else.
	Edits bool

	// repository returns a reader of the repository of a directory; nil means that git cannot be asked.
	repository func(dir string) (*gitrepo.Reader, error)
	// nested are the lines that the command hands to others to run, and inner is what they touch.
	nested []inner.Line
	inner  []Use
	// mentions are the words that name protected places to programs about which little is known.
	mentions []mention
	// others are the lines that the command comes to under other names; unsure is why there may be more. They
	// are looked for only if a rule forbids or asks about some commands.
	others []*shell.Script
	unsure string
	// stays reports that the line changes to no directory but the current one and those below it in the same worktree.
	stays bool
}

// A Use is what one part of a command does to a file.
type Use struct {
	shell.PathUse
	Target

	full string // where the path was looked up
	// dashed is a name that a wildcard stands for and that a program may take for an option, or empty.
	dashed string
}

// FactsOf finds what the policy needs to know about a call. Each path is looked up once.
func FactsOf(p *Policy, t tool.Tool, c tool.Call) Facts {
	r := resolver{p: p}
	traits := t.Traits()
	told := tool.FactsOf(c)
	f := Facts{
		Names:       append([]string{t.Spec().Name}, traits.Aliases...),
		Origin:      traits.Origin,
		ReadOnly:    told.ReadOnly,
		Hinted:      traits.Origin != "",
		OpenWorld:   says(c, func(x tool.OpenWorld) bool { return x.OpenWorld() }),
		Planning:    says(c, func(x tool.Planning) bool { return x.Planning() }),
		NeedsPerson: says(c, func(x tool.Personal) bool { return x.NeedsPerson() }),
		Preapproved: traits.Origin == "" && says(c, func(x tool.Preapproved) bool { return x.Preapproved() }),
	}
	if s, ok := tool.As[tool.Serving](c); ok {
		f.Origin = "mcp:" + s.Server()
		f.Names = append(f.Names, "mcp__"+s.Server()+"__"+f.Name())
	}
	if s, ok := tool.As[tool.Standing](c); ok {
		f.Names = append(f.Names, s.StandsFor())
	}
	if r, ok := tool.As[tool.Ruled](c); ok {
		f.Rules = r.Rules()
	}
	if _, ok := tool.As[tool.Matcher](c); ok {
		f.Matcher = func(content string) (bool, error) { return tool.Matches(c, content) }
	}
	var access []tool.Access
	if a, ok := tool.As[tool.Accesser](c); ok {
		access = a.Access()
	}
	if own := tool.CommandOf(c); own != nil {
		f.Foreign, f.Doubt, f.Unsandboxed = own.Foreign, own.Doubt, own.Leaves
		if own.Script != nil {
			f.Command = r.command(own)
		}
	}
	for _, a := range access {
		switch a.Verb {
		case tool.Execute:
		case tool.Connect:
			f.Hosts = append(f.Hosts, rule.HostOf(a.Target))
		default:
			f.Targets = append(f.Targets, r.target(a, c))
		}
	}
	return f
}

// says returns what a capability of c answers; absent means no.
func says[T any](c tool.Call, answer func(T) bool) bool {
	t, ok := tool.As[T](c)
	return ok && answer(t)
}
