package permission

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/permission/rule"
	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/shell"
)

// Checks for commands that show read-protected files without naming them as plain paths.

// shown applies deny and ask rules to files that git and other programs show without naming
// them as plain paths.
func (c commandCheck) shown() finding {
	if !c.guardsFiles() {
		return finding{}
	}
	var found finding
	for _, uses := range [][]Use{c.cmd.Uses, c.cmd.inner} {
		for i := range uses {
			if !uses[i].Write {
				found = stricter(found, c.stored(uses[i].Set.Real))
			}
		}
	}
	for _, s := range c.everything() {
		for _, part := range s.Parts {
			if shown, ok := shell.ShownBy(part); ok {
				found = stricter(found, c.git(s, part, shown))
			} else {
				found = stricter(found, c.others(s, part))
			}
			if found.behavior == Deny {
				return found
			}
		}
	}
	return found
}

// everything returns the line, its expansions and its nested lines.
func (c commandCheck) everything() []*shell.Script {
	all := c.scripts()
	for _, s := range c.cmd.nested {
		all = append(all, s.Script)
	}
	return all
}

// git judges the files a git command shows, and the ones it changes in the work tree.
func (c commandCheck) git(s *shell.Script, part *shell.Part, shown shell.GitExposure) finding {
	dirs, known := c.dirsOf(s, part, shown.Dirs)
	g := gitCheck{commandCheck: c, shown: shown, dirs: dirs, settled: c.settled(part)}
	for _, dir := range dirs {
		trees := workTrees(repository(dir))
		g.tops = append(g.tops, trees...)
		for _, other := range trees[1:] {
			if rel, err := filepath.Rel(trees[0], g.real(dir)); err == nil {
				g.same = append(g.same, filepath.Join(other, rel))
			}
		}
		for _, top := range shown.Tops {
			g.tops = append(g.tops, inDir(dir, top), filepath.Dir(inDir(dir, top)))
		}
	}
	var found finding
	for _, name := range shown.Files {
		for _, base := range slices.Concat(dirs, g.tops, g.same) {
			if found = stricter(found, c.named(inDir(base, name), name)); found.behavior == Deny {
				return found
			}
		}
	}
	if (shown.Content || shown.Vague) && (shown.Unknown && !shown.Vague || !known) && c.guards(&Target{}) {
		return stricter(found, confirm(Reason{Kind: GitRuntimeFiles}))
	}
	if shown.Content || shown.Objects || shown.Vague {
		found = stricter(found, g.judge(false))
	}
	if shown.Writes && known {
		found = stricter(found, g.judge(true))
	} else if shown.Writes && c.guards(&Target{Write: true}) {
		found = stricter(found, confirm(Reason{Kind: GitRuntimeFiles, Write: true}))
	}
	return found
}

// A gitCheck judges the repository files a git command may show or change.
type gitCheck struct {
	commandCheck
	shown      shell.GitExposure
	dirs, tops []string // possible working directories, and the repositories it may use
	same       []string // the directories of other work trees that correspond to dirs
	settled    bool     // nothing else in the line changes the repository first
}

// settled reports whether only the part itself changes anything, so that the repository is in
// its current state when the part runs.
func (c commandCheck) settled(part *shell.Part) bool {
	for _, s := range c.everything() {
		for _, p := range s.Parts {
			if p != part && p.Text != part.Text && p.WordsReadOnly() != nil && !c.cmd.Jailed {
				return false
			}
		}
	}
	return true
}

// judge asks if a deny or ask rule applies to a file that the command may show or, if write is
// set, change. The rules determine the candidate files; git then reports which of them exist in
// any version.
func (g gitCheck) judge(write bool) finding {
	limits := g.limits()
	r, given := g.concerned(limits, write)
	shows := r != nil && (write || g.shown.Content || g.shown.Vague)
	if !shows {
		// An object named by its hash has no path that limits could restrict.
		if r, given = g.concerned(nil, write); r == nil || write || len(g.shown.Revisions) == 0 {
			return finding{}
		}
	}
	doubt := confirm(Reason{Kind: GitProtected, Rule: r, Write: write, What: given})
	if !g.settled || g.shown.Unknown && !g.shown.Vague || g.shown.Untracked || g.leaves() || len(g.shown.Tops) > 0 || g.cmd.repository == nil {
		if shows || g.hashed() {
			return doubt
		}
		return finding{}
	}
	for _, dir := range g.dirs {
		repo, err := g.cmd.repository(dir)
		switch {
		case err != nil:
		case shows:
			err = g.clear(repo, limits, write)
		default:
			err = repo.Commits(g.revisions())
		}
		if err != nil && (shows || g.hashed() || errors.Is(err, gitrepo.ErrNoCommit)) {
			return doubt
		}
	}
	return finding{}
}

