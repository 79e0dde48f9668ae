package fileindex

import (
	"path/filepath"
	"slices"
	"strings"
)

// Tracked reports whether git tracks the file at an absolute path, by the index of the repository that it
// is in. Letters of either case are the same: the file system may think so too.
func Tracked(path string) (bool, error) {
	top, gitDir := repository(filepath.Dir(path))
	if gitDir == "" {
		return false, nil
	}
	names, err := readIndex(filepath.Join(gitDir, "index"))
	if err != nil {
		return false, err
	}
	rel, err := filepath.Rel(top, path)
	if err != nil {
		return false, err
	}
	rel = filepath.ToSlash(rel)
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, rel) }), nil
}
