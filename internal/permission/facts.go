package permission

import (
	"adze/internal/permission/nested"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/shell"
	"adze/internal/tool"
)

// Facts is the input to a decision. [FactsOf] inspects the file system to find them; the
// decision itself uses nothing else.
type Facts struct {
	// Names holds the tool's current name, then its former names. For a call to a server, the
	// name it would have as the server's tool follows, and for a call that is another way to
	// use a tool, that tool's name.
	Names []string
	// Origin identifies the provider of a tool that is not adze's own; such a tool's
	// annotations are only hints.
	Origin string

	ReadOnly    bool // the tool declares that the call changes nothing
	Hinted      bool // the tool is not adze's own, so ReadOnly is a hint
	OpenWorld   bool // the tool declares that the call reaches beyond this machine
	Planning    bool // allowed while planning, regardless of its changes
	NeedsPerson bool
	// Unsandboxed is set if the call asks to run outside the sandbox.
	Unsandboxed bool

	Targets []Target // files the call reads and writes
	Command *Command // the shell command line it runs, or nil
	// Foreign is the command it executes in another language, or nil.
	Foreign *tool.Foreign
	// Doubt is the reason it is not known to be read-only, or nil.
	Doubt error
	Hosts []string // hosts it connects to; "" means unknown
	// Preapproved means that hosts not covered by a rule need no permission, and neither does a
	// call that touches nothing.
	Preapproved bool
	// Rules holds the rule contents to offer the user; nil means a rule for the whole tool.
	Rules []string
	// Matcher matches a rule's content against the call; nil if the tool cannot.
	Matcher func(content string) (bool, error)
	// HookAllow names the hook that allowed the call, and HookAsk is a hook's reason to prompt;
	// either may be empty.
	HookAllow, HookAsk string
}

// Name returns the tool's name.
func (f *Facts) Name() string { return f.Names[0] }

// A Target is a path that a call touches, with every path it resolves through.
type Target struct {
	Write bool
	Given string // the path in the model's input
	Set   paths.ResolvedPath
	// Tree means that the call may touch everything below the path as well.
	Tree bool
	// Vague means that the path is not known before the call runs.
	Vague bool
	// Soft means that the target needs confirmation where something would allow it, but not in
	// every mode.
	Soft bool
	// FromGlob means that the path matched a wildcard: it exists, and an odd name needs
	// confirmation, but not in every mode.
	FromGlob bool

	names []string // the names in Set, normalized for comparison
}

// A Command is a shell command line with the files it touches.
type Command struct {
	Script *shell.Script
	Uses   []Use
	// Git is the reason git may not run here without asking, or nil. It does not apply in a
	// jail.
	Git error
	// Jailed means that the whole line is proven read-only and the kernel enforces it.
	Jailed bool
	// Doubt is the reason the whole line is not proven read-only, if read-only commands run in
	// a jail; nil otherwise.
	Doubt error
	// Edits means that nothing is run: the call only edits the files the line names.
	Edits bool

	// repository returns a reader for a directory's repository; nil means that git cannot be
	// queried.
	repository func(dir string) (*gitrepo.Reader, error)
	// nested holds the lines that the command passes to other programs to run, and inner the
	// files they touch.
	nested []nested.Line
	inner  []Use
	// mentions holds the words that the wildcard rules covering the command do not cover; see
	// [resolver.mentioned].
	mentions []mention
	// others holds the line's expansions under other names; unsure is the reason there may be
	// more. They are computed only if a rule denies or asks about some commands.
	others []*shell.Script
	unsure string
	// stays reports whether the line only changes to the current directory and directories
	// below it in the same worktree.
	stays bool
}

// A Use is one part's access to a file.
type Use struct {
	shell.PathUse
	Target

	full string // the path that was looked up
	// dashed is a name matched by a wildcard that a program may parse as an option, or empty.
	dashed string
}

// result returns the use's verdict, for explanations.
func (u *Use) result(found finding) PathResult {
	r := u.Target.result(found)
	if u.Vague {
		r.Unknown = u.Files()
	}
	return r
}

// FactsOf gathers the facts about a call that the policy needs. Each path is looked up once.
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
		NeedsPerson: says(c, func(x tool.UserOnly) bool { return x.NeedsPerson() }),
		Preapproved: traits.Origin == "" && says(c, func(x tool.Preapproved) bool { return x.Preapproved() }),
	}
	if s, ok := tool.As[tool.ServerCall](c); ok {
		f.Origin = "mcp:" + s.Server()
		f.Names = append(f.Names, "mcp__"+s.Server()+"__"+f.Name())
	}
	if s, ok := tool.As[tool.AliasOf](c); ok {
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

// says returns the answer of a capability of c; absent means false.
func says[T any](c tool.Call, answer func(T) bool) bool {
	t, ok := tool.As[T](c)
	return ok && answer(t)
}
