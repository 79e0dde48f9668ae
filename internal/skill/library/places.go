package library

import (
	"path/filepath"

	"adze/internal/platform/paths"
	"adze/internal/skill"
)

// A Layout says where the folders around a workspace are. All paths are absolute; each may be empty.
type Layout struct {
	// Managed is the directory of the administrator, Home the state home, Other the folder of the ecosystem's own files.
	Managed, Home, Other string
	// User is the user's home directory, which is part of no project.
	User string
	// Dir is the working directory, Top that of the repository it lies in. Without them, as in a workspace that the user
	// does not trust, the project has no skills.
	Dir, Top string
	// Added are directories that were added to the workspace.
	Added []string
}

// ownFolder and otherFolder hold what belongs to adze, and to the ecosystem, in a directory.
const (
	ownFolder   = ".adze"
	otherFolder = ".claude"
)

// Places returns the folders of skills and commands, those first whose skills are used first. Plugins add theirs.
func Places(l Layout) []Root {
	var roots []Root
	add := func(kind skill.Kind, command bool, elements ...string) {
		if elements[0] != "" {
			roots = append(roots, Root{Dir: filepath.Join(elements...), Origin: skill.Origin{Kind: kind, Command: command}})
		}
	}
	add(skill.Managed, false, l.Managed, "skills")
	for _, command := range []bool{false, true} {
		add(skill.User, command, l.Home, folderName(command))
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

// inDirectory returns the folders that a directory of a project may have.
func inDirectory(dir string) []Root {
	var roots []Root
	for _, command := range []bool{false, true} {
		for _, folder := range []string{ownFolder, otherFolder} {
			roots = append(roots, Root{Dir: filepath.Join(dir, folder, folderName(command)), Origin: skill.Origin{Kind: skill.Project, Command: command}})
		}
	}
	return roots
}

// projectDirs returns the directories of a project that may have skills, the nearest first.
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

// inside reports whether a path is a directory, or lies in it.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
