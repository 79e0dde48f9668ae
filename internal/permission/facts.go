package permission

import (
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/paths"
	"adze/internal/platform/shell"
	"adze/internal/tool"
)

// Facts are what a call is judged by. [FactsOf] looks at the file system to find them; the decision
// itself looks at nothing else.
type Facts struct {
	// Names are the tool's: the one it has, then those it had.
	Names []string
	// Origin says whose tool it is, if not adze's own: what it says of itself is a hint.
	Origin string

	ReadOnly    bool // the tool says that the call changes nothing
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

	names []string // of Set, in the form in which paths are compared
}

// A Command is a line of shell with the files it touches.
type Command struct {
	Script *shell.Script
	Uses   []Use
	// Git says why git may not be run here without asking, or is nil.
	Git error
	// Edits says that nothing is run: the call edits the files that the line names, and does nothing else.
	Edits bool

	// nested are the lines that the command hands to others to run, and inner is what they touch.
	nested []*shell.Script
	inner  []Use
}

// A Use is what one part of a command does to a file.
type Use struct {
	shell.PathUse
	Target

	full string // where the path was looked up
}

// FactsOf finds what the policy needs to know about a call. Each path is looked up once.
func FactsOf(p *Policy, t tool.Tool, c tool.Call) Facts {
	traits := t.Traits()
	told := tool.FactsOf(c)
	f := Facts{
		Names:       append([]string{t.Spec().Name}, traits.Aliases...),
		Origin:      traits.Origin,
		ReadOnly:    told.ReadOnly,
		Planning:    says(c, func(x tool.Planning) bool { return x.Planning() }),
		NeedsPerson: says(c, func(x tool.Personal) bool { return x.NeedsPerson() }),
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
			f.Command = p.command(own)
		}
	}
	for _, a := range access {
		switch a.Verb {
		case tool.Execute:
		case tool.Connect:
			f.Hosts = append(f.Hosts, hostOf(a.Target))
		default:
			f.Targets = append(f.Targets, p.target(a, c))
		}
	}
	return f
}

// says returns what a capability of c answers; absent means no.
func says[T any](c tool.Call, answer func(T) bool) bool {
	t, ok := tool.As[T](c)
	return ok && answer(t)
}

// target resolves what a tool touches. A call that knows its path already is asked for it, so that
// what is judged is what is opened.
func (p *Policy) target(a tool.Access, c tool.Call) Target {
	t := Target{Write: a.Verb == tool.Write, Given: a.Target}
	if own, ok := tool.As[tool.Locator](c); ok && t.Write {
		if set, err := own.Paths(); err == nil {
			t.Set = set
			t.names = p.names(t.Set)
			return t
		}
	}
	t.Set = p.resolve(p.cfg.Dir, a.Target)
	t.names = p.names(t.Set)
	return t
}

// resolve finds everything a path leads through. A path that can never be opened is judged by its
// name: the tool will say what is wrong with it.
func (p *Policy) resolve(dir, path string) paths.Set {
	base := paths.Base{Dir: dir, Home: p.cfg.Home}
	set, err := base.Resolve(path)
	if err == nil {
		return set
	}
	name, expandErr := base.Expand(path)
	if expandErr != nil {
		return paths.Set{Path: path, Doubt: expandErr}
	}
	return paths.Set{Path: name, Real: name, All: []string{name}}
}

