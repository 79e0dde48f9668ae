package instruct

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File names in reading order.
var (
	projectNames = [...]string{"ADZE.md", "CLAUDE.md", "AGENTS.md", ".adze/ADZE.md", ".claude/CLAUDE.md"}
	ruleFolders  = [...]string{".adze/rules", ".claude/rules"}
	localNames   = [...]string{"ADZE.local.md", "CLAUDE.local.md"}
)

// maxDepth is the maximum include depth.
const maxDepth = 5

// A scanner reads files, each only once even if it has several names.
type scanner struct {
	s        *Set
	reason   Reason
	files    []File
	rules    []rule
	problems []Problem
	seen     []fs.FileInfo
}

// scanner returns a scanner that skips the active files.
func (s *Set) scanner(reason Reason) *scanner {
	sc := &scanner{s: s, reason: reason}
	for _, f := range s.files {
		if info, err := os.Stat(f.Path); err == nil {
			sc.seen = append(sc.seen, info)
		}
	}
	for _, r := range s.rules {
		if info, err := os.Stat(r.file.Path); err == nil {
			sc.seen = append(sc.seen, info)
		}
	}
	return sc
}

// scan reads everything that applies from the start.
func (s *Set) scan() *scanner {
	sc := &scanner{s: s, reason: AtStart}
	c := &s.c
	if !c.Bare {
		sc.named(c.Managed, "ADZE.md", Managed)
		sc.named(c.Managed, "CLAUDE.md", Managed)
		if !sc.named(c.User, "ADZE.md", User) {
			sc.named(c.Other, "CLAUDE.md", User)
		}
	}
	if c.Withheld && !c.Bare {
		for _, d := range ancestors(c.Dir) {
			sc.withhold(d)
		}
	}
	if !c.Withheld && !c.Bare {
		dirs := ancestors(c.Dir)
		for _, d := range dirs {
			if sc.belongs(d) {
				sc.directory(d, Project)
			}
		}
		for _, d := range dirs {
			if sc.belongs(d) {
				sc.local(d)
			}
		}
	}
	if c.Bare {
		for _, d := range c.Extra {
			sc.directory(d, Project)
			sc.local(d)
		}
	}
	return sc
}

// withhold reports the omitted files of a project directory.
func (sc *scanner) withhold(dir string) {
	if !within(sc.s.c.Root, dir) {
		return
	}
	for _, name := range slices.Concat(projectNames[:], localNames[:]) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if _, err := os.Lstat(path); err == nil {
			sc.report(path, "is left out, because the settings of the project are not read in this session")
		}
	}
}

// ancestors returns the directories from the file system root down to dir.
func ancestors(dir string) []string {
	var dirs []string
	for {
		dirs = append(dirs, dir)
		parent := filepath.Dir(dir)
		if parent == dir {
			slices.Reverse(dirs)
			return dirs
		}
		dir = parent
	}
}

// belongs reports whether files in d can be trusted: d is part of the project, or only the user
// and the administrator can have written there.
func (sc *scanner) belongs(d string) bool {
	if within(sc.s.c.Root, d) {
		return true
	}
	info, err := os.Stat(d)
	return err == nil && private(info)
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// named reads one file in a directory, and reports whether it exists.
func (sc *scanner) named(dir, name string, kind Kind) bool {
	return dir != "" && sc.read(File{Path: filepath.Join(dir, name), Kind: kind}, "")
}

// directory reads a directory's project instructions. Of files with the same content, only one
// is used.
func (sc *scanner) directory(dir string, kind Kind) {
	from := len(sc.files)
	for _, name := range projectNames {
		before := len(sc.files)
		sc.read(File{Path: filepath.Join(dir, filepath.FromSlash(name)), Kind: kind}, dir)
		if len(sc.files) == before {
			continue
		}
		same := func(f File) bool { return f.Text == sc.files[before].Text && f.Parent == "" }
		if slices.ContainsFunc(sc.files[from:before], same) {
			sc.files = sc.files[:before]
		}
	}
	for _, folder := range ruleFolders {
		names, _ := filepath.Glob(filepath.Join(escape(dir), filepath.FromSlash(folder), "*.md")) // ok: the pattern is valid
		for _, name := range names {
			sc.read(File{Path: name, Kind: kind}, dir)
		}
	}
}

// escape escapes pattern characters in a path.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// local reads the private files in a directory.
func (sc *scanner) local(dir string) {
	for _, name := range localNames {
		sc.read(File{Path: filepath.Join(dir, name), Kind: Local}, "")
	}
}

// read adds a file with its includes, and reports whether it exists. A rule with patterns,
// which are relative to base, waits for a match. A file without base is not a rule.
func (sc *scanner) read(f File, base string) bool {
	info, err := os.Stat(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir):
		return false
	case err != nil:
		sc.report(f.Path, "cannot be read: %v", reason(err))
		return true
	}
	if sc.s.excluded(f.Path) || sc.known(info) || f.Kind >= Project && sc.s.personal(f.Path) {
		return true
	}
	real, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		sc.report(f.Path, "cannot be read: %v", reason(err))
		return true
	}
	if f.Kind >= Project && !sc.inside(f.Path, real) {
		sc.report(f.Path, "is a link that leads out of the project, and is left out")
		return true
	}
	text, ok := sc.load(f.Path, real, info)
	if !ok {
		return true
	}
	sc.seen = append(sc.seen, info)
	f.Reason = sc.reason
	front, text, err := splitFront(text)
	if err != nil {
		sc.report(f.Path, "%v", err)
	}
	f.Text, f.Globs = text, front.paths
	if base != "" && front.conditional {
		sc.rules = append(sc.rules, rule{file: f, base: base, when: sc.compile(f.Path, front.paths)})
		return true
	}
	if f.Text == "" {
		return true
	}
	sc.files = append(sc.files, f)
	sc.include(f, maxDepth)
	return true
}

// excluded reports whether the settings exclude a file.
func (s *Set) excluded(path string) bool {
	return s.excludes.match(strings.TrimPrefix(filepath.ToSlash(path), "/"))
}

// personal reports whether a path is in the user's own directories, which never belong to a
// project above them.
func (s *Set) personal(path string) bool {
	return s.c.User != "" && within(s.c.User, path) || s.c.Other != "" && within(s.c.Other, path)
}

// inside reports whether a path in the workspace stays there when symlinks are resolved, which
// yields real. Above the project, real must be private to the user.
func (sc *scanner) inside(path, real string) bool {
	if within(sc.s.c.Root, path) {
		return within(sc.s.c.Root, real)
	}
	for _, d := range sc.s.c.Extra {
		if within(d, path) {
			return within(d, real)
		}
	}
	info, err := os.Stat(real)
	return err == nil && private(info)
}

func (sc *scanner) known(info fs.FileInfo) bool {
	return slices.ContainsFunc(sc.seen, func(other fs.FileInfo) bool { return os.SameFile(info, other) })
}

func (sc *scanner) report(path, format string, args ...any) {
	sc.problems = append(sc.problems, Problem{Path: path, Text: fmt.Sprintf(format, args...)})
}

// reason returns the error without the path, which is already known.
func reason(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}
