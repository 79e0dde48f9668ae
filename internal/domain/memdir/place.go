package memdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/platform/fs/paths"
)

// A RequestedDir is a requested location for memories.
type RequestedDir struct {
	Path string
	By   string // source of the request, for the user
}

// Locate returns the memory folder: the first acceptable wish, or the default. refused explains
// the unacceptable wishes to the user.
func Locate(home, standard string, wishes ...RequestedDir) (f Folder, refused []error) {
	for _, w := range wishes {
		if w.Path == "" {
			continue
		}
		dir, err := checkDir(w.Path, home)
		if err == nil {
			return Folder{dir}, refused
		}
		refused = append(refused, fmt.Errorf("%s wants memories to be kept in %q, which %w; they are kept in %s", w.By, w.Path, err, standard))
	}
	return Folder{standard}, refused
}

// minPath is the minimum length of a plausible path.
const minPath = 3

// checkDir returns the folder that a path names, if the model may write there without
// prompting.
func checkDir(path, home string) (string, error) {
	switch {
	case strings.ContainsRune(path, 0):
		return "", errors.New("has a null character")
	case len(path) < minPath:
		return "", errors.New("is too short to be a folder of its own")
	case paths.IsUNC(path):
		return "", errors.New("is on another machine")
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		if strings.Trim(rest, "/.") == "" {
			return "", errors.New("is not a folder below your home directory")
		}
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		return "", errors.New("is not an absolute path")
	}
	dir := filepath.Clean(path)
	for _, form := range []string{dir, Real(dir)} {
		switch {
		case form == filepath.VolumeName(form)+string(filepath.Separator):
			return "", errors.New("is the root of a file system")
		case home != "" && (holds(form, home) || holds(form, Real(home))):
			return "", errors.New("is or holds your home directory")
		}
	}
	return dir, nil
}

// holds reports whether path is dir or below it.
func holds(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// Real resolves the symlinks in a path, as far as it exists.
func Real(path string) string {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// Usable returns the reason nothing can be stored in the folder, or nil. It creates nothing.
func (f Folder) Usable() error {
	info, err := os.Stat(f.Dir)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a folder", f.Dir)
	case err == nil:
		_, err := os.ReadDir(f.Dir)
		return err
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	for at := filepath.Dir(f.Dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s is not a folder", at)
		case err == nil && writable(at) != nil:
			return fmt.Errorf("%s cannot be created in %s: %w", f.Dir, at, writable(at))
		case err == nil:
			return nil
		case !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at):
			return err
		}
	}
}

// Writable reports whether memories can be changed; a missing folder counts as writable.
func (f Folder) Writable() bool {
	_, err := os.Stat(f.Dir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && writable(f.Dir) == nil
}

// Holds reports whether a path is the folder or inside it, with symlinks resolved.
func (f Folder) Holds(path string) bool { return holds(Real(f.Dir), Real(path)) }
