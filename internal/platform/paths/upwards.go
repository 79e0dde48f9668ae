package paths

import "path/filepath"

// Upwards returns the directories in which what belongs to a project is looked for, the nearest first: from dir up to top, the
// root of its repository. Without top it goes up as far as home, and only below home: other users may write to directories
// above. Home itself is part of no project, and nothing above it is.
func Upwards(dir, top, home string) []string {
	var dirs []string
	bounded := top != "" && inside(top, dir) || home != "" && inside(home, dir)
	for d := dir; d != home; d = filepath.Dir(d) {
		dirs = append(dirs, d)
		if d == filepath.Dir(d) || d == top || !bounded {
			break
		}
	}
	return dirs
}

// inside reports whether a path is a directory, or lies in it.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
