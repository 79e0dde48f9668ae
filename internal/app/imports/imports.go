// Package imports finds what other tools keep for the user and the project: settings, instructions, MCP servers, skills,
// memories. It says what of it takes effect as it is, asking the parts that read it, and what does not. It changes
// nothing, and starts nothing.
package imports

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/agentdef"
	"adze/internal/app/settings"
	"adze/internal/instruct"
	"adze/internal/mcp/roster"
	"adze/internal/platform/fsys"
	"adze/internal/platform/paths"
	"adze/internal/skill/library"
	"adze/internal/style"
)

// A Config is what the parts of the program have read, against which the files of other tools are compared.
type Config struct {
	Project      *settings.Project
	Dir          string
	Instructions []instruct.File
	Problems     []instruct.Problem
	Skills       *library.Set
	Styles       *style.Set
	Agents       *agentdef.Set
	Servers      *roster.Roster
}

// A Finding is something that a tool keeps.
type Finding struct {
	// Tool is whose it is, and Level whether it is the user's or the project's.
	Tool  string `json:"tool"`
	Level string `json:"level"`
	// What is its kind, such as "skills", and Count how many there are.
	What  string `json:"what"`
	Path  string `json:"path"`
	Count int    `json:"count,omitempty"`
	// Used reports whether it takes effect as it is. Note says more: why not, or what to do.
	Used bool   `json:"used"`
	Note string `json:"note,omitempty"`
	// Commands add what is not used; secrets are left out.
	Commands []string `json:"commands,omitempty"`
}

// The levels.
const (
	user    = "user"
	project = "project"
)

// Limits on what is read.
const (
	maxFile    = 4 << 20
	maxEntries = 2000 // of a folder
	maxDepth   = 6    // of folders in folders
)

// Find returns what other tools keep, tool by tool.
func Find(c Config) []Finding {
	s := &search{Config: c}
	s.ecosystem()
	s.others()
	return s.found
}

// A search collects findings.
type search struct {
	Config
	found []Finding
}

func (s *search) add(f Finding) { s.found = append(s.found, f) }

// places returns the directories of the project, from the working directory up to its root.
func (s *search) places() []string {
	t := s.Project.Trust
	return paths.Upwards(t.Dir, t.Root, s.Project.User)
}

// untrusted says why nothing of the project is used; empty if it is.
func (s *search) untrusted() string {
	switch {
	case !s.Project.Reads("projectSettings"):
		return "--setting-sources leaves the project out"
	case !s.Project.Trust.Trusted():
		return "the workspace is not trusted: adze trust"
	}
	return ""
}

// exists reports whether there is a file, and is dir whether there is a directory.
func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// list returns the files below a directory whose names end in suffix, at most so many levels down. Links to
// directories are not followed.
func list(dir, suffix string, depth int) (paths []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries[:min(len(entries), maxEntries)] {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir() && depth > 1:
			paths = append(paths, list(path, suffix, depth-1)...)
		case !e.IsDir() && strings.HasSuffix(e.Name(), suffix) && exists(path):
			paths = append(paths, path)
		}
		if len(paths) > maxEntries {
			return paths
		}
	}
	return paths
}

// isBelow reports whether a path lies below a directory, as both are written.
func isBelow(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return path != "" && err == nil && rel != "." && filepath.IsLocal(rel)
}

// read returns a file, or nothing if it cannot be read.
func read(path string) []byte {
	data, err := fsys.ReadSmall(path, maxFile)
	if err != nil {
		return nil
	}
	return data
}

// real returns a path without links, as far as it exists.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}

// instruction adds a file of instructions, which is used if the program has read it. Hint says what to do if not.
func (s *search) instruction(tool, level, path, hint string) {
	if !exists(path) {
		return
	}
	f := Finding{Tool: tool, Level: level, What: "instructions", Path: path}
	same := func(other string) bool { return real(other) == real(path) }
	f.Used = slices.ContainsFunc(s.Instructions, func(i instruct.File) bool { return same(i.Path) })
	if i := slices.IndexFunc(s.Problems, func(p instruct.Problem) bool { return same(p.Path) }); !f.Used && i >= 0 {
		hint = s.Problems[i].Text
	}
	if !f.Used {
		f.Note = hint
	}
	s.add(f)
}
