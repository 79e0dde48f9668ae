package library

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/domain/skill"
	"adze/internal/platform/fs/filestate"
)

// maxNested is the maximum number of directories remembered for touched files.
const maxNested = 10_000

// nestedRoots holds the skill directories found next to touched files below the working directory.
type nestedRoots struct {
	looked map[string]dirState // keyed by directory
	found  []Root              // deepest first
}

// A dirState is the state of a directory when it was scanned: the stamps of itself and of its two
// subdirectories that may hold skills.
type dirState [3]filestate.Stamp

// roots returns the directories by precedence.
func (n *nestedRoots) roots() []Root { return slices.Clone(n.found) }

// Touched looks for skill directories next to a file that was read or changed, up to the
// working directory. New skills are in the set when it returns.
func (l *Library) Touched(path string) {
	l.needAll()
	select {
	case <-l.ready:
	case <-l.done:
		return
	}
	l.mu.Lock()
	roots := l.cfg.Roots()
	news := l.cfg.nests(roots) && l.nested.touched(&l.cfg, path)
	if news {
		l.look(roots)
	}
	changed := news && l.publish()
	l.mu.Unlock()
	if changed {
		l.notify()
	}
}

// nests reports whether directories next to touched files are used: only if the project's own
// are.
func (c *Config) nests(roots []Root) bool {
	return c.Dir != "" && slices.ContainsFunc(roots, func(r Root) bool { return r.Origin.Kind == skill.Project && inside(c.Dir, r.Dir) })
}

// touched records the skill directories next to a file, and reports whether it found any.
func (n *nestedRoots) touched(cfg *Config, path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	top := realPath(cfg.Dir)
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil || !inside(top, dir) {
		return false
	}
	var dirs []string
	for ; dir != top && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if dirs = append(dirs, dir); filepath.Base(dir) == "node_modules" {
			dirs = nil // third-party packages
		}
	}
	news := false
	for _, dir := range dirs {
		news = n.directory(cfg, dir) || news
	}
	return news
}

// directory scans a directory unless it is unchanged, and reports whether it has new skill
// directories.
func (n *nestedRoots) directory(cfg *Config, dir string) bool {
	now := lookAt(dir)
	if before, ok := n.looked[dir]; ok && before == now || len(n.looked) >= maxNested {
		return false
	}
	if n.looked == nil {
		n.looked = map[string]dirState{}
	}
	n.looked[dir] = now
	news := false
	for _, root := range inDirectory(dir) {
		i, err := anywhere.stat(root.Dir)
		if err != nil || !i.dir || slices.Contains(n.found, root) || cfg.Ignored != nil && cfg.Ignored(root.Dir) {
			continue
		}
		n.found = append(n.found, root)
		news = true
	}
	slices.SortStableFunc(n.found, func(a, b Root) int { return cmp.Compare(depth(b.Dir), depth(a.Dir)) })
	return news
}

// lookAt returns the state of a directory. Missing parts have a zero stamp.
func lookAt(dir string) dirState {
	var l dirState
	p := at(dir, false)
	for i, name := range []string{".", ownFolder, otherFolder} {
		if info, err := p.stat(name); err == nil {
			l[i] = info.stamp
		}
	}
	return l
}

func depth(path string) int { return strings.Count(path, string(filepath.Separator)) }
