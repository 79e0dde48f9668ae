package rule

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Anchors defines the base directories of path patterns, and how paths are compared.
type Anchors struct {
	// Start is the directory adze was started in, Dir the base for relative paths in calls.
	Start, Dir, Home string
	// Also holds further base directories for relative paths in deny and ask rules.
	Also []string
	// Fold is set if the file system is case-insensitive.
	Fold bool
	// Copies holds the repository's working copies; see [Copies].
	Copies []Copy

	copies  *Copies
	links   links                        // symlinks on the paths of rules
	resolve func(string) (string, error) // resolves symlinks, for tests
}

// Form returns a path normalized for comparison.
func (a *Anchors) Form(name string) string { return foldPath(name, a.Fold) }

// Forms returns the normalized forms of directories, as given and with symlinks resolved.
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

// bases returns the directories an anchor refers to, as given and with symlinks resolved.
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
	for _, dir := range append([]string{a.Dir}, a.Also...) { // a cd must not disable a deny or ask rule
		if dir != a.Start {
			bases = append(bases, a.both(dir)...)
		}
	}
	return bases
}

// both returns a directory as given and with symlinks resolved.
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

// real returns the resolved path of dir, if it differs.
func (a *Anchors) real(dir string) (string, bool) {
	if a.resolve != nil {
		real, err := a.resolve(filepath.FromSlash(dir))
		return filepath.ToSlash(real), err == nil && real != dir
	}
	real := filepath.ToSlash(a.links.real(filepath.FromSlash(dir)))
	return real, real != dir
}
