package read

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"adze/internal/platform/paths"
	"adze/internal/tool"
)

// open opens the file for reading. It never waits: a FIFO is opened without its writer, and then
// refused like everything else that is not a regular file.
func (c *call) open() (*os.File, error) {
	if real, err := filepath.EvalSymlinks(c.path); err == nil && paths.IsBlocked(real) {
		return nil, blocked(real)
	}
	f, err := os.OpenFile(c.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, c.explain(err)
	}
	info, err := f.Stat()
	if err == nil {
		err = c.admit(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// admit refuses what is not a regular file, by what it is and not by its name, and what is too large.
func (c *call) admit(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("%s is a directory. List it with Glob, or with a shell command such as ls.", c.path)
	case c.path == os.DevNull:
		return nil
	case !info.Mode().IsRegular():
		return &tool.Error{Code: codeDevice, Text: fmt.Sprintf("%s is not a regular file (%s), and is not read.", c.path, info.Mode().Type())}
	case c.in.Limit == nil && info.Size() > c.config.MaxBytes:
		return fmt.Errorf("%s has %d bytes, and at most %d are read at once. %s", c.path, info.Size(), c.config.MaxBytes, readLess)
	}
	return nil
}

const readLess = "Read a part of it with offset and limit, or find the part you need with Grep."

// explain turns an error of opening the file into one that says what to do.
func (c *call) explain(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c.missing()
	case errors.Is(err, fs.ErrPermission):
		text := fmt.Sprintf("permission denied by the system: %s", c.path)
		if info, err := os.Stat(c.path); err == nil {
			text += fmt.Sprintf(" has mode %s%s", info.Mode(), owner(info))
		}
		return errors.New(text)
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%s is a chain of links that does not end", c.path)
	}
	return fmt.Errorf("opening %w", err)
}

// missing says that the file is not there, and what may have been meant.
func (c *call) missing() error {
	text := fmt.Sprintf("%s does not exist. The working directory is %s.", c.path, c.dir)
	if c.in.FilePath != strings.TrimSpace(c.in.FilePath) {
		if _, err := os.Lstat(filepath.Join(c.dir, c.in.FilePath)); err == nil {
			text += " There is a file whose name begins or ends with a space: read it with a shell command."
		}
	}
	if near := sameStem(c.path); near != "" {
		text += fmt.Sprintf(" There is %s.", near)
	}
	if near := underDir(c.dir, c.path); near != "" {
		text += fmt.Sprintf(" There is %s; did you mean that?", near)
	}
	return errors.New(text)
}

// sameStem returns a file beside path that differs in its extension only.
func sameStem(path string) string {
	dir, base := filepath.Split(path)
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	entries, err := os.ReadDir(dir)
	if err != nil || stem == "" {
		return ""
	}
	for _, e := range entries {
		name := e.Name()
		if name != base && e.Type().IsRegular() && strings.TrimSuffix(name, filepath.Ext(name)) == stem {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

// underDir returns the file that path would name under dir with some of its leading directories left
// out: a model often drops or adds the directory of the repository.
func underDir(dir, path string) string {
	parts := strings.Split(strings.Trim(path, string(filepath.Separator)), string(filepath.Separator))
	for i := range parts {
		candidate := filepath.Join(dir, filepath.Join(parts[i:]...))
		if info, err := os.Stat(candidate); err == nil && info.Mode().IsRegular() {
			return candidate
		}
	}
	return ""
}
