// Package imports finds other tools' configuration for the user and the project: settings,
// instructions, MCP servers, skills and memories. It reports which of it takes effect in place,
// according to the packages that read it. It changes and starts nothing.
package imports

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/domain/agentdef"
	"adze/internal/domain/instruct"
	"adze/internal/domain/skill/library"
	"adze/internal/domain/style"
	"adze/internal/mcp/roster"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/paths"
	"adze/internal/settings"
)

// Config holds the configuration the program has loaded, against which other tools' files are
// compared.
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

// A Finding is a piece of another tool's configuration.
type Finding struct {
	// Tool is the tool's name, and Level is user or project.
	Tool  string `json:"tool"`
	Level string `json:"level"`
	// What is the kind, such as "skills", and Count the number of items.
	What  string `json:"what"`
	Path  string `json:"path"`
	Count int    `json:"count,omitempty"`
	// Used reports whether it takes effect in place. Note gives the reason or advice.
	Used bool   `json:"used"`
	Note string `json:"note,omitempty"`
	// Commands adds unused items; secrets are omitted.
	Commands []string `json:"commands,omitempty"`
}

// Levels.
const (
	user    = "user"
	project = "project"
)

// Limits for reading.
const (
	maxFile    = 4 << 20
	maxEntries = 2000 // entries per directory
	maxDepth   = 6    // directory nesting
)

// Find returns the configuration of other tools, grouped by tool.
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

// places returns the project's directories, from the working directory up to its root.
func (s *search) places() []string {
	t := s.Project.Trust
	return paths.Upwards(t.Dir, t.Root, s.Project.User)
}

// untrusted explains why the project's configuration is not used; empty if it is.
func (s *search) untrusted() string {
	switch {
	case !s.Project.Reads("projectSettings"):
		return "--setting-sources leaves the project out"
	case !s.Project.Trust.Trusted():
		return "the workspace is not trusted: adze trust"
	}
	return ""
}

// exists reports whether path is a file.
func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// list returns the files below a directory whose names end in suffix, up to depth levels down.
// Symlinks to directories are not followed.
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

// isBelow reports whether path is lexically below dir.
func isBelow(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return path != "" && err == nil && rel != "." && filepath.IsLocal(rel)
}

// read returns a file's content, or nil if it cannot be read.
func read(path string) []byte {
	data, err := fsys.ReadSmall(path, maxFile)
	if err != nil {
		return nil
	}
	return data
}

// real returns a path with symlinks resolved, as far as it exists.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}

// instruction adds an instruction file, which is used if the program has read it. Otherwise
// hint gives advice.
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