// names returns the members of a set in the form in which paths are compared.
func (p *Policy) names(s paths.Set) []string {
	names := make([]string, 0, len(s.All))
	for _, name := range s.All {
		if s.Remote { // as rules write it
			name = "/" + strings.TrimLeft(strings.ReplaceAll(name, `\`, "/"), "/")
		}
		names = append(names, p.fold(name))
	}
	return names
}

// command resolves what a line of shell touches.
func (p *Policy) command(own *tool.Command) *Command {
	vars := shell.Vars{Home: p.cfg.Home, Dir: p.cfg.Dir}
	c := &Command{Script: own.Script.With(vars)}
	r := resolver{p, map[string]paths.Set{}}
	for _, use := range c.Script.Paths() {
		c.Uses = append(c.Uses, r.uses(use)...)
	}
	for _, part := range c.Script.Parts {
		if searchesBelow(part) && !slices.ContainsFunc(c.Uses, func(u Use) bool { return u.Part == part && !u.Redirect }) {
			c.Uses = append(c.Uses, r.uses(shell.PathUse{Part: part, Verb: shell.ReadPath, Path: ".", Known: !c.Script.ChangesDir()})...)
		}
	}
	c.nested = nested(c.Script, vars)
	for _, script := range c.nested {
		for _, use := range script.Paths() {
			c.inner = append(c.inner, r.uses(use)...)
		}
	}
	if c.Script.UsesGit() {
		c.Git = shell.CheckGit(p.cfg.Dir)
	}
	if own.Judged != nil {
		for _, u := range c.Uses {
			own.Judged(filepath.Clean(u.full), u.Set.All, u.Glob != "" && u.Tree)
		}
	}
	c.Edits = len(c.Script.Parts) == 1 && own.Edits != nil && own.Edits()
	return c
}

// A resolver looks up the paths of one command, each of them once.
type resolver struct {
	p    *Policy
	seen map[string]paths.Set
}

// uses resolves one path of a command: one use, or one for each name that a wildcard stands for.
func (r *resolver) uses(u shell.PathUse) []Use {
	dir := r.p.cfg.Dir
	switch {
	case filepath.IsAbs(u.Dir):
		dir = u.Dir
	case u.Dir != "":
		dir = filepath.Join(dir, u.Dir)
	}
	use := Use{PathUse: u, Target: Target{
		Write: u.Verb == shell.WritePath || u.Verb == shell.RemovePath,
		Given: u.Path, Vague: !u.Known,
	}}
	if u.Glob == "" {
		r.resolve(&use, dir, u.Path)
		return []Use{use}
	}
	use.Given = u.Glob
	r.resolve(&use, dir, u.Path)
	if !u.Known {
		return []Use{use}
	}
	var found []string
	ok := r.p.contains(use.names) // elsewhere it is asked about anyway, and may be a device or a share
	if ok {
		found, ok = expand(dir, u.Glob)
	}
	use.Tree = !ok
	uses := []Use{use}
	for _, name := range found {
		one := use
		one.Given = name
		r.resolve(&one, dir, name)
		uses = append(uses, one)
	}
	return uses
}

// resolve looks up a path as the shell takes it: blanks at its ends and a quoted ~ are part of the name.
func (r *resolver) resolve(use *Use, dir, name string) {
	if !filepath.IsAbs(name) && !paths.IsUNC(name) {
		name = dir + string(filepath.Separator) + name
	}
	set, ok := r.seen[name]
	if !ok {
		set = r.p.resolve(dir, name)
		if other := physical(name); other != set.Path && !set.Remote {
			set.All = append(set.All, r.p.resolve(dir, other).All...)
		}
		if strings.TrimSpace(name) != name && set.Odd == nil {
			set.Odd = &paths.Oddity{Part: name, Why: "the name ends in a blank"}
		}
		r.seen[name] = set
	}
	use.Set, use.full = set, name
	use.names = r.p.names(set)
	use.Tree = use.Verb == shell.RemovePath || isDir(set) && !lists(use.PathUse)
}

// physical returns the path as the kernel reads it, to which .. means the directory above where a link
// leads.
func physical(name string) string {
	if !strings.Contains(name, "..") {
		return filepath.Clean(name)
	}
	at := filepath.VolumeName(name) + string(filepath.Separator)
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if part != ".." {
			at = filepath.Join(at, part)
			continue
		}
		if real, err := filepath.EvalSymlinks(at); err == nil {
			at = real
		}
		at = filepath.Dir(at)
	}
	return at
}

// lists reports whether a use of a directory looks at the names in it, not at the files.
func lists(u shell.PathUse) bool {
	if u.Verb == shell.EnterPath {
		return true
	}
	if u.Part == nil || len(u.Part.Words) == 0 || u.Verb != shell.ReadPath {
		return false
	}
	switch u.Part.Words[0].Value {
	case "ls", "find", "tree", "du", "stat", "file", "test", "[", "realpath", "readlink", "basename", "dirname", "fd", "pwd", "cd", "df":
		return true
	}
	return false
}
