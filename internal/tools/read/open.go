package read

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"adze/internal/platform/fs/guess"
	"adze/internal/platform/fs/paths"
	"adze/internal/tool"
)

// open opens the file, or the screenshot whose name has the other kind of space. It never
// blocks: a FIFO is rejected like everything else that is not a regular file.
func (c *call) open(ctx context.Context) (*os.File, opened, error) {
	f, real, err := c.openPath(c.in.FilePath)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, opened{c.path, real}, c.explain(err)
	}
	if twin := screenshotTwin(c.path); twin != "" && !c.denied(twin) {
		if f, real, err := c.openPath(twin); err == nil {
			return f, opened{twin, real}, nil
		}
	}
	return nil, opened{}, c.missing(ctx)
}

// An opened identifies a file by its path, and by its path with symlinks resolved.
type opened struct{ path, real string }

// Paths resolves a path of the call once, so that the opened file is the file that was checked.
func (c *call) Paths(target string) (paths.ResolvedPath, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.sets[target]; ok {
		return known.set, known.err
	}
	set, err := c.base.Resolve(target)
	if c.sets == nil {
		c.sets = map[string]resolved{}
	}
	c.sets[target] = resolved{set, err}
	return set, err
}

type resolved struct {
	set paths.ResolvedPath
	err error
}

// openPath opens the checked file, unless path now leads elsewhere.
func (c *call) openPath(path string) (f *os.File, real string, err error) {
	set, err := c.Paths(path)
	if err == nil {
		set, err = set.Again()
	}
	if err != nil {
		return nil, "", err
	}
	f, err = set.Open()
	if err != nil {
		return nil, "", err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory. List it with Glob, or with a shell command such as ls.", c.path)
	}
	if err != nil {
		f.Close()
		return nil, "", err
	}
	return f, set.Real, nil
}

// explain adds advice to an error from opening the file.
func (c *call) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, paths.ErrSpecial):
		return &tool.Error{Code: codeDevice, Text: fmt.Sprintf("%s is not read: %v", c.path, err)}
	case errors.Is(err, fs.ErrPermission):
		text := fmt.Sprintf("permission denied by the system: %s", c.path)
		if info, err := os.Stat(c.path); err == nil {
			text += fmt.Sprintf(" has mode %s%s", info.Mode(), owner(info))
		}
		return errors.New(text)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fmt.Errorf("the path is too long: it has %d bytes", len(c.path))
	}
	return err
}

// screenshotTwin returns the path with the other of the two spaces that macOS puts before AM
// and PM in screenshot names, or "" if path is not such a name.
func screenshotTwin(path string) string {
	const space, narrow = " ", "\u202f"
	ext := filepath.Ext(path)
	switch strings.ToLower(ext) {
	case ".png", ".jpg":
	default:
		return ""
	}
	rest := strings.TrimSuffix(path, ext)
	for _, half := range []string{"AM", "PM", "am", "pm"} {
		before, ok := strings.CutSuffix(rest, half)
		if !ok {
			continue
		}
		if name, ok := strings.CutSuffix(before, space); ok {
			return name + narrow + half + ext
		}
		if name, ok := strings.CutSuffix(before, narrow); ok {
			return name + space + half + ext
		}
	}
	return ""
}

// missing returns an error for a missing file, with suggestions.
func (c *call) missing(ctx context.Context) error {
	dir := c.base.Dir
	text := fmt.Sprintf("%s does not exist. The working directory is %s.", c.path, dir)
	if c.in.FilePath != strings.TrimSpace(c.in.FilePath) {
		if _, err := os.Lstat(filepath.Join(dir, c.in.FilePath)); err == nil {
			text += " There is a file whose name begins or ends with a space: read it with a shell command."
		}
	}
	near := guess.Guesser{Dir: dir, Hidden: c.Denied}
	if c.Named != nil {
		near.Named = func(name string) []string { return c.Named(ctx, dir, name) }
	}
	return errors.New(text + near.Question(c.path))
}
