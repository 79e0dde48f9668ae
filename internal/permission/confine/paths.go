package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/permission"
)

// paths determines where confined commands may write and which files are hidden from them.
type paths struct {
	*sources
	dir, home string
	own       []string                  // adze's own directories
	keys      string                    // the file with the user's API keys, or ""
	git       func(dir string) []string // may be nil
}

// roots returns the working directories.
func (p *paths) roots() []string {
	if p.gate == nil {
		return []string{p.dir}
	}
	return p.gate.Policy().Config().Dirs
}

// writable returns additional writable places.
func (p *paths) writable() ([]string, error) {
	list := p.expand(p.settings.Load().AllowWrite)
	if p.gate != nil {
		if scratch := p.gate.Policy().Config().Scratch; scratch != "" {
			list = append(list, scratch)
		}
	}
	return list, nil
}

// readOnly returns places that cannot be written, even in a working directory.
func (p *paths) readOnly() ([]string, error) {
	list := p.inCopies(p.expand(p.settings.Load().DenyWrite))
	if p.gate != nil {
		c := p.gate.Policy().Config()
		for _, dir := range append(slices.Clip(c.Protected), filepath.Join(c.UserDir, "settings.json")) {
			if !slices.Contains(p.own, dir) {
				list = append(list, dir)
			}
		}
	}
	if p.git != nil {
		for _, root := range p.roots() {
			list = append(list, p.git(root)...)
		}
	}
	return list, nil
}

// hidden returns the paths hidden by the settings and the deny rules for reading. If a rule
// cannot be enforced, it returns an error, and the command is not run.
func (p *paths) hidden() ([]string, error) {
	list := p.inCopies(p.expand(p.settings.Load().DenyRead))
	if p.keys != "" {
		list = append(list, p.keys)
	}
	if p.gate == nil {
		return list, nil
	}
	policy := p.gate.Policy()
	if !policy.Hides() {
		return list, nil
	}
	found, err := findHidden(policy, p.hidingPlaces(policy), maxVisited)
	return append(list, found...), err
}

// hidingPlaces returns directories that may contain hidden files: the working directories, and
// the fixed prefixes of patterns that lead elsewhere.
func (p *paths) hidingPlaces(policy *permission.Policy) []string {
	places := slices.Clone(policy.Config().Dirs)
	for _, r := range policy.DeniedReads() {
		pattern := r.Content
		switch {
		case strings.HasPrefix(pattern, "//"), strings.HasPrefix(pattern, "~/"):
			pattern = p.absolute(pattern)
		case strings.HasPrefix(pattern, "/") && r.Base != "":
			pattern = filepath.Join(r.Base, pattern)
		default:
			continue
		}
		if i := strings.IndexAny(pattern, "*?["); i >= 0 {
			pattern = filepath.Dir(pattern[:i] + "x")
		}
		if !slices.ContainsFunc(places, func(dir string) bool { return pattern == dir || strings.HasPrefix(pattern, dir+"/") }) {
			places = append(places, pattern)
		}
	}
	return places
}

// maxVisited limits the number of files visited to find the hidden ones.
const maxVisited = 200_000

// findHidden returns the files and directories in places that the policy hides. It visits at
// most limit of them.
func findHidden(policy *permission.Policy, places []string, limit int) ([]string, error) {
	var list []string
	visited := 0
	for _, start := range places {
		err := filepath.WalkDir(start, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return nil // a command cannot read an unlistable directory either
			}
			if visited++; visited > limit {
				return fmt.Errorf("the sandbox can't enforce the rules that deny reading: more than %d files in %s", limit, start)
			}
			if !policy.Hidden(path) && !(d.IsDir() && policy.Hidden(filepath.Join(path, "x"))) {
				return nil
			}
			list = append(list, path)
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// inCopies adds the paths of the same files in the repository's other working copies.
func (p *paths) inCopies(list []string) []string {
	if p.gate == nil {
		return list
	}
	policy := p.gate.Policy()
	var all []string
	for _, path := range list {
		all = append(all, policy.InCopies(path)...)
	}
	return all
}

// expand makes paths from the settings absolute.
func (p *paths) expand(list []string) []string {
	var all []string
	for _, path := range list {
		all = append(all, p.absolute(path))
	}
	return all
}

// absolute makes a path from the settings absolute.
func (p *paths) absolute(path string) string {
	switch rest, ok := strings.CutPrefix(path, "~"); {
	case ok && (rest == "" || rest[0] == '/'):
		return filepath.Join(p.home, rest)
	case strings.HasPrefix(path, "//"):
		return path[1:]
	case !filepath.IsAbs(path):
		return filepath.Join(p.dir, path)
	}
	return path
}
