package paths

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrMoved means that the file at a path was replaced after the path was checked.
var ErrMoved = errors.New("it was replaced by a link or another file after it was checked: try again")

// ErrSpecial means that a path is neither a regular file nor a directory. Such paths are never
// opened.
var ErrSpecial = errors.New("it is not a regular file")

// Open opens the file or directory for reading, without following symlinks and without
// blocking. It refuses anything else except the null device.
func (s ResolvedPath) Open() (*os.File, error) {
	if err := s.openable(); err != nil {
		return nil, err
	}
	f, err := s.open(s.Real)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", s.Path, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = s.admit(info)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("opening %s: %w", s.Path, err)
	}
	return f, nil
}

// Again resolves the path again, for a set that was checked some time ago. The error is
// [ErrMoved] if the path now resolves elsewhere.
func (s ResolvedPath) Again() (ResolvedPath, error) {
	now, err := s.Follow()
	switch {
	case err != nil:
		return now, err
	case s.ResolveErr != nil:
		return s, s.ResolveErr
	case !s.Remote && now.Real != s.Real:
		return s, fmt.Errorf("opening %s: %w", s.Path, ErrMoved)
	}
	return now, nil
}

// OpenReal opens a regular file or directory for reading. path must be absolute and clean.
// OpenReal does not follow symlinks, not even in parent directories, and does not block.
func OpenReal(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	return ResolvedPath{Path: path, Real: path, Info: info}.Open()
}

// openable returns an error if the resolved file cannot be opened.
func (s ResolvedPath) openable() error {
	switch {
	case s.ResolveErr != nil:
		return s.ResolveErr
	case IsBlocked(s.Real):
		return fmt.Errorf("opening %s: it is a device or a view into a running process: %w", s.Path, ErrSpecial)
	case s.Info == nil:
		return fmt.Errorf("opening %s: %w", s.Path, fs.ErrNotExist)
	}
	return s.admit(s.Info)
}

func (s ResolvedPath) admit(info fs.FileInfo) error {
	if info.Mode().IsRegular() || info.IsDir() || s.Real == os.DevNull {
		return nil
	}
	return fmt.Errorf("%w (%s)", ErrSpecial, info.Mode().Type())
}

// Parent opens the parent directory of the file, which need not exist, without following
// symlinks.
func (s ResolvedPath) Parent() (*os.File, error) {
	if s.ResolveErr != nil {
		return nil, s.ResolveErr
	}
	dir, err := s.openDir(filepath.Dir(s.Real))
	if err != nil {
		return nil, fmt.Errorf("opening the directory of %s: %w", s.Path, err)
	}
	return dir, nil
}

// MakeParent is like [ResolvedPath.Parent], but creates missing directories.
func (s ResolvedPath) MakeParent(perm fs.FileMode) (*os.File, error) {
	if s.ResolveErr != nil {
		return nil, s.ResolveErr
	}
	dir, err := s.openDir(filepath.Dir(s.Real))
	if errors.Is(err, fs.ErrNotExist) {
		dir, err = s.makeDir(filepath.Dir(s.Real), perm)
	}
	if err != nil {
		return nil, fmt.Errorf("making the directory of %s: %w", s.Path, err)
	}
	return dir, nil
}