// leaves reports whether a word is a path outside the repository, in which case git compares
// files whether or not it tracks them.
func (g gitCheck) leaves() bool {
	for _, dir := range g.dirs {
		top := repository(dir)
		for _, word := range g.shown.Limits {
			if _, err := os.Lstat(inDir(dir, word)); err == nil && !inside([]string{g.anchors.Form(top)}, []string{g.anchors.Form(g.real(inDir(dir, word)))}) {
				return true
			}
		}
	}
	return false
}

// hashed reports whether a word may be the hash of an object.
func (g gitCheck) hashed() bool {
	return slices.ContainsFunc(g.revisions(), func(v string) bool { return len(v) > 3 && strings.Trim(strings.ToLower(v), "0123456789abcdef") == "" })
}

// revisions returns the words that may name revisions, without their path suffixes.
func (g gitCheck) revisions() []string {
	var revisions []string
	for _, word := range g.shown.Revisions {
		before, _, ok := strings.Cut(word, ":")
		switch {
		case ok && before == "" && !strings.HasPrefix(word, ":/"):
			continue // a path in the index
		case ok && before != "" && !strings.Contains(before, "{"):
			word = before
		case ok && strings.Contains(before, "{"):
			if i := strings.LastIndex(word, "}:"); i >= 0 {
				word = word[:i+1]
			}
		}
		revisions = append(revisions, word)
	}
	return revisions
}

var errProtected = errors.New("a rule protects files in the repository")

// clear returns nil if the repository has no file within the limits to which a rule applies.
func (g gitCheck) clear(repo *gitrepo.Reader, limits []limit, write bool) error {
	tops := workTrees(repo.Top)
	var specs []string
	all := false
	for _, x := range g.guarding(write) {
		for _, top := range tops {
			if x.Match(g.anchors.Form(top), nil) != nil {
				return errProtected
			}
			own, ok := x.Pathspecs(g.anchors.Form(top))
			specs, all = append(specs, own...), all || !ok
		}
	}
	switch {
	case all:
		specs = nil
	case len(specs) == 0:
		return repo.Commits(g.revisions())
	}
	names, err := repo.Known(specs, g.revisions())
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(g.guarding(write), func(x *rule.PathIndex) bool {
			return slices.ContainsFunc(tops, func(top string) bool {
				return x.Match(g.anchors.Form(filepath.Join(top, filepath.FromSlash(name))), nil) != nil
			})
		}) {
			continue
		}
		full := filepath.Join(repo.Top, filepath.FromSlash(name))
		if len(limits) == 0 || slices.ContainsFunc(limits, func(l limit) bool { return (limit{g.real(l.dir), l.tail, ""}).selects(full) }) {
			return errProtected
		}
	}
	return nil
}

// real resolves a path as far as it exists.
func (g gitCheck) real(path string) string {
	r := resolver{p: g.Policy}
	return r.resolve(g.cfg.Dir, path).Real
}

// guarding returns the deny and ask rules.
func (g gitCheck) guarding(write bool) []*rule.PathIndex {
	if write {
		return []*rule.PathIndex{&g.rules.Deny.Edits, &g.rules.Ask.Edits}
	}
	return []*rule.PathIndex{&g.rules.Deny.Reads, &g.rules.Ask.Reads}
}

// concerned returns a rule that may apply to something within the limits, or, without limits,
// anywhere in the repositories, and the matching location.
func (g gitCheck) concerned(limits []limit, write bool) (r *rule.Rule, given string) {
	if len(limits) == 0 {
		for _, top := range g.tops {
			limits = append(limits, limit{dir: top, given: "the repository " + top})
		}
	}
	for _, l := range limits {
		places := []string{filepath.Clean(l.dir), g.real(l.dir)}
		for _, x := range g.guarding(write) {
			for _, place := range places {
				if r := x.Within(g.anchors.Form(place)); r != nil {
					return r, l.given
				}
			}
		}
	}
	return nil, ""
}

// A limit selects part of a repository: files at or below dir whose name, or a parent
// directory's name, ends in tail.
type limit struct{ dir, tail, given string }

// selects reports whether the limit may select a file.
func (l limit) selects(full string) bool {
	rel, err := filepath.Rel(l.dir, full)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return false
	}
	if l.tail == "" {
		return true
	}
	return slices.ContainsFunc(strings.Split(rel, "/"), func(name string) bool { return strings.HasSuffix(name, l.tail) })
}

