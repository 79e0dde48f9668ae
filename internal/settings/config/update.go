package config

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

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/jsonc"
)

// An Update changes the permissions in a settings file.
type Update struct {
	Type        string // addRules, replaceRules, removeRules, setMode, addDirectories or removeDirectories
	Behavior    string // allow, ask or deny; for rules
	Rules       []string
	Mode        string
	Directories []string
}

// WriteResult describes the result of a change.
type WriteResult struct {
	File             string
	Created, Changed bool
}

const (
	modeKey = "permissions.defaultMode"
	dirsKey = "permissions.additionalDirectories"
)

// apply applies the update to a file's content.
func (u Update) apply(data []byte) ([]byte, error) {
	rules := []string{"permissions", u.Behavior}
	if strings.HasSuffix(u.Type, "Rules") && !slices.Contains([]string{"allow", "ask", "deny"}, u.Behavior) {
		return nil, fmt.Errorf("unknown behavior %q (want allow, ask or deny)", u.Behavior)
	}
	switch u.Type {
	case "addRules":
		return jsonc.Add(data, rules, u.Rules...)
	case "removeRules":
		return jsonc.Remove(data, rules, func(text string) bool { return slices.Contains(u.Rules, text) })
	case "replaceRules":
		data, err := jsonc.Remove(data, rules, func(text string) bool { return !slices.Contains(u.Rules, text) })
		if err != nil {
			return nil, err
		}
		return jsonc.Add(data, rules, u.Rules...)
	case "setMode":
		return jsonc.Set(data, levels(modeKey), u.Mode)
	case "addDirectories":
		return jsonc.Add(data, levels(dirsKey), u.Directories...)
	case "removeDirectories":
		return jsonc.Remove(data, levels(dirsKey), func(text string) bool { return slices.Contains(u.Directories, text) })
	}
	return nil, fmt.Errorf("unknown update type %q", u.Type)
}

func levels(key string) []string { return strings.Split(key, ".") }

// check returns an error if the update would have no effect in a file of that scope.
func (u Update) check(s *Settings, to scope.Scope) error {
	switch u.Type {
	case "setMode":
		return s.writable(modeKey, to, u.Mode)
	case "addDirectories":
		for _, dir := range u.Directories {
			if to == scope.Project && !inside(s.src.Root, s.src.absolute(&document{file: File{Dir: s.src.Root}}, dir)) {
				return fmt.Errorf("project settings can only name directories inside the workspace, and %s is not", dir)
			}
		}
	}
	return nil
}

// writable returns an error if a value would be ignored in a file of that scope.
func (s *Settings) writable(key string, to scope.Scope, v any) error {
	d := &document{scope: to}
	if to == scope.Project {
		d.grant = Workspace
	}
	return s.keys[key].permit(d, v)
}

// Apply writes updates to a scope's file and reloads it. It does not modify an [*InvalidFile].
func (l *Live) Apply(ctx context.Context, to scope.Scope, updates ...Update) (WriteResult, error) {
	for _, u := range updates {
		if err := u.check(l.Settings(), to); err != nil {
			return WriteResult{}, err
		}
	}
	return l.change(ctx, to, func(data []byte) ([]byte, error) {
		for _, u := range updates {
			var err error
			if data, err = u.apply(data); err != nil {
				return nil, err
			}
		}
		return data, nil
	})
}

// Set writes a key's value to a scope's file, or removes it if raw is nil.
func (l *Live) Set(ctx context.Context, to scope.Scope, name string, raw json.RawMessage) (WriteResult, error) {
	s := l.Settings()
	k, ok := s.Key(name)
	if !ok || k.Name == "" {
		return WriteResult{}, fmt.Errorf("unknown setting %s%s", name, s.suggestion(name))
	}
	if raw == nil {
		return l.change(ctx, to, func(data []byte) ([]byte, error) { return jsonc.Delete(data, levels(k.Name)) })
	}
	v, err := k.decode(raw)
	if err != nil {
		return WriteResult{}, fmt.Errorf("%s: %s %w", k.Name, shortened(string(raw)), k.Wrong(err))
	}
	if err := s.writable(k.Name, to, v); err != nil {
		return WriteResult{}, err
	}
	return l.change(ctx, to, func(data []byte) ([]byte, error) { return jsonc.Set(data, levels(k.Name), raw) })
}

