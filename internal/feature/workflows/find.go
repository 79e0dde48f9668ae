package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/domain/workflow"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/rank"
	"adze/internal/settings"
	"adze/internal/tool"
)

const (
	maxFile  = 256 << 10
	maxFiles = 200 // files read per directory
)

// A Found is a workflow read from a file.
type Found struct {
	*workflow.Workflow
	File  string
	Scope scope.Scope
}

// A Set holds a workspace's workflows, by name, and the problems with unused files.
type Set struct {
	All      []Found
	Problems []string

	user string // the user's directory, for display
}

// Find reads the available workflows, omitting an untrusted workspace's. If names collide, the
// first place wins: the administrator's, the user's, the project's.
func Find(p *settings.Project) Set {
	s := Set{user: userFolder(p)}
	for _, f := range p.Folders("workflows") {
		if filepath.Base(filepath.Dir(f.Path)) == ".claude" {
			continue // another file format
		}
		s.read(f, p.Trust.Root)
	}
	slices.SortStableFunc(s.All, func(a, b Found) int { return cmp.Compare(a.Name, b.Name) })
	return s
}

// userFolder returns the user's directory for workflows, for display.
func userFolder(p *settings.Project) string {
	return filepath.ToSlash(paths.Short(p.User, filepath.Join(p.Config, "workflows")))
}

// read adds the workflows in a directory. Symlinks in a project's directory may not lead out of
// root.
func (s *Set) read(f settings.Folder, root string) {
	entries, err := os.ReadDir(f.Path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.problem(f.Path, err)
		}
		return
	}
	read := 0
	for _, e := range entries {
		path := filepath.Join(f.Path, e.Name())
		ext := filepath.Ext(path)
		if !slices.Contains([]string{".yaml", ".yml", ".json"}, ext) {
			continue
		}
		if read++; read > maxFiles {
			s.problem(f.Path, fmt.Errorf("only the first %d files are read", maxFiles))
			return
		}
		if f.Scope == scope.Project && !within(root, path) {
			s.problem(path, errors.New("it is a link that leads out of the project; it is not used"))
			continue
		}
		w, err := load(path, strings.TrimSuffix(e.Name(), ext))
		if err != nil {
			s.problem(path, err)
			continue
		}
		if other := s.get(w.Name); other != nil {
			s.problem(path, fmt.Errorf("it is not used, because there is another workflow %s: %s", w.Name, other.File))
			continue
		}
		s.All = append(s.All, Found{w, path, f.Scope})
	}
}

func load(path, name string) (*workflow.Workflow, error) {
	data, err := fsys.ReadSmall(path, maxFile)
	if err != nil {
		return nil, err
	}
	return workflow.Parse(name, data)
}

// within reports whether a path, with symlinks resolved, is in a directory.
func within(root, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return false
	}
	rel, err := filepath.Rel(root, real)
	return err == nil && filepath.IsLocal(rel)
}

func (s *Set) problem(path string, err error) {
	s.Problems = append(s.Problems, path+": "+err.Error())
}

// get returns the named workflow, or nil.
func (s *Set) get(name string) *Found {
	for i := range s.All {
		if s.All[i].Name == name {
			return &s.All[i]
		}
	}
	return nil
}

// unknown returns the error for an unknown name.
func (s *Set) unknown(name string) error {
	var names []string
	for _, w := range s.All {
		names = append(names, w.Name)
	}
	name = tool.OneLine(name, 60)
	if len(names) == 0 {
		return fmt.Errorf("no workflow %q: neither .adze/workflows (of a trusted project) nor %s has files", name, s.user)
	}
	text := fmt.Sprintf("no workflow %q; %s", name, amount.There(names))
	if near := rank.Closest(name, names, 1); len(near) > 0 {
		text += "; did you mean " + near[0] + "?"
	}
	return errors.New(text)
}
