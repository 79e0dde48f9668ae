package library

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/skill"
)

// maxNested is how many directories beside touched files are remembered.
const maxNested = 10_000

// nested are the folders of skills in directories below the working directory that were found beside files.
type nested struct {
	looked map[string]look // by directory
	found  []Root          // the deepest first
}

// A look is the state in which a directory was looked at: that of itself, and of the folders in it that may hold skills.
type look [3]stamp

// roots returns the folders, those first whose skills are used first.
func (n *nested) roots() []Root { return slices.Clone(n.found) }

// Touched looks for folders of skills beside a file that was read or changed, up to the working directory. Skills that it
// finds are in the set when it returns.
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

// nests reports whether folders beside touched files count: the project's own do.
func (c *Config) nests(roots []Root) bool {
	return c.Dir != "" && slices.ContainsFunc(roots, func(r Root) bool { return r.Origin.Kind == skill.Project && inside(c.Dir, r.Dir) })
}

// touched notes the folders of skills beside a file, and reports whether it found one.
func (n *nested) touched(cfg *Config, path string) bool {
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
			dirs = nil // packages of others
		}
	}
	news := false
	for _, dir := range dirs {
		news = n.directory(cfg, dir) || news
	}
	return news
}

// directory looks at a directory, unless it is as it was, and reports whether it has folders that are new.
func (n *nested) directory(cfg *Config, dir string) bool {
	now := lookAt(dir)
	if before, ok := n.looked[dir]; ok && before == now || len(n.looked) >= maxNested {
		return false
	}
	if n.looked == nil {
		n.looked = map[string]look{}
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

// lookAt returns the state of a directory. What is not there has no stamp.
func lookAt(dir string) look {
	var l look
	p := at(dir, false)
	for i, name := range []string{".", ownFolder, otherFolder} {
		if info, err := p.stat(name); err == nil {
			l[i] = info.stamp
		}
	}
	return l
}

func depth(path string) int { return strings.Count(path, string(filepath.Separator)) }
