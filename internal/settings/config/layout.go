package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/scope"
)

// A Layout specifies the locations of settings.
type Layout struct {
	// Dirs are the directories of adze's own files. Other is the directory of the other program
	// whose files are read. They may be empty.
	Dirs  fsys.Dirs
	Other string
	// Roots are the workspace directories that may hold settings, outermost first.
	Roots []string
	// Dir is the working directory.
	Dir string
	// Managed is the directory of managed settings, or "".
	Managed string
	// Settings and ManagedSettings are the values of the flags with these names.
	Settings, ManagedSettings string
	// Sources limits which of the scopes User, Project and Local are read. Nil means all.
	Sources []scope.Scope
	// Grant applies to the workspace's files. LocalGrant applies to its local files, unless Own
	// reports that a file with the given content is the user's own. Own must not retain data
	// and may be nil.
	Grant, LocalGrant Grant
	Own               func(path string, data []byte) bool
}

// ManagedDir returns the system directory for managed settings.
func ManagedDir() string {
	switch runtime.GOOS {
	case "windows":
		return `C:\ProgramData\adze`
	case "darwin":
		return "/Library/Application Support/adze"
	}
	return "/etc/adze"
}

// Files returns the files in ascending order of precedence within each scope. They need not
// exist.
func (l Layout) Files() []File {
	var files []File
	add := func(f File) {
		if f.Scope == scope.Flag || f.Scope == scope.Managed || l.Sources == nil || slices.Contains(l.Sources, f.Scope) {
			files = append(files, f)
		}
	}
	if l.Other != "" {
		add(File{Scope: scope.User, Path: filepath.Join(l.Other, sharedName), Dir: l.Other, Foreign: true})
	}
	if l.Dirs.Config != "" {
		add(File{Scope: scope.User, Path: filepath.Join(l.Dirs.Config, sharedName), Dir: l.Dirs.Config})
	}
	for _, root := range l.Roots {
		for _, dir := range []string{filepath.Join(root, otherFolder), l.Dirs.In(root)} {
			if fsys.SameFile(dir, l.Dirs.Config) || fsys.SameFile(dir, l.Other) {
				continue // the home directory holds user settings
			}
			foreign := filepath.Base(dir) == otherFolder
			add(File{Scope: scope.Project, Path: filepath.Join(dir, sharedName), Dir: root, Grant: l.Grant, Foreign: foreign})
			local := filepath.Join(dir, localName)
			add(File{Scope: scope.Local, Path: local, Dir: root, Grant: l.LocalGrant, Foreign: foreign,
				Own: func(data []byte) bool { return l.Own != nil && l.Own(local, data) }})
		}
	}
	if l.Settings != "" {
		add(l.flagFile(scope.Flag, "--settings", l.Settings))
	}
	if l.ManagedSettings != "" {
		add(l.flagFile(scope.Managed, "--managed-settings", l.ManagedSettings))
	}
	return append(files, l.managed()...)
}

const (
	otherFolder = ".claude"
	sharedName  = "settings.json"
	localName   = "settings.local.json"
)

// flagFile returns the file or text given by a flag.
func (l Layout) flagFile(from scope.Scope, flag, value string) File {
	f := TextOrFile(from, flag, value)
	f.Dir = l.Dir
	if f.Text == "" {
		if !filepath.IsAbs(f.Path) {
			f.Path = filepath.Join(l.Dir, f.Path)
		}
		f.Dir = filepath.Dir(f.Path)
	}
	return f
}

// managed returns the administrator's files. If the directory cannot be listed, it returns the
// directory itself, so that reading it fails.
func (l Layout) managed() []File {
	if l.Managed == "" {
		return nil
	}
	files := []File{{Scope: scope.Managed, Path: filepath.Join(l.Managed, "managed-settings.json"), Dir: l.Managed}}
	folder := filepath.Join(l.Managed, "managed-settings.d")
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return append(files, File{Scope: scope.Managed, Path: folder, Required: true})
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") {
			files = append(files, File{Scope: scope.Managed, Path: filepath.Join(folder, name), Dir: l.Managed, Required: true})
		}
	}
	return files
}

// Target returns the file that changes to a scope are written to.
func (l Layout) Target(to scope.Scope) (string, error) {
	switch {
	case to == scope.User && l.Dirs.Config != "":
		return filepath.Join(l.Dirs.Config, sharedName), nil
	case to == scope.Project && len(l.Roots) > 0:
		return filepath.Join(l.Dirs.In(l.Roots[0]), sharedName), nil
	case to == scope.Local && len(l.Roots) > 0:
		return filepath.Join(l.Dirs.In(l.Roots[0]), localName), nil
	}
	return "", fmt.Errorf("nothing can be written to %s", to)
}
