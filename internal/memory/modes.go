package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Mode is how memory is used.
type Mode uint8

// The modes, the least first. The one that a session can use and that comes last counts.
const (
	Off   Mode = iota
	Auto       // memories of one person
	Team       // and those of a team, in a folder of their own
	Daily      // a log that is only ever added to
)

// ModeOf returns the mode of a session: a long-running assistant keeps a log, and a folder of a team that
// is there is used. Enabled says that there is memory at all.
func (f Folder) ModeOf(enabled, assistant bool) Mode {
	switch {
	case !enabled:
		return Off
	case assistant:
		return Daily
	case isDir(filepath.Join(f.Dir, teamName)):
		return Team
	}
	return Auto
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// TeamPath returns where a memory of the team is kept. A name that leads out of the team's folder, by
// itself or by way of a link, is an error.
func (f Folder) TeamPath(name string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("%q is not a name in the team's memory", name)
	}
	team := filepath.Join(f.Dir, teamName)
	path := filepath.Join(team, filepath.FromSlash(name))
	if info, err := os.Lstat(team); err == nil && !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder", team)
	}
	root, err := os.OpenRoot(team)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the team's memory: %w", err)
	}
	defer root.Close()
	for at := filepath.FromSlash(name); at != "."; at = filepath.Dir(at) {
		if _, err := root.Stat(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%q leads out of the team's memory: %w", name, reason(err))
		}
		if info, err := root.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 && !f.inTeam(at) {
			return "", fmt.Errorf("%q leads out of the team's memory", name)
		}
	}
	return path, nil
}

// inTeam reports whether a link of the team leads to something of the team; one that leads nowhere may
// lead anywhere tomorrow.
func (f Folder) inTeam(name string) bool {
	team := filepath.Join(f.Dir, teamName)
	real, err := filepath.EvalSymlinks(filepath.Join(team, name))
	return err == nil && holds(Real(team), real)
}

// AgentFolder returns where an agent of that type keeps its memories: for all projects, for everyone in
// this one, or for this person in this one. Home is the state home, root that of the project.
func AgentFolder(scope, home, root, agent string) (Folder, error) {
	if agent == "" || agent != filepath.Base(agent) || strings.Trim(agent, ".") == "" {
		return Folder{}, fmt.Errorf("%q is no name for an agent that remembers", agent)
	}
	switch scope {
	case "user":
		return Folder{filepath.Join(home, "agent-memory", agent)}, nil
	case "project":
		return Folder{filepath.Join(root, ".adze", "agent-memory", agent)}, nil
	case "local":
		return Folder{filepath.Join(root, ".adze", "agent-memory-local", agent)}, nil
	}
	return Folder{}, fmt.Errorf("%q is no scope of an agent's memory: choose user, project or local", scope)
}
