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

	"adze/internal/platform/guess"
	"adze/internal/platform/paths"
	"adze/internal/tool"
)

// open opens the file, or the screenshot whose name has the other space in it, and returns its path.
// It never waits: a FIFO is refused like everything else that is not a regular file.
func (c *call) open(ctx context.Context) (*os.File, string, error) {
	f, err := c.openPath(c.in.FilePath)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, c.path, c.explain(err)
	}
	if twin := screenshotTwin(c.path); twin != "" && !c.denied(twin) {
		if f, err := c.openPath(twin); err == nil {
			return f, twin, nil
		}
	}
	return nil, "", c.missing(ctx)
}

// openPath opens what a path resolves to, and nothing that has come into its place since.
func (c *call) openPath(path string) (*os.File, error) {
	set, err := c.base.Resolve(path)
	if err == nil && set.Remote {
		set, err = set.Follow()
	}
	if err != nil {
		return nil, err
	}
	f, err := set.Open()
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory. List it with Glob, or with a shell command such as ls.", c.path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// explain turns an error of opening the file into one that says what to do.
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

// screenshotTwin returns the path with the other of the two spaces that macOS puts before AM and PM
// in the names of screenshots, or nothing if path is not such a name.
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

// missing says that the file is not there, and what may have been meant.
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
