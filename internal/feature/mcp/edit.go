package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/mcp/roster"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/text/jsonc"
	"adze/internal/session/store"
	"adze/internal/settings"
)

// Writable returns the scopes whose servers adze can modify.
func Writable() []roster.Scope { return []roster.Scope{roster.Local, roster.Project, roster.User} }

// FileOf returns the file for servers of a scope.
func FileOf(p *settings.Project, s roster.Scope) (string, error) {
	switch s {
	case roster.User:
		return UserFile(p), p.HomeErr
	case roster.Local:
		return LocalFile(p), p.HomeErr
	case roster.Project:
		return p.Trust.ServerFiles()[0], nil
	}
	return "", fmt.Errorf("unknown scope %s; use local, project or user", roster.Shown(string(s)))
}

// ErrExists reports that the server already exists.
var ErrExists = errors.New("there is such a server already")

// Put adds a server to a scope's file. In a trusted project the server is approved, since the
// user adds it.
func Put(ctx context.Context, p *settings.Project, s roster.Scope, name string, raw json.RawMessage) (file string, err error) {
	file, err = change(ctx, p, s, func(data []byte) ([]byte, error) {
		entries, err := roster.ParseFile(roster.Source{File: "-", Getenv: p.Source().Getenv}, data)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(entries, func(e *roster.Entry) bool { return e.Given == name || e.Name == roster.Name(name) }) {
			return nil, ErrExists
		}
		return jsonc.Set(data, []string{"mcpServers", name}, raw)
	})
	if err == nil && s == roster.Project && p.Trust.Trusted() {
		err = Approve(ctx, p, roster.Source{Scope: s, Getenv: p.Source().Getenv}.Entry(name, raw), true)
	}
	return file, err
}

// Delete removes an entry from its file. Files of other programs and settings are not modified.
func Delete(ctx context.Context, p *settings.Project, e *roster.Entry) error {
	path := e.File
	mine := slices.Contains(p.Trust.ServerFiles(), path) || path == UserFile(p) || path == LocalFile(p) || path == filepath.Join(p.Config, "settings.json")
	if !mine {
		return fmt.Errorf("%s stands in %s, which adze does not change; remove it there", e.Name, path)
	}
	return rewrite(ctx, p, path, func(data []byte) ([]byte, error) {
		return jsonc.Delete(data, []string{"mcpServers", e.Given})
	})
}

// SetDisabled records whether a server is disabled in this project.
func SetDisabled(ctx context.Context, p *settings.Project, name string, disabled bool) error {
	const key = "disabledMcpServers"
	_, err := change(ctx, p, roster.Local, func(data []byte) ([]byte, error) {
		if disabled {
			return jsonc.Add(data, []string{key}, name)
		}
		return jsonc.Remove(data, []string{key}, func(text string) bool { return roster.Name(text) == roster.Name(name) })
	})
	return err
}

// change edits a scope's file.
func change(ctx context.Context, p *settings.Project, s roster.Scope, edit func([]byte) ([]byte, error)) (string, error) {
	path, err := FileOf(p, s)
	if err != nil {
		return "", err
	}
	if s == roster.Local {
		if _, err := store.ClaimProject(p.Home, p.Main()); err != nil {
			return "", err
		}
	}
	return path, rewrite(ctx, p, path, edit)
}

// rewrite edits a file under a lock, preserving unchanged bytes.
func rewrite(ctx context.Context, p *settings.Project, path string, edit func([]byte) ([]byte, error)) error {
	mode := fs.FileMode(0o600) // entries may hold tokens
	if slices.Contains(p.Trust.ServerFiles(), path) {
		mode = 0o644
	} else if err := fsys.MkdirPrivate(filepath.Dir(path)); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil && mode == 0o644 && !strings.HasPrefix(real, p.Trust.Root+string(filepath.Separator)) {
		return fmt.Errorf("%s is a link to %s, outside the project", path, real)
	}
	if err == nil {
		path = real
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	file, err := replace.New(filepath.Join(p.Home, "locks")).Lock(ctx, dir, filepath.Base(path))
	if err != nil {
		return err
	}
	defer file.Unlock()
	const attempts = 10 // other programs don't take the lock
	for range attempts {
		err = rewriteOnce(file, mode, edit)
		if !errors.Is(err, replace.ErrChanged) && !errors.Is(err, replace.ErrExists) {
			break
		}
	}
	var syntax *jsonc.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%s is not JSON: %s; the file was left alone", path, syntax.Text)
	}
	return err
}

func rewriteOnce(file *replace.File, mode fs.FileMode, edit func([]byte) ([]byte, error)) error {
	var before []byte
	old, err := file.Read(roster.MaxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		defer old.Close()
		before = slices.Clone(old.Data)
	}
	after, err := edit(before)
	switch {
	case err != nil || string(after) == string(before):
		return err
	case old == nil:
		_, err = file.Create([][]byte{after}, mode)
	default:
		_, err = file.Replace(old, [][]byte{after})
	}
	return err
}
