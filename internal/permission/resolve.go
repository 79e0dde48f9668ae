package permission

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/permission/nested"
	"adze/internal/permission/program"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/shell"
	"adze/internal/tool"
)

var errUnknownRepository = errors.New("the repository could not be inspected")

// editsAndReads reports whether every part is a sed or proven read-only.
func editsAndReads(s *shell.Script) bool {
	return s.Simple && !slices.ContainsFunc(s.Parts, func(p *shell.Part) bool { return !isSed(p) && p.ReadOnly() != nil })
}

func isSed(p *shell.Part) bool { return len(p.Words) > 0 && p.Words[0].Text == "sed" }

// writes reports whether files is non-empty and c.Uses includes a write to each of them.
func (c *Command) writes(files []string) bool {
	for _, file := range files {
		if !slices.ContainsFunc(c.Uses, func(u Use) bool { return u.Write && filepath.Clean(u.full) == file }) {
			return false
		}
	}
	return len(files) > 0
}

// A resolver looks up a call's paths.
type resolver struct {
	p       *Policy
	seen    map[string]paths.ResolvedPath
	several bool // the line has several parts, so one may create files another uses

	// Copy, move and link commands: their number, whether they copy symlinks, and whether some
	// of the files they copy cannot be determined now.
	transfers      int
	linked, unseen bool
}

// target resolves a tool's access. A call that opens files itself resolves them, so that it
// opens the file that was judged.
func (r *resolver) target(a tool.Access, c tool.Call) Target {
	t := Target{Write: a.Verb == tool.Write, Given: a.Target}
	if own, ok := tool.As[tool.Locator](c); ok {
		if set, err := own.Paths(a.Target); err == nil {
			t.Set = set
			t.names = r.names(t.Set)
			return t
		}
	}
	t.Set = r.resolve(r.p.cfg.Dir, a.Target)
	t.names = r.names(t.Set)
	return t
}

// resolve returns every path a path leads through. A path that can never be opened is judged by
// its name; the tool reports the error.
func (r *resolver) resolve(dir, path string) paths.ResolvedPath {
	base := paths.Base{Dir: dir, Home: r.p.cfg.Home}
	set, err := base.Resolve(path)
	if err == nil {
		return set
	}
	name, expandErr := base.Expand(path)
	if expandErr != nil {
		return paths.ResolvedPath{Path: path, ResolveErr: expandErr}
	}
	return paths.ResolvedPath{Path: name, Real: name, All: []string{name}}
}

