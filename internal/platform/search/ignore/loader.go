package ignore

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"adze/internal/platform/search/glob"
)

// Options configure a Loader.
type Options struct {
	// Fold ignores case in .ignore and .rgignore. Git's files follow core.ignoreCase.
	Fold bool
	// Getenv returns HOME and git's variables; os.Getenv if nil.
	Getenv func(string) string
}

// A Loader loads the rules of directories. It belongs to one walk and reads each file once. It
// is safe for concurrent use.
type Loader struct {
	fold   bool
	getenv func(string) string

	mu       sync.Mutex
	configs  map[string][]setting  // parsed git configuration, keyed by file
	excludes map[excludeFile]*File // compiled files named by core.excludesFile
}

type excludeFile struct {
	path string
	fold bool
}

// NewLoader returns an empty Loader.
func NewLoader(o Options) *Loader {
	l := &Loader{
		fold:     o.Fold,
		getenv:   o.Getenv,
		configs:  map[string][]setting{},
		excludes: map[excludeFile]*File{},
	}
	if l.getenv == nil {
		l.getenv = os.Getenv
	}
	return l
}

// Names is a set of directory entries that affect ignoring.
type Names uint8

// Relevant entries.
const (
	Git       Names = 1 << iota // .git, directory or file
	Gitignore                   // .gitignore
	Ignore                      // .ignore
	Rgignore                    // .rgignore
)

// NameOf returns the bit for a name, or 0 if the name is irrelevant.
func NameOf(name string) Names {
	switch name {
	case ".git":
		return Git
	case ".gitignore":
		return Gitignore
	case ".ignore":
		return Ignore
	case ".rgignore":
		return Rgignore
	}
	return 0
}

// Above returns the rules for dir, an absolute path without links, from the directories above
// it.
func (l *Loader) Above(dir string) *Dir {
	parent := filepath.Dir(dir)
	if parent == dir {
		return nil
	}
	up := l.Above(parent)
	found := Names(0)
	for _, name := range [...]string{".git", ".gitignore", ".ignore", ".rgignore"} {
		if _, err := os.Lstat(filepath.Join(parent, name)); err == nil {
			found |= NameOf(name)
		}
	}
	return l.Enter(up, filepath.ToSlash(parent), found, func(name string) (io.ReadCloser, error) {
		return openIgnore(filepath.Join(parent, name))
	})
}

// Repository returns the rules for the top directory of a repository, from its info/exclude in
// the git directory common and the user's excludes file, without reading its configuration.
func (l *Loader) Repository(top, common, excludes string, fold bool) *Dir {
	r := &repo{base: len(strings.TrimSuffix(top, "/")) + 1, fold: fold}
	r.exclude = load(openAny, filepath.Join(common, "info", "exclude"), fold)
	if excludes != "" {
		r.global = l.loadGlobal(excludeFile{excludes, fold})
	}
	return &Dir{repo: r}
}

// Enter returns the rules for the entries of a directory: its parent's, plus the rules in the
// files found in it. The path is absolute and slash-separated. Open opens a file in the
// directory; it must not block, and must not follow a link for .gitignore.
func (l *Loader) Enter(parent *Dir, path string, found Names, open func(name string) (io.ReadCloser, error)) *Dir {
	if found == 0 {
		return parent
	}
	d := &Dir{}
	if parent != nil {
		*d = *parent
	}
	base := len(strings.TrimSuffix(path, "/")) + 1
	if found&Git != 0 {
		if r := l.openRepo(path, base, d.repo); r != nil {
			d.repo, d.gitignore = r, nil
		}
	}
	add := func(chain **level, name string, fold bool) {
		if f := load(open, name, fold); f != nil {
			*chain = &level{f, base, *chain}
		}
	}
	if found&Gitignore != 0 && d.repo != nil {
		add(&d.gitignore, ".gitignore", d.repo.fold)
	}
	if found&Ignore != 0 {
		add(&d.ignore, ".ignore", l.fold)
	}
	if found&Rgignore != 0 {
		add(&d.rgignore, ".rgignore", l.fold)
	}
	return d
}

// maxSize is the amount of an ignore file that is read. Compiled it takes many times the
// memory, and no real file is that large.
const maxSize = 2 << 20

// load reads an ignore file. An unreadable file has no rules.
func load(open func(string) (io.ReadCloser, error), name string, fold bool) *File {
	r, err := open(name)
	if err != nil {
		return nil
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxSize))
	if err != nil {
		return nil
	}
	return Parse(text, glob.Options{Fold: fold})
}

// openIgnore opens an ignore file. A .gitignore that is a link does not count, as in git.
func openIgnore(path string) (io.ReadCloser, error) {
	if filepath.Base(path) == ".gitignore" {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			return nil, os.ErrInvalid
		}
	}
	return openAny(path)
}
