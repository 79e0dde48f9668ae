package settings

import (
	"path/filepath"
	"slices"

	"adze/internal/platform/fs/paths"
	"adze/internal/platform/fs/scope"
)

// A Folder is a directory that may contain files of a kind, such as output styles. It need not
// exist.
type Folder struct {
	Path  string
	Scope scope.Scope
}

// Folders returns the directories of that name, in order of precedence: the administrator's,
// the user's and, in a trusted workspace, the project's, from the working directory up to its
// root. In each place our own directory precedes the ecosystem's.
func (p *Project) Folders(name string) []Folder {
	var all []Folder
	add := func(s scope.Scope, dir string) {
		if dir == "" {
			return
		}
		path := filepath.Join(dir, name)
		if !slices.ContainsFunc(all, func(f Folder) bool { return f.Path == path }) { // at home, the project's are the user's
			all = append(all, Folder{path, s})
		}
	}
	add(scope.Managed, p.source.Managed)
	if p.Reads(scope.User) {
		add(scope.User, p.Config)
		add(scope.User, p.Other)
	}
	if !p.Reads(scope.Project) || !p.Trust.Trusted() {
		return all
	}
	for _, dir := range paths.Upwards(p.Trust.Dir, p.Trust.Root, p.User) {
		add(scope.Project, p.In(dir))
		add(scope.Project, filepath.Join(dir, ".claude"))
	}
	return all
}
