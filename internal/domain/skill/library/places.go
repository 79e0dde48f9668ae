package library

import (
	"path/filepath"

	"adze/internal/domain/skill"
	"adze/internal/platform/fs/paths"
)

// A Layout lists the directories related to a workspace. All paths are absolute; each may be
// empty.
type Layout struct {
	// Managed is the administrator's directory, Own the user's configuration directory, and
	// Other the user's .claude directory.
	Managed, Own, Other string
	// User is the user's home directory, which never belongs to a project.
	User string
	// Dir is the working directory, and Top the root of its repository. If they are empty, as
	// in an untrusted workspace, the project has no skills.
	Dir, Top string
	// Added lists directories added to the workspace.
	Added []string
}

// ownFolder and otherFolder are the configuration directories of adze and of compatible tools.
const (
	ownFolder   = ".adze"
	otherFolder = ".claude"
)

// Places returns the skill and command directories by precedence, except plugin directories.
func Places(l Layout) []Root {
	var roots []Root
	add := func(kind skill.Kind, command bool, elements ...string) {
		if elements[0] != "" {
			roots = append(roots, Root{Dir: filepath.Join(elements...), Origin: skill.Origin{Kind: kind, Command: command}})
		}
	}
	add(skill.Managed, false, l.Managed, "skills")
	for _, command := range []bool{false, true} {
		add(skill.User, command, l.Own, folderName(command))
		add(skill.User, command, l.Other, folderName(command))
	}
	for _, dir := range projectDirs(l) {
		roots = append(roots, inDirectory(dir)...)
	}
	return roots
}

func folderName(command bool) string {
	if command {
		return "commands"
	}
	return "skills"
}

// inDirectory returns the skill and command directories of a project directory.
func inDirectory(dir string) []Root {
	var roots []Root
	for _, command := range []bool{false, true} {
		for _, folder := range []string{ownFolder, otherFolder} {
			roots = append(roots, Root{Dir: filepath.Join(dir, folder, folderName(command)), Origin: skill.Origin{Kind: skill.Project, Command: command}})
		}
	}
	return roots
}

// projectDirs returns the project's directories that may have skills, the nearest first.
func projectDirs(l Layout) []string {
	var dirs []string
	if l.Dir != "" {
		dirs = paths.Upwards(l.Dir, l.Top, l.User)
	}
	for _, dir := range l.Added {
		if dir != l.User {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// inside reports whether path is dir or lies below it.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
