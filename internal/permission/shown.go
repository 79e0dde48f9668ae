package permission

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/permission/rule"
	"adze/internal/platform/shell"
)

// What commands show of files that rules protect from being read, without naming them as plain paths.

// shown looks for deny and ask rules against what git shows.
func (c commandCheck) shown() finding {
	if !c.guards(&Target{}) {
		return finding{}
	}
	var found finding
	for _, s := range c.everything() {
		for _, part := range s.Parts {
			if shown, ok := shell.ShownBy(part); ok {
				found = stricter(found, c.git(s, part, shown))
			} else {
				found = stricter(found, c.others(part))
			}
			if found.behavior == Deny {
				return found
			}
		}
	}
	return found
}

// everything returns the line and all that it comes to.
func (c commandCheck) everything() []*shell.Script {
	all := c.scripts()
	for _, s := range c.cmd.nested {
		all = append(all, s.Script)
	}
	return all
}

// git judges what a git command shows.
func (c commandCheck) git(s *shell.Script, part *shell.Part, shown shell.Shown) finding {
	dirs, known := c.dirsOf(s, part, shown.Dirs)
	tops := []string{}
	for _, dir := range dirs {
		tops = append(tops, repository(dir))
		for _, top := range shown.Tops {
			tops = append(tops, inDir(dir, top), filepath.Dir(inDir(dir, top)))
		}
	}
	var found finding
	for _, name := range shown.Files {
		for _, base := range slices.Concat(dirs, tops) {
			if found = stricter(found, c.named(inDir(base, name), name)); found.behavior == Deny {
				return found
			}
		}
	}
	if !shown.Content {
		return found
	}
	if shown.Unknown || !known {
		return stricter(found, unsafe("what git shows is known only when it runs, so no rule can protect anything from being read"))
	}
	limits, all := c.limits(shown, dirs, tops)
	if all {
		for _, top := range tops {
			found = stricter(found, c.within(top, "", "the repository in "+top))
		}
	}
	for _, l := range limits {
		found = stricter(found, c.within(l.dir, l.tail, l.given))
	}
	return found
}

// A limit is a part of a repository: what is at or below a directory, with names that end in something.
type limit struct{ dir, tail, given string }

// limits returns to what the pathspecs of a git command limit what it shows, and whether it may show all.
func (c commandCheck) limits(shown shell.Shown, dirs, tops []string) (limits []limit, all bool) {
	blobs := 0
	for _, given := range shown.Limits {
		spec, bases := given, dirs
		if strings.HasPrefix(spec, ":") {
			rest := spec[1:]
			switch {
			case strings.HasPrefix(rest, "("):
				magic, after, ok := strings.Cut(rest[1:], ")")
				if !ok || strings.ContainsAny(magic, "!") || strings.Contains(magic, "exclude") || strings.Contains(magic, "attr") || strings.Contains(magic, "icase") {
					return nil, true
				}
				spec, bases = after, slices.Concat(dirs, tops)
			case strings.HasPrefix(rest, "/"):
				spec, bases = strings.TrimLeft(rest, "/"), tops
			case strings.HasPrefix(rest, "!"), strings.HasPrefix(rest, "^"), rest == "":
				return nil, true
			case !shown.Certain:
				blobs++ // of the index
				continue
			}
		} else if !shown.Certain {
			if strings.Contains(spec, ":") {
				blobs++
				continue
			}
			if !slices.ContainsFunc(bases, func(dir string) bool {
				_, err := os.Lstat(inDir(dir, spec))
				return err == nil
			}) && !strings.ContainsAny(spec, "*?[") {
				return nil, true // a revision
			}
		}
		dir, tail := spec, ""
		if i := strings.IndexAny(spec, "*?[\\"); i >= 0 {
			dir = spec[:strings.LastIndexByte(spec[:i], '/')+1]
			tail = spec[strings.LastIndexAny(spec, "*?]\\/")+1:]
		}
		for _, base := range bases {
			limits = append(limits, limit{inDir(base, dir), tail, given})
		}
	}
	return limits, len(limits) == 0 && (blobs == 0 || blobs < len(shown.Limits))
}

// dirsOf returns where a part may run, after what it enters itself, and whether that is known.
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

