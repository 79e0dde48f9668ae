package rule

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Anchors say what the patterns of paths are relative to, and how paths are compared.
type Anchors struct {
	// Start is the directory adze was started in, Dir where relative paths of calls begin.
	Start, Dir, Home string
	// Also are further directories to which relative paths in rules that protect belong.
	Also []string
	// Fold says that the file system does not tell upper and lower case apart.
	Fold bool
	// Copies are working copies of the repository; see [Copies].
	Copies []Copy

	copies  *Copies
	links   links                        // on the way to what rules speak of
	resolve func(string) (string, error) // replaces links, in tests
}

// Form returns a path in the form in which paths are compared.
func (a *Anchors) Form(name string) string { return foldPath(name, a.Fold) }

// Forms returns the forms of directories as given and without links.
func (a *Anchors) Forms(dirs ...string) []string {
	var all []string
	for _, dir := range dirs {
		for _, name := range a.both(dir) {
			if name = a.Form(name); !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

func foldPath(name string, fold bool) string {
	name = norm.NFC.String(filepath.ToSlash(name))
	if fold {
		name = strings.ToLower(name)
	}
	return name
}

// bases returns the directories an anchor means, as given and without links.
func (a *Anchors) bases(at anchor, r *Rule) []string {
	switch at {
	case atRoot:
		return []string{"/"}
	case atHome:
		return a.both(a.Home)
	case atFile:
		if r.Base != "" {
			return a.both(r.Base)
		}
	}
	bases := a.both(a.Start)
	if r.Behavior == Allow {
		return bases
	}
	for _, dir := range append([]string{a.Dir}, a.Also...) { // a rule that protects is not lost by a cd
		if dir != a.Start {
			bases = append(bases, a.both(dir)...)
		}
	}
	return bases
}

// both returns a directory as given and without links.
func (a *Anchors) both(dir string) []string {
	if dir == "" {
		return nil
	}
	dir = filepath.ToSlash(filepath.Clean(dir))
	if real, ok := a.real(dir); ok {
		return []string{dir, real}
	}
	return []string{dir}
}

// real returns where dir really is, if that is elsewhere.
func (a *Anchors) real(dir string) (string, bool) {
	if a.resolve != nil {
		real, err := a.resolve(filepath.FromSlash(dir))
		return filepath.ToSlash(real), err == nil && real != dir
	}
	real := filepath.ToSlash(a.links.real(filepath.FromSlash(dir)))
	return real, real != dir
}
