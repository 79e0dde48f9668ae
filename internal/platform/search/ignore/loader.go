package ignore

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"adze/internal/platform/search/glob"
)

// Options say how ignore files are found and read.
type Options struct {
	// Fold ignores case in .ignore and .rgignore. What git reads follows core.ignoreCase.
	Fold bool
	// Getenv is where HOME and the variables of git come from; os.Getenv if nil.
	Getenv func(string) string
}

// A Loader finds the rules of directories. It belongs to one walk: what it has read once, it does not
// read again. It may be used by several goroutines.
type Loader struct {
	fold   bool
	getenv func(string) string

	mu       sync.Mutex
	configs  map[string][]setting  // parsed git configuration, by file
	excludes map[excludeFile]*File // compiled files named by core.excludesFile
}

type excludeFile struct {
	path string
	fold bool
}

// NewLoader returns a Loader that has read nothing.
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

// Names are the entries of a directory that bear on what is ignored there.
type Names uint8

// The entries that count.
const (
	Git       Names = 1 << iota // .git, whether a directory or a file
	Gitignore                   // .gitignore
	Ignore                      // .ignore
	Rgignore                    // .rgignore
)

// NameOf returns the bit for a name, or 0 if the name has no meaning here.
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

// Above returns the rules that directories above dir, an absolute path without links, hold for it.
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

// Enter returns the rules for the entries of a directory: those of its parent, and those that the
// files found in it add. The path is absolute and separated by slashes. Open opens a file in the
// directory; it must not wait, and must not follow a link for .gitignore.
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

// maxSize is how much of an ignore file is read. Compiled it takes many times the memory, and no one
// writes that much.
const maxSize = 2 << 20

// load reads an ignore file. One that cannot be read has no rules.
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
