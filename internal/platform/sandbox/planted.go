package sandbox

import (
	"os"
	"path/filepath"
	"slices"
)

// watchPlanted records the existing repositories and settings in unprotected places: one level
// below the roots, and names that are obeyed only in a home directory. The returned function
// lists additions.
func watchPlanted(p *policy) func() []string {
	before := planted(p)
	return func() []string {
		var news []string
		for path := range planted(p) {
			if !before[path] {
				news = append(news, path+" was created: other programs execute or obey its content, "+
					"so look at it before you use git or other tools there")
			}
		}
		return news
	}
}

// watched are the names that are reported if they appear below a root.
var watched = [...]string{".git", ".adze", ".claude", ".mcp.json"}

func planted(p *policy) map[string]bool {
	found := map[string]bool{}
	for _, root := range p.roots {
		for _, name := range slices.Concat(homeFiles[:], protectedBelow[:]) {
			path := filepath.Join(root, name)
			if _, err := os.Lstat(path); err == nil {
				found[path] = true
			}
		}
		entries, err := os.ReadDir(root)
		if err != nil || len(entries) > maxWatched {
			continue
		}
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			for _, name := range watched {
				path := filepath.Join(root, e.Name(), name)
				if _, err := os.Lstat(path); err == nil {
					found[path] = true
				}
			}
		}
	}
	return found
}

// maxWatched is the maximum number of directory entries checked before and after each command.
const maxWatched = 500