// names returns the members of a set, normalized for comparison.
func (r *resolver) names(s paths.ResolvedPath) []string {
	names := make([]string, 0, len(s.All))
	for _, name := range s.All {
		if s.Remote { // the form used in rules
			name = "/" + strings.TrimLeft(strings.ReplaceAll(name, `\`, "/"), "/")
		}
		names = append(names, r.p.anchors.Form(name))
	}
	return names
}

// command resolves the files a shell command line touches, each path once. Its copy of the
// resolver keeps the map of known paths off the heap.
func (r resolver) command(own *tool.Command) *Command {
	vars := shell.Vars{Home: r.p.cfg.Home, Dir: r.p.cfg.Dir}
	c := &Command{Script: own.Script.With(vars), Jailed: own.Jailed && own.Doubt == nil, repository: own.Repository}
	if own.Jailed {
		c.Doubt = own.Doubt
	}
	r.seen = map[string]paths.ResolvedPath{}
	r.several = len(c.Script.Parts) > 1
	for _, use := range c.Script.Paths() {
		c.Uses = append(c.Uses, r.uses(use)...)
	}
	for _, part := range c.Script.Parts {
		if nested.SearchesBelow(part) && !slices.ContainsFunc(c.Uses, func(u Use) bool { return u.Part == part && !u.Redirect }) {
			c.Uses = append(c.Uses, r.uses(shell.PathUse{Part: part, Verb: shell.ReadPath, Path: ".", Known: !c.Script.ChangesDir()})...)
		}
	}
	c.Uses = append(c.Uses, r.carried(c.Uses)...)
	if c.Script.Simple && !r.p.rules.Allow.Commands.Empty() {
		for _, part := range c.Script.Parts {
			if by := r.p.rules.Allow.Commands.Covering(part, r.p.counts); by != nil && !by.Exact() {
				c.mentions = append(c.mentions, r.mentioned(part, by)...)
			}
		}
	}
	c.nested = nested.Lines(c.Script, vars)
	for _, script := range c.nested {
		for _, use := range script.Paths() {
			c.inner = append(c.inner, r.uses(use)...)
		}
	}
	if r.p.rulesCommands() {
		c.others, c.unsure = program.Find(r.programs(own), c.Script, c.nested)
	}
	if c.Script.UsesGit() && !c.Jailed {
		c.Git = errUnknownRepository
		if own.Git != nil {
			c.Git = own.Git()
		}
	}
	c.stays = c.Script.ChangesDir() && r.stays(c.Script)
	if own.Judged != nil {
		own.Judged(c.judged())
	}
	if own.Edits != nil {
		c.Edits = editsAndReads(c.Script) && c.writes(own.Edits())
	}
	return c
}

// stays reports whether every part runs in the current directory or below it, in the same worktree.
func (r *resolver) stays(s *shell.Script) bool {
	root, err := filepath.EvalSymlinks(r.p.cfg.Dir)
	if err != nil || !s.Simple {
		return false
	}
	for _, part := range s.Parts {
		if part.Dirs() == nil {
			return false
		}
		for _, dir := range part.Dirs() {
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(r.p.cfg.Dir, dir)
			}
			at, err := filepath.EvalSymlinks(dir)
			if err != nil {
				return false
			}
			for ; at != root; at = filepath.Dir(at) {
				if at == filepath.Dir(at) || isRepository(at) {
					return false
				}
			}
		}
	}
	return true
}

// isRepository reports whether git treats a directory as the top of a worktree or as a
// repository.
func isRepository(dir string) bool {
	for _, name := range []string{".git", "HEAD"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// judged returns the known paths, for the call itself.
func (c *Command) judged() []tool.JudgedPath {
	var all []tool.JudgedPath
	for i := range c.Uses {
		if u := &c.Uses[i]; !u.Vague {
			all = append(all, tool.JudgedPath{Path: filepath.Clean(u.full), Leads: u.Set.All, Real: u.Set.Real, Names: u.Glob != "" && u.Given == u.Glob && !u.Tree})
		}
	}
	return all
}

// uses resolves one path of a command: to one use, or to one per wildcard match.
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
	if u.Unknown > shell.FromDir && use.Write {
		return []Use{use}
	}
	if u.Glob == "" {
		r.lookUp(&use, dir, u.Path)
		if u.Transfer != nil && u.Known {
			return append([]Use{use}, r.placed(use, dir)...)
		}
		return []Use{use}
	}
	use.Given = u.Glob
	r.lookUp(&use, dir, u.Path)
	if !u.Known {
		return []Use{use}
	}
	var found []string
	ok := r.p.places().contains(use.names) // elsewhere it needs confirmation anyway, and may be a device or a network share
	if ok {
		found, ok = nested.Expand(dir, u.Glob)
	}
	use.Tree = !ok
	if !ok && strings.IndexByte("*?[", u.Glob[0]) >= 0 {
		use.dashed = u.Glob
	}
	uses := []Use{use}
	for _, name := range found {
		one := use
		one.Given = name
		if rest := strings.TrimPrefix(name, filepath.Clean(dir)+"/"); shell.OptionLike(rest) && !filepath.IsAbs(u.Glob) {
			one.dashed = rest
		}
		r.lookUp(&one, dir, name)
		if r.met(&one, name) {
			uses = append(uses, one)
		}
	}
	if u.Transfer != nil {
		uses = append(uses, r.placed(use, dir)...)
	}
	return uses
}

// met handles an odd name matched by a wildcard. The file exists, so a read is unambiguous
// however the name is spelled; a write needs confirmation. It reports whether the file can be
// used at all.
func (r *resolver) met(use *Use, name string) bool {
	use.FromGlob = true
	if use.Set.ResolveErr == nil && use.Set.Odd == nil || use.Write {
		return true
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return false // a broken or circular link
	}
	info, err := os.Stat(real)
	if err != nil {
		return false
	}
	use.Set = paths.ResolvedPath{Path: name, Real: real, All: slices.Compact([]string{name, real}), Info: info}
	use.names = r.names(use.Set)
	return true
}

// lookUp resolves a path as the shell does: leading and trailing blanks and a quoted ~ are part
// of the name.
func (r *resolver) lookUp(use *Use, dir, name string) {
	if !filepath.IsAbs(name) && !paths.IsUNC(name) {
		name = dir + string(filepath.Separator) + name
	}
	set, ok := r.seen[name]
	if !ok {
		set = r.resolve(dir, name)
		if other := physical(name); other != set.Path && !set.Remote {
			set.All = append(set.All, r.resolve(dir, other).All...)
		}
		if strings.TrimSpace(name) != name && set.Odd == nil {
			set.Odd = &paths.Oddity{Part: name, Why: "the name ends in a blank"}
		}
		r.seen[name] = set
	}
	use.Set, use.full = set, name
	use.names = r.names(set)
	use.Tree = use.Verb == shell.RemovePath || isDir(set) && !lists(use.PathUse)
}

// physical returns the path as the kernel resolves it: .. means the parent of a symlink's
// target.
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

// lists reports whether a use of a directory reads its names, not its files.
func lists(u shell.PathUse) bool {
	if u.Verb == shell.EnterPath {
		return true
	}
	if u.Part == nil || len(u.Part.Words) == 0 || u.Verb != shell.ReadPath {
		return false
	}
	return !strings.Contains(u.Part.Words[0].Value, "/") && shell.Is(u.Part.Words[0].Value, shell.Lists)
}

// programs returns the configuration for looking up a command's programs.
func (r *resolver) programs(own *tool.Command) program.Config {
	return program.Config{
		Home: r.p.cfg.Home, Dir: r.p.cfg.Dir, Ruled: r.p.speaks, Aliases: own.Aliases,
		Leads: func(path string) []string { return r.resolve(r.p.cfg.Dir, path).All },
	}
}
