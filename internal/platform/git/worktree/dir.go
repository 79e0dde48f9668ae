package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Dir returns the directory in the worktree at path that corresponds to dir, which is in the
// main working tree or another worktree. It creates the directory if the commit does not have
// it. The error is [ErrNone] if adze has no record of the worktree.
func (t *Manager) Dir(path, dir string) (string, error) {
	root := t.rootFor(dir)
	known := false
	for _, rec := range t.records(root) {
		known = known || rec.Path == path && rec.Phase == ready
	}
	if !known {
		return "", fmt.Errorf("%w at %s", ErrNone, path)
	}
	rel, err := t.below(root, dir)
	if err != nil {
		return "", err
	}
	tree, err := os.OpenRoot(path)
	if err != nil {
		return "", err
	}
	defer tree.Close()
	if err := tree.MkdirAll(rel, 0o777); err != nil {
		return "", err
	}
	same := filepath.Join(path, rel)
	if real, err := filepath.EvalSymlinks(same); err != nil || real != same {
		return "", fmt.Errorf("%s in the worktree %s leads elsewhere", rel, path)
	}
	return same, nil
}

// below returns dir relative to the top of its working tree.
func (t *Manager) below(root, dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	tops := []string{root}
	for _, rec := range t.records(root) {
		tops = append(tops, rec.Path)
	}
	best := ""
	for _, top := range tops {
		if (real == top || strings.HasPrefix(real, top+string(filepath.Separator))) && len(top) > len(best) {
			best = top
		}
	}
	if best == "" {
		return "", fmt.Errorf("%s is not in a copy of %s", dir, root)
	}
	return filepath.Rel(best, real)
}