// repository returns the top of the repository that dir is in, or dir itself if it is in none.
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

// named judges a path that a command may be told to read.
func (c commandCheck) named(full, given string) finding {
	if given == "" || len(full) > maxPath {
		return finding{}
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
			return deniedBy(r, "reading "+given)
		}
	}
	for _, name := range names {
		if r := c.rules.Ask.Reads.Match(name, nil); r != nil {
			return askedBy(r, "reading "+given)
		}
	}
	return finding{}
}

// within asks about a command that may show what is at or below a directory, if a rule speaks of something there.
func (c commandCheck) within(dir, tail, given string) finding {
	full := c.anchors.Form(filepath.Clean(dir))
	for _, s := range []*rule.Set{&c.rules.Deny, &c.rules.Ask} {
		if r := s.Reads.Within(full, tail); r != nil {
			return unsafe("it may show what the rule %s protects, in %s", r.Quoted(), given)
		}
	}
	return finding{}
}

// others judges what programs are told to read in ways of their own: by a file with options, by the value of an
// option, in the text of a program.
func (c commandCheck) others(part *shell.Part) finding {
	if len(part.Words) == 0 || harmlessWords(part.Words[0].Value) {
		return finding{}
	}
	name := path.Base(part.Words[0].Value)
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
	for _, w := range words {
		v := w.Value
		if readsNames(name, v) {
			found = stricter(found, unsafe("which files %s reads stands in its input or in another file, so no rule can protect anything from it", name))
		}
		if strings.HasPrefix(v, "@") && len(v) > 1 && readsOptions(name) {
			found = stricter(found, unsafe("%s takes what it reads from %s, so no rule can protect anything from it", name, v[1:]))
		}
		candidates := []string{}
		if strings.HasPrefix(v, "-") && len(v) > 2 {
			if _, value, ok := strings.Cut(v, "="); ok {
				candidates = append(candidates, value)
			} else if v[1] != '-' {
				candidates = append(candidates, v[2:])
			}
		}
		if takesFiles(name) {
			candidates = append(candidates, strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("=<@:,;", r) })...)
		}
		if readsPrograms(name) {
			candidates = append(candidates, strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`()[]{}<>|;&,=+$", r) })...)
		}
		dirs := part.Dirs()
		if len(dirs) == 0 {
			dirs = []string{""}
		}
		for _, candidate := range candidates {
			for _, dir := range dirs {
				found = stricter(found, c.named(inDir(inDir(c.cfg.Dir, dir), candidate), candidate))
			}
		}
	}
	return found
}

// readsNames reports whether a word makes a program read the names of files from elsewhere.
func readsNames(program, word string) bool {
	switch program {
	case "cpio", "pax":
		return true
	case "tar", "bsdtar", "rsync":
		return strings.HasPrefix(word, "--files-f") || program != "rsync" && strings.HasPrefix(word, "-T")
	case "sort", "wc", "du":
		return strings.HasPrefix(word, "--files0")
	}
	return false
}

// takesFiles reports whether a program takes files in words that say more than a path.
func takesFiles(program string) bool {
	switch program {
	case "curl", "wget", "http", "https", "docker", "podman", "kubectl", "helm", "aws", "gh", "gcloud", "az", "terraform", "ansible-playbook", "scp", "rsync":
		return true
	}
	return false
}

// readsOptions reports whether a program takes @file for a file with options and operands.
func readsOptions(program string) bool {
	switch program {
	case "strings", "objdump", "nm", "readelf", "ar", "ld", "size", "objcopy", "strip", "addr2line", "gcc", "g++", "cc", "c++", "clang", "clang++", "javac", "java", "rustc":
		return true
	}
	return false
}

// readsPrograms reports whether a program is given the text of another one, which may name files.
func readsPrograms(program string) bool {
	program = strings.TrimRight(program, "0123456789.")
	switch program {
	case "python", "perl", "ruby", "node", "nodejs", "php", "lua", "deno", "bun", "tclsh", "awk", "gawk", "mawk", "nawk", "sed", "gsed", "jq", "osascript", "Rscript", "gnuplot", "vim", "vi", "nvim", "ed", "ex", "emacs", "sqlite", "psql", "mysql", "bc", "m":
		return true
	}
	return false
}
