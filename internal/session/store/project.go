package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/platform/fsys"
)

// originName is the file in a project's folder that says which path the folder is for.
const originName = ".origin"

// Projects returns the folder that holds the folders of all projects.
func Projects(home string) string { return filepath.Join(home, "projects") }

// ProjectDir returns the folder for sessions started in dir, which need not exist.
func ProjectDir(home, dir string) string { return projectDir(home, dir) }

// Origin returns which path a project's folder is for, or nothing if that is not known: the file that says so may be
// missing or damaged.
func Origin(folder string) string {
	data, err := os.ReadFile(filepath.Join(folder, originName))
	origin, name := string(data), filepath.Base(folder)
	if err != nil || !filepath.IsAbs(origin) || fsys.ProjectKey(origin) != name && fsys.HashedKey(origin) != name {
		return ""
	}
	return origin
}

// projectDir returns the folder for sessions started in dir. Paths that look alike in a folder name
// are told apart by a hash: the first to come has the plain name.
func projectDir(home, dir string) string {
	plain := filepath.Join(Projects(home), fsys.ProjectKey(dir))
	// If its origin is not known it is just being written, or damaged: most likely it is for the same path.
	if origin := Origin(plain); origin != "" && origin != dir {
		return filepath.Join(Projects(home), fsys.HashedKey(dir))
	}
	return plain
}

// ClaimProject creates the folder for sessions started in dir, if need be, and returns it: no other path
// gets the same from then on.
func ClaimProject(home, dir string) (string, error) { return claimProject(home, dir) }

// claimProject creates the folder for dir, if need be, and returns it.
func claimProject(home, dir string) (string, error) {
	for {
		project := projectDir(home, dir)
		if err := fsys.MkdirPrivate(project); err != nil {
			return "", fmt.Errorf("creating the project's folder: %w", err)
		}
		origin := filepath.Join(project, originName)
		f, err := os.OpenFile(origin, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			if projectDir(home, dir) != project {
				continue // a path that looks alike was faster
			}
			if damaged(origin) {
				err := fsys.WriteAtomic(origin, []byte(dir), 0o600)
				return project, err
			}
			return project, nil
		}
		if err != nil {
			return "", fmt.Errorf("creating the project's folder: %w", err)
		}
		_, err = f.WriteString(dir)
		if err := errors.Join(err, f.Close()); err != nil {
			os.Remove(origin) // ok: the error that counts is known
			return "", fmt.Errorf("writing %s: %w", origin, err)
		}
		return project, nil
	}
}

// damaged reports whether an origin is there that says nothing of use. One that is empty is just being written.
func damaged(origin string) bool {
	data, err := os.ReadFile(origin)
	return err == nil && len(data) > 0 && Origin(filepath.Dir(origin)) == ""
}