// limits returns the limits that a git command's words place on the files it shows or changes;
// none means no known limit.
func (g gitCheck) limits() []limit {
	var limits []limit
	bounded, revisions := g.shown.Certain, false
	for _, given := range g.shown.Limits {
		isFile := !slices.ContainsFunc(g.dirs, func(dir string) bool {
			_, err := os.Lstat(inDir(dir, given))
			return err != nil
		})
		_, path, colon := strings.Cut(given, ":")
		switch {
		case g.shown.Certain, isFile && g.shown.Checked && g.settled, g.shown.Checked && strings.ContainsAny(given, "*?[") && !strings.ContainsAny(given, ":{^~@"):
			bounded = true // no revision has such a name
		case colon && strings.Contains(given, "{"), strings.HasPrefix(given, ":") && strings.Trim(path, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_./:") != "",
			strings.HasPrefix(path, "/"), colon && path == "":
			return nil
		case colon: // a file or directory in a revision or the index
			if _, stage, ok := strings.Cut(path, ":"); ok {
				path = stage
			}
			for _, base := range slices.Concat(g.dirs, g.tops, g.same) {
				limits = append(limits, limit{inDir(base, path), "", given})
			}
			continue
		default:
			revisions = true
			if !isFile {
				continue
			}
		}
		own, ok := g.pathspec(given)
		if !ok {
			return nil
		}
		limits = append(limits, own...)
	}
	if !bounded && revisions {
		return nil
	}
	return limits
}

// pathspec returns the limits a pathspec selects; false means unknown.
func (g gitCheck) pathspec(given string) ([]limit, bool) {
	spec, bases := given, slices.Concat(g.dirs, g.same)
	if rest, ok := strings.CutPrefix(spec, ":"); ok {
		magic, after, long := strings.Cut(strings.TrimPrefix(rest, "("), ")")
		switch {
		case strings.HasPrefix(rest, "("):
			for word := range strings.SplitSeq(magic, ",") {
				if word != "top" && word != "glob" && word != "literal" || !long {
					return nil, false
				}
			}
			spec, bases = after, slices.Concat(g.dirs, g.tops, g.same)
		case strings.HasPrefix(rest, "/"):
			spec, bases = strings.TrimLeft(rest, "/"), g.tops
		default:
			return nil, false
		}
	}
	dir, tail := spec, ""
	if i := strings.IndexAny(spec, "*?[\\"); i >= 0 {
		dir = spec[:strings.LastIndexByte(spec[:i], '/')+1]
		tail = spec[strings.LastIndexAny(spec, "*?]\\/")+1:]
	}
	var limits []limit
	for _, base := range bases {
		limits = append(limits, limit{inDir(base, dir), tail, given})
	}
	return limits, true
}

// dirsOf returns the directories in which a part may run, after the ones it enters itself, and
// whether they are known.
func (c commandCheck) dirsOf(s *shell.Script, part *shell.Part, enters []string) (dirs []string, known bool) {
	dirs, known = part.Dirs(), true
	if dirs == nil {
		dirs, known = []string{""}, !s.ChangesDir()
	}
	dirs = slices.Clone(dirs)
	for i := range dirs {
		dirs[i] = inDir(c.cfg.Dir, dirs[i])
		for _, dir := range enters {
			dirs[i] = inDir(dirs[i], dir)
		}
	}
	return dirs, known
}

func inDir(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// repository returns the top of dir's repository, or dir itself if it is in none.
func repository(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
}

// workTrees returns the top of a work tree and, if it shares another work tree's repository,
// the other's top.
func workTrees(top string) []string {
	file := filepath.Join(top, ".git")
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return []string{top}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return []string{top}
	}
	gitDir := inDir(top, strings.TrimSpace(strings.TrimPrefix(string(data), "gitdir:")))
	if main, _, ok := strings.Cut(gitDir, "/.git/worktrees/"); ok {
		return []string{top, main}
	}
	return []string{top}
}

// stored asks about reading git's stored file contents, if a rule applies to something in the
// repository.
func (c commandCheck) stored(full string) finding {
	at := strings.Index(full, ".git/")
	if at < 0 {
		return finding{}
	}
	for part := range strings.SplitSeq(full[at:], "/") {
		switch part {
		case "objects", "lost-found", "rebase-apply", "rebase-merge", "rr-cache", "COMMIT_EDITMSG":
			top := c.anchors.Form(filepath.Dir(full[:at+len(".git")]))
			for _, s := range []*rule.Set{&c.rules.Deny, &c.rules.Ask} {
				if r := s.Reads.Within(top); r != nil {
					return confirm(Reason{Kind: GitStored, Rule: r, What: top})
				}
			}
		}
	}
	return finding{}
}

// named judges a path that a command may be instructed to read.
func (c commandCheck) named(full, given string) finding {
	if given == "" || len(full) > maxPath {
		return finding{}
	}
	if found := c.stored(full); found.behavior != "" {
		return found
	}
	names := []string{c.anchors.Form(full)}
	if info, err := os.Lstat(full); err == nil {
		r := resolver{p: c.Policy}
		if real, err := filepath.EvalSymlinks(full); err == nil && (info.Mode()&os.ModeSymlink != 0 || real != full) {
			names = r.names(r.resolve(c.cfg.Dir, full))
		}
	}
	for _, name := range names {
		if r := c.rules.Deny.Reads.Match(name, nil); r != nil {
			return deniedPath(r, false, given)
		}
	}
	for _, name := range names {
		if r := c.rules.Ask.Reads.Match(name, nil); r != nil {
			return askedPath(r, false, given)
		}
	}
	return finding{}
}

// others judges files that programs read and write by unusual means: an options file, an
// option's value, or a script's text.
func (c commandCheck) others(s *shell.Script, part *shell.Part) finding {
	if len(part.Words) == 0 {
		return finding{}
	}
	name := path.Base(part.Words[0].Value)
	program := takesScript(name)
	prints := shell.Is(name, shell.Prints)
	if onlyPrints(part) { // its output may be a script for another part
		program = slices.ContainsFunc(s.Parts, func(p *shell.Part) bool {
			return len(p.Words) > 0 && (shell.Is(p.Words[0].Value, shell.Shell) || takesScript(path.Base(p.Words[0].Value)))
		})
		if !program {
			return finding{}
		}
	}
	var found finding
	words := part.Words[1:]
	for _, a := range part.Assigns {
		words = append(words[:len(words):len(words)], shell.Word{Value: "-=" + a.Value.Value})
	}
	for _, r := range part.Redirects {
		if strings.HasPrefix(r.Op, "<<") {
			words = append(words[:len(words):len(words)], r.Target)
		}
	}
	dirs := part.Dirs()
	if len(dirs) == 0 {
		dirs = []string{""}
	}
	for _, w := range words {
		v := w.Value
		if prints {
			v = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(v)
		}
		if shell.ReadsNames(name, v) && c.guards(&Target{}) {
			found = stricter(found, confirm(Reason{Kind: ListedFiles, What: name}))
		}
		if strings.HasPrefix(v, "@") && len(v) > 1 && shell.Is(name, shell.Response) && c.guards(&Target{}) {
			found = stricter(found, confirm(Reason{Kind: OptionsFile, What: name, Text: v[1:]}))
		}
		var candidates, inProgram []string
		if strings.HasPrefix(v, "-") && len(v) > 2 {
			if _, value, ok := strings.Cut(v, "="); ok {
				candidates = append(candidates, value)
			} else if v[1] != '-' {
				candidates = append(candidates, v[2:])
			}
		}
		if shell.Is(name, shell.FileWords) {
			candidates = append(candidates, strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("=<@:,;", r) })...)
		}
		if program && (name == "sed" || name == "gsed" || prints) {
			reads, writes := shell.SedFiles(v)
			candidates, inProgram = append(candidates, reads...), append(inProgram, writes...)
		}
		if program {
			inProgram = append(inProgram, strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`()[]{}<>|;&,=+$", r) })...)
		}
		for _, dir := range dirs {
			dir = inDir(c.cfg.Dir, dir)
			for _, candidate := range candidates {
				found = stricter(found, c.named(inDir(dir, candidate), candidate))
			}
			for _, candidate := range inProgram {
				found = stricter(found, c.named(inDir(dir, candidate), candidate))
				found = stricter(found, c.changed(inDir(dir, candidate), candidate))
			}
		}
	}
	return found
}

// changed asks about a path in a script's text, since the script may write it, if a rule denies
// or asks about that.
func (c commandCheck) changed(full, given string) finding {
	if given == "" || len(full) > maxPath {
		return finding{}
	}
	for _, s := range []*rule.Set{&c.rules.Deny, &c.rules.Ask} {
		if r := s.Edits.Match(c.anchors.Form(full), nil); r != nil {
			return confirm(Reason{Kind: RuleProtects, Rule: r, What: given})
		}
	}
	return finding{}
}

// onlyPrints reports whether a part only prints its words.
func onlyPrints(part *shell.Part) bool {
	name := part.Words[0].Value
	return !strings.Contains(name, "/") && shell.Is(name, shell.Prints)
}

// takesScript reports whether a program, whatever its version, takes the text of a script.
func takesScript(program string) bool {
	return shell.Is(strings.TrimRight(program, "0123456789."), shell.TakesScript)
}
