package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/platform/fs/fsys"
)

// originName is the file in a project's folder that contains the path of the project.
const originName = ".origin"

// Projects returns the folder that contains all project folders.
func Projects(home string) string { return filepath.Join(home, "projects") }

// ProjectDir returns the folder for sessions started in dir. It may not exist.
func ProjectDir(home, dir string) string { return projectDir(home, dir) }

// Origin returns the path of the project that a folder is for, or "" if the origin file is
// missing or damaged.
func Origin(folder string) string {
	data, err := os.ReadFile(filepath.Join(folder, originName))
	origin, name := string(data), filepath.Base(folder)
	if err != nil || !filepath.IsAbs(origin) || fsys.ProjectKey(origin) != name && fsys.HashedKey(origin) != name {
		return ""
	}
	return origin
}

// projectDir returns the folder for sessions started in dir. Different paths can have the same
// plain folder name: the first gets the plain name, the others a hash.
func projectDir(home, dir string) string {
	plain := filepath.Join(Projects(home), fsys.ProjectKey(dir))
	// If the origin is unknown, it is being written or is damaged, and most likely names the
	// same path.
	if origin := Origin(plain); origin != "" && origin != dir {
		return filepath.Join(Projects(home), fsys.HashedKey(dir))
	}
	return plain
}

// ClaimProject returns the folder for sessions started in dir and creates it if needed. No
// other path gets the same folder afterwards.
func ClaimProject(home, dir string) (string, error) { return claimProject(home, dir) }

// claimProject implements [ClaimProject].
func claimProject(home, dir string) (string, error) {
	for {
		project := projectDir(home, dir)
		if err := fsys.MkdirPrivate(project); err != nil {
			return "", fmt.Errorf("creating the project's folder: %w", err)
		}
		origin := filepath.Join(project, originName)
		f, err := fsys.OpenFile(origin, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			if projectDir(home, dir) != project {
				continue // a path with the same name was faster
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
			os.Remove(origin) // ok: the write error is returned
			return "", fmt.Errorf("writing %s: %w", origin, err)
		}
		return project, nil
	}
}

// damaged reports whether an origin file is invalid. An empty file is still being written.
func damaged(origin string) bool {
	data, err := os.ReadFile(origin)
	return err == nil && len(data) > 0 && Origin(filepath.Dir(origin)) == ""
}
