// Package instruct finds instruction files: the administrator's, the user's, the project's and
// private ones next to them. It reads them, follows includes, tracks rules that apply to
// certain files, and detects changes. The caller decides whether the workspace is trusted.
package instruct

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Kind is the origin of an instruction file.
type Kind uint8

// The kinds, from general to specific.
const (
	Managed Kind = iota
	User
	Project
	Local
)

// String returns the kind's name in hooks.
func (k Kind) String() string { return [...]string{"Managed", "User", "Project", "Local"}[k] }

// A Reason is the reason a file is read.
type Reason string

// The reasons, as named in hooks.
const (
	AtStart   Reason = "session_start"
	Nested    Reason = "nested_traversal"
	Matched   Reason = "path_glob_match"
	Including Reason = "include"
	Again     Reason = "changed"
)

// A File is an active instruction file.
type File struct {
	Path string
	Kind Kind
	// Text is the file's text without front matter.
	Text string
	// Parent is the file that includes this one, or empty.
	Parent string
	// Globs are the patterns of a conditional rule.
	Globs  []string
	Reason Reason
}

// A Problem is a file, or a part of it, that is not used as intended. Its text is for the user.
type Problem struct {
	Path, Text string
	// Outside is a file outside the project that Path includes without approval, or empty.
	Outside string
}

// A Change is a file whose content has changed since it was read. If Gone is true, it was
// removed.
type Change struct {
	File
	Gone bool
}

// Config configures a Set.
type Config struct {
	// Managed is the administrator's directory. User and Other are the user's directories for
	// adze and for compatible tools. Empty ones are skipped.
	Managed, User, Other string
	// Home is the expansion of ~.
	Home string
	// Dir is the working directory, Root the top of its project. Both are real paths.
	Dir, Root string
	// Extra are directories that were requested explicitly. If Bare is true, only these are
	// read.
	Extra []string
	// If Withheld is true, workspace files are not read but reported as omitted.
	Withheld bool
	Bare     bool
	// Excludes are patterns for paths to skip.
	Excludes []string
	// Approve reports whether the project may include a file from outside; nil approves none.
	Approve func(path string) bool
	// Loaded is called with each file read for use.
	Loaded func(File)
}

// A Set holds one conversation's instructions. It is not safe for concurrent use.
type Set struct {
	c        Config
	excludes patterns
	files    []File          // active
	rules    []rule          // waiting for a matching file
	visited  map[string]bool // directories below the working directory
	problems []Problem
}

// New returns an empty set.
func New(c Config) *Set {
	s := &Set{c: c, visited: map[string]bool{}}
	s.excludes = s.compile("instructionExcludes", c.Excludes)
	return s
}

// Load reads the files that apply from the start, the most specific last, and forgets all
// others.
func (s *Set) Load() []File {
	s.problems = nil
	s.visited = map[string]bool{}
	s.excludes = s.compile("instructionExcludes", s.c.Excludes)
	sc := s.scan()
	s.files, s.rules = sc.files, sc.rules
	s.problems = append(s.problems, sc.problems...)
	s.tell(s.files)
	return slices.Clone(s.files)
}

// Files returns the active files.
func (s *Set) Files() []File { return slices.Clone(s.files) }

// Problems returns the problems found.
func (s *Set) Problems() []Problem { return slices.Clone(s.problems) }

// Touch returns the instructions that become active because the model works on a file: files in
// its directory and the directories above, and the rules whose patterns it matches. Each is
// returned once.
func (s *Set) Touch(path string) []File {
	if s.c.Withheld || s.c.Bare {
		return nil
	}
	path = filepath.Clean(path)
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil
	}
	path = filepath.Join(dir, filepath.Base(path))
	sc := s.scanner(Nested)
	for _, d := range below(s.c.Dir, dir) {
		if s.visited[d] {
			continue
		}
		if isRepository(d) { // another repository, not trusted yet
			break
		}
		s.visited[d] = true
		sc.directory(d, Project)
		sc.local(d)
	}
	s.rules = append(s.rules, sc.rules...)
	s.problems = append(s.problems, sc.problems...)
	found := sc.files
	s.rules = slices.DeleteFunc(s.rules, func(r rule) bool {
		if !r.matches(path) {
			return false
		}
		r.file.Reason = Matched
		found = append(found, r.file)
		return true
	})
	s.files = append(s.files, found...)
	s.tell(found)
	return found
}

// Changes reads everything again and returns the differences: changed, new and removed files.
// They take effect immediately.
func (s *Set) Changes() []Change {
	sc := s.scan()
	for _, d := range sortedKeys(s.visited) {
		sc.reason = Nested
		sc.directory(d, Project)
		sc.local(d)
	}
	now := map[string]File{}
	for _, f := range sc.files {
		now[f.Path] = f
	}
	for _, r := range sc.rules {
		if s.inForce(r.file.Path) {
			now[r.file.Path] = r.file
		}
	}
	var changes []Change
	var kept []File
	for _, f := range s.files {
		g, there := now[f.Path]
		delete(now, f.Path)
		switch {
		case !there:
			changes = append(changes, Change{f, true})
			continue
		case g.Text != f.Text:
			f.Text, f.Globs, f.Reason = g.Text, g.Globs, Again
			changes = append(changes, Change{File: f})
		}
		kept = append(kept, f)
	}
	for _, f := range sc.files {
		if _, new := now[f.Path]; new {
			kept = append(kept, f)
			changes = append(changes, Change{File: f})
		}
	}
	s.files, s.problems = kept, sc.problems
	s.rules = slices.DeleteFunc(sc.rules, func(r rule) bool { return s.inForce(r.file.Path) })
	for _, c := range changes {
		if !c.Gone {
			s.tell([]File{c.File})
		}
	}
	return changes
}

func (s *Set) inForce(path string) bool {
	return slices.ContainsFunc(s.files, func(f File) bool { return f.Path == path })
}

func (s *Set) tell(files []File) {
	if s.c.Loaded == nil {
		return
	}
	for _, f := range files {
		s.c.Loaded(f)
	}
}

// below returns the directories from the one under top down to dir, or none if dir is not below
// top.
func below(top, dir string) []string {
	rest, ok := strings.CutPrefix(dir, strings.TrimSuffix(top, string(filepath.Separator))+string(filepath.Separator))
	if !ok {
		return nil
	}
	var dirs []string
	for name := range strings.SplitSeq(rest, string(filepath.Separator)) {
		top = filepath.Join(top, name)
		dirs = append(dirs, top)
	}
	return dirs
}

func isRepository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

func sortedKeys(m map[string]bool) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
