// Package instruct finds the files in which people write how they want to be worked with: those of the
// administrator, of the user, of the project and the private ones beside them. It reads them, follows what
// they include, knows which rules wait for a file, and notices what changes. Whether the workspace is
// trusted is decided by the caller, and so is how the texts are told to a model.
package instruct

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Kind is whose instructions a file holds.
type Kind uint8

// The kinds, from the general to the specific.
const (
	Managed Kind = iota
	User
	Project
	Local
)

// String returns the name that hooks know the kind by.
func (k Kind) String() string { return [...]string{"Managed", "User", "Project", "Local"}[k] }

// A Reason is why a file is read.
type Reason string

// The reasons, as hooks know them.
const (
	AtStart   Reason = "session_start"
	Nested    Reason = "nested_traversal"
	Matched   Reason = "path_glob_match"
	Including Reason = "include"
	Again     Reason = "changed"
)

// A File is instructions that are in force.
type File struct {
	Path string
	Kind Kind
	// Text is what the file says, without its front matter.
	Text string
	// Parent is the file that includes this one, or empty.
	Parent string
	// Globs are the patterns of a rule that holds for some files only.
	Globs  []string
	Reason Reason
}

// A Problem is a file, or a part of one, that is not used as it was meant. Its text is for the user.
type Problem struct {
	Path, Text string
	// Outside is a file that Path includes from outside the project without approval, or empty.
	Outside string
}

// A Change is a file that was read before and says something else by now. With Gone it is not there any
// more.
type Change struct {
	File
	Gone bool
}

// A Config says where to look.
type Config struct {
	// Managed is the administrator's directory. User and Other are the user's, of adze and of the
	// ecosystem. An empty one is not looked into.
	Managed, User, Other string
	// Home is what ~ stands for.
	Home string
	// Dir is the working directory, Root the top of the project it belongs to. Both are real paths.
	Dir, Root string
	// Extra are directories that were asked for explicitly. Bare reads them and nothing else.
	Extra []string
	// Withheld says that files of the workspace are not read: they are reported as left out.
	Withheld bool
	Bare     bool
	// Excludes are patterns of paths to skip.
	Excludes []string
	// Approve reports whether the project may include a file from outside; nil approves of none.
	Approve func(path string) bool
	// Loaded is told of each file that is read for use.
	Loaded func(File)
}

// A Set is the instructions of one conversation. It is not for concurrent use.
type Set struct {
	c        Config
	excludes patterns
	files    []File          // in force
	rules    []rule          // that wait for a file
	visited  map[string]bool // directories below the working directory
	problems []Problem
}

// New returns an empty set.
func New(c Config) *Set {
	s := &Set{c: c, visited: map[string]bool{}}
	s.excludes = s.compile("instructionExcludes", c.Excludes)
	return s
}

// Load reads the files that hold from the start, the most specific last, and forgets all others.
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

// Files returns what is in force.
func (s *Set) Files() []File { return slices.Clone(s.files) }

// Problems returns what is not used as it was meant.
func (s *Set) Problems() []Problem { return slices.Clone(s.problems) }

// Touch returns the instructions that come into force because the model works on a file: those of its
// directory and of the ones above it, and the rules whose patterns it matches. Each comes once.
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
		if isRepository(d) { // another repository, which is not trusted yet
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

// Changes reads everything again and returns what is not as it was: files that say something else, files
// that are new, and files that are gone. They are in force then.
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

// below returns the directories from the one under top down to dir, or none if dir is not below top.
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
