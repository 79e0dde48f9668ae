package agents

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/commands"
	"adze/internal/domain/agentdef"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/texts"
	"adze/internal/settings"
)

var (
	//go:embed definitions.en.md
	definitionEnglish string
	//go:embed definitions.zh.md
	definitionChinese string

	definitionTexts = texts.New(definitionEnglish, definitionChinese)
)

// folder is the name of agent directories, mark the file extension, and own the program's
// directory in a project.
const (
	folder = "agents"
	mark   = ".md"
	own    = ".adze"
)

// Files manages user-written agent files.
type Files struct {
	Project  *settings.Project
	Library  *agentdef.Library
	Language func() texts.Language
}

// Commands returns the services that the agent commands use.
func (f Files) Commands() commands.Agents {
	return commands.Agents{Set: f.Library.Refresh, Create: f.Create, File: f.File, Remove: f.Remove, Write: f.Write}
}

// path returns the path of an agent's file, in the user's or the project's directory.
func (f Files) path(to scope.Scope, name string) (string, error) {
	if !agentdef.ValidName(name) {
		return "", fmt.Errorf("an agent cannot be called %q: %s", name, agentdef.NameRule)
	}
	switch {
	case to == scope.Project:
		return filepath.Join(f.Project.In(f.Project.Trust.Root), folder, name+mark), nil
	case to != scope.User:
		return "", fmt.Errorf("agents are files of the user or of the project: choose user or project")
	case f.Project.HomeErr != nil:
		return "", f.Project.HomeErr
	}
	return filepath.Join(f.Project.Config, folder, name+mark), nil
}

// free returns the path for a new agent's file. It fails if the agent already exists there.
func (f Files) free(to scope.Scope, name string) (string, error) {
	path, err := f.path(to, name)
	if err != nil {
		return "", err
	}
	d := f.Library.Refresh().Get(name)
	if _, err := os.Lstat(path); err == nil || d != nil && d.File == path {
		return "", fmt.Errorf("there is an agent file %s already; edit it, or choose another name", path)
	}
	if d != nil && d.Source.Kind >= kindOfFile(to) {
		return "", fmt.Errorf("there is an agent %s already (%s), which would be used instead; choose another name", name, d.Source)
	}
	return path, nil
}

func kindOfFile(s scope.Scope) agentdef.Kind {
	if s == scope.Project {
		return agentdef.Project
	}
	return agentdef.User
}

// Create writes an agent's file with a name, description, prompt and optional tools and model.
// It does not overwrite files or follow symlinks.
func (f Files) Create(ctx context.Context, to scope.Scope, d *agentdef.Definition) (string, error) {
	path, err := f.free(to, d.Name)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(d.Description) == "" {
		return "", errors.New("an agent needs a description, which tells the model when to use it")
	}
	text := write(d)
	if _, _, err := agentdef.Parse(path, []byte(text), agentdef.Source{Kind: kindOfFile(to)}); err != nil {
		return "", err
	}
	perm, dirPerm := fs.FileMode(0o644), fs.FileMode(0o755)
	if to == scope.User {
		perm, dirPerm = 0o600, 0o700
	}
	if err := makeFolder(filepath.Dir(path), dirPerm); err != nil {
		return "", err
	}
	if err := create(ctx, f.Project.Home, path, text, perm); err != nil {
		return "", fmt.Errorf("writing %s: %w", path, err)
	}
	return path, nil
}

// create writes a file that must not exist.
func create(ctx context.Context, home, path, text string, perm fs.FileMode) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	file, err := replace.New(filepath.Join(home, "locks")).Lock(ctx, dir, filepath.Base(path))
	if err != nil {
		return err
	}
	defer file.Unlock()
	_, err = file.Create([][]byte{[]byte(text)}, perm)
	return err
}

// makeFolder creates an agent directory. Neither it nor its parent may be a symlink, which
// could lead anywhere.
func makeFolder(dir string, perm fs.FileMode) error {
	for _, d := range []string{filepath.Dir(dir), dir} {
		if info, err := os.Lstat(d); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a link; make the file yourself in the folder that it leads to", d)
		}
	}
	return os.MkdirAll(dir, perm)
}

// write returns the text of an agent file.
func write(d *agentdef.Definition) string {
	var b strings.Builder
	field := func(name, value string) {
		if value != "" {
			quoted, _ := json.Marshal(value) // ok: strings always marshal
			fmt.Fprintf(&b, "%s: %s\n", name, quoted)
		}
	}
	b.WriteString("---\nname: " + d.Name + "\n")
	field("description", d.Description)
	field("tools", strings.Join(d.Tools, ", "))
	field("model", d.Model)
	b.WriteString("---\n\n" + strings.TrimSpace(d.Prompt) + "\n")
	return b.String()
}

// File returns the path of an agent's file that the user can edit.
func (f Files) File(name string) (string, error) {
	set := f.Library.Refresh()
	d := set.Get(name)
	switch {
	case d == nil:
		return "", set.Unknown(name)
	case d.Source.Kind == agentdef.User || d.Source.Kind == agentdef.Project:
		return d.File, nil
	case d.Source.Kind == agentdef.BuiltIn:
		return "", fmt.Errorf("agent %s is built in; an agent of yours with the same name replaces it", name)
	}
	return "", fmt.Errorf("the agent %s comes from %s, where it cannot be changed here", name, d.Source)
}

// Remove removes an agent's file, provided it is in a directory of the program.
func (f Files) Remove(name string) (string, error) {
	path, err := f.File(name)
	if err != nil {
		return "", err
	}
	if dir := filepath.Dir(path); dir != filepath.Join(f.Project.Config, folder) && filepath.Base(filepath.Dir(dir)) != own {
		return "", fmt.Errorf("%s belongs to another program; remove it yourself if nothing else uses it", path)
	}
	if err := os.Remove(path); err != nil {
		return "", err
	}
	f.Library.Refresh()
	return path, nil
}

// Write returns a prompt that asks the model to write an agent's file.
func (f Files) Write(to scope.Scope, name, purpose string) (string, error) {
	path, err := f.free(to, name)
	if err != nil {
		return "", err
	}
	return definitionTexts.Text(f.Language(), "write", path, name, purpose), nil
}
