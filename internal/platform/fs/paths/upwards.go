package paths

import "path/filepath"

// Upwards returns the directories in which project files are looked up, nearest first: from dir
// up to top, the root of its repository. Without top it stops below home, and if dir is not
// below home, it returns only dir, because other users may be able to write to directories
// above it. Home and the directories above it never belong to a project.
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

// inside reports whether path is dir or is inside it.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
