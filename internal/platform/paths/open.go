package paths

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrMoved says that what is at a path is not what was there when the path was judged.
var ErrMoved = errors.New("it was replaced by a link or another file after it was checked: try again")

// ErrSpecial says that something is neither a file nor a directory, and is never opened.
var ErrSpecial = errors.New("it is not a regular file")

// Open opens the file for reading, without following a link anywhere and without waiting. What is not
// a regular file is refused; the null device is one.
func (s Set) Open() (*os.File, error) {
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

// Again looks the path up once more, for a set that was judged some time ago. The error is [ErrMoved] if the path
// leads elsewhere now.
func (s Set) Again() (Set, error) {
	now, err := s.Follow()
	switch {
	case err != nil:
		return now, err
	case s.Doubt != nil:
		return s, s.Doubt
	case !s.Remote && now.Real != s.Real:
		return s, fmt.Errorf("opening %s: %w", s.Path, ErrMoved)
	}
	return now, nil
}

// OpenReal opens a regular file or a directory at path, which is absolute and clean, for reading. It follows no link,
// not even on the way, and does not wait.
func OpenReal(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	return Set{Path: path, Real: path, Info: info}.Open()
}

// openable reports why what was found cannot be opened.
func (s Set) openable() error {
	switch {
	case s.Doubt != nil:
		return s.Doubt
	case IsBlocked(s.Real):
		return fmt.Errorf("opening %s: it is a device or a view into a running process: %w", s.Path, ErrSpecial)
	case s.Info == nil:
		return fmt.Errorf("opening %s: %w", s.Path, fs.ErrNotExist)
	}
	return s.admit(s.Info)
}

func (s Set) admit(info fs.FileInfo) error {
	if info.Mode().IsRegular() || info.IsDir() || s.Real == os.DevNull {
		return nil
	}
	return fmt.Errorf("%w (%s)", ErrSpecial, info.Mode().Type())
}

// Parent opens the directory the file is in, or would be made in, without following a link.
func (s Set) Parent() (*os.File, error) {
	if s.Doubt != nil {
		return nil, s.Doubt
	}
	dir, err := s.openDir(filepath.Dir(s.Real))
	if err != nil {
		return nil, fmt.Errorf("opening the directory of %s: %w", s.Path, err)
	}
	return dir, nil
}

// MakeParent is like [Set.Parent], but makes the directories that are missing.
func (s Set) MakeParent(perm fs.FileMode) (*os.File, error) {
	if s.Doubt != nil {
		return nil, s.Doubt
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