// deleteMember removes an object's member, and the object if it becomes empty.
func deleteMember(data []byte, path []string) ([]byte, error) {
	data, err := jsonc.Delete(data, path)
	if err != nil {
		return nil, err
	}
	root, err := jsonc.Parse(data)
	if err != nil || root == nil {
		return data, err
	}
	for _, m := range root.Members {
		if m.Name == path[0] && len(path) == 2 && m.Value.Kind == jsonc.Object && len(m.Value.Members) == 0 {
			return jsonc.Delete(data, path[:1])
		}
	}
	return data, nil
}

// SetMember writes one member of an object-valued key to a scope's file, or removes it if raw
// is nil. Other members are unchanged.
func (l *Live) SetMember(ctx context.Context, to scope.Scope, name, member string, raw json.RawMessage) (WriteResult, error) {
	s := l.Settings()
	k, ok := s.Key(name)
	if !ok || k.Kind != Object {
		return WriteResult{}, fmt.Errorf("unknown setting %s with members", name)
	}
	path := append(levels(k.Name), member)
	if raw == nil {
		return l.change(ctx, to, func(data []byte) ([]byte, error) { return deleteMember(data, path) })
	}
	if err := s.writable(k.Name, to, raw); err != nil {
		return WriteResult{}, err
	}
	return l.change(ctx, to, func(data []byte) ([]byte, error) { return jsonc.Set(data, path, raw) })
}

// change edits a scope's file under a lock and reloads it.
func (l *Live) change(ctx context.Context, to scope.Scope, edit func([]byte) ([]byte, error)) (WriteResult, error) {
	path, err := l.out.Target(to)
	if err != nil {
		return WriteResult{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refresh("") // record earlier external changes as such
	w := WriteResult{File: path}
	before, after, err := l.rewrite(ctx, to, path, edit)
	var syntax *jsonc.SyntaxError
	if errors.As(err, &syntax) {
		d := &document{file: File{Path: path}, data: before}
		return w, &InvalidFile{to, d.at(syntax.Offset), "is not JSON: " + syntax.Text + "; the file was left alone"}
	}
	if err != nil {
		return w, fmt.Errorf("saving to %s: %w", path, err)
	}
	w.Changed = after != nil
	w.Created = w.Changed && before == nil
	l.wrote(path, before)
	return w, nil
}

// attempts limits retries when a program that does not lock the file changes it.
const attempts = 10

// rewrite edits the file. It returns the old content, nil if the file did not exist, and the
// new content, nil if nothing changed.
func (l *Live) rewrite(ctx context.Context, to scope.Scope, path string, edit func([]byte) ([]byte, error)) (before, after []byte, err error) {
	fileMode := fs.FileMode(0o600)
	if to == scope.Project {
		fileMode = 0o644
	}
	mkdir := fsys.MkdirPrivate
	if to != scope.User {
		mkdir = func(dir string) error { return os.MkdirAll(dir, 0o755) }
	}
	if err := mkdir(filepath.Dir(path)); err != nil {
		return nil, nil, err
	}
	if path, err = l.followed(to, path); err != nil {
		return nil, nil, err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	file, err := l.out.Locks.Lock(ctx, dir, filepath.Base(path))
	if err != nil {
		return nil, nil, err
	}
	defer file.Unlock()
	for range attempts {
		before, after, err = rewriteOnce(file, fileMode, func(before []byte) ([]byte, error) {
			after, err := edit(before)
			if err == nil && l.out.BeforeWrite != nil && string(after) != string(before) {
				err = l.out.BeforeWrite(ctx, to, path, before, after)
			}
			return after, err
		})
		if !errors.Is(err, replace.ErrChanged) && !errors.Is(err, replace.ErrExists) {
			break
		}
	}
	return before, after, err
}

func rewriteOnce(file *replace.File, mode fs.FileMode, edit func([]byte) ([]byte, error)) (before, after []byte, err error) {
	old, err := file.Read(maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, nil, err
	default:
		defer old.Close()
		before = append([]byte{}, old.Data...)
	}
	after, err = edit(before)
	if err != nil || string(after) == string(before) {
		return before, nil, err
	}
	if old == nil {
		_, err = file.Create([][]byte{after}, mode)
	} else {
		_, err = file.Replace(old, [][]byte{after})
	}
	return before, after, err
}

// followed resolves a file that may be a symlink. Workspace files must not resolve to a path
// outside it.
func (l *Live) followed(to scope.Scope, path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if real, err = filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			real = filepath.Join(real, filepath.Base(path))
		}
	}
	if err != nil {
		return "", err
	}
	if to != scope.User && !inside(l.Settings().src.Root, filepath.Dir(real)) {
		return "", fmt.Errorf("it is a link to %s, outside the workspace", real)
	}
	return real, nil
}
