package sandbox

import (
	"os"
	"path/filepath"
	"slices"
)

// watchPlanted remembers which repositories and settings there are where nothing is protected: one level
// below the roots, and names that are obeyed in a home directory only. The returned function says which came since.
func watchPlanted(p *policy) func() []string {
	before := planted(p)
	return func() []string {
		var news []string
		for path := range planted(p) {
			if !before[path] {
				news = append(news, path+" was created: what it holds is run or obeyed by other programs, "+
					"so look at it before you use git or other tools there")
			}
		}
		return news
	}
}

// watched are the names whose appearance below a root is told.
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

// maxWatched bounds what is looked at before and after each command.
const maxWatched = 500
