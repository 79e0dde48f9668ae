package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/platform/fs/fsys"
)

// Cleanup removes the sessions last written before a point in time, with everything that
// belongs to them, and returns their number. Beside, if not nil, returns a session's files
// elsewhere. Open sessions are kept. It runs only at the user's request.
func Cleanup(projects string, before time.Time, beside func(id string) []string) (removed int, err error) {
	folders, err := os.ReadDir(projects)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("removing old sessions: %w", err)
	}
	var problems []error
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		n, err := cleanProject(filepath.Join(projects, folder.Name()), before, beside)
		removed += n
		problems = append(problems, err)
	}
	return removed, errors.Join(problems...)
}

func cleanProject(dir string, before time.Time, beside func(id string) []string) (removed int, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return 0, fmt.Errorf("removing old sessions: %w", err)
	}
	var problems []error
	for _, file := range files {
		info, err := file.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(file.Name(), ".jsonl") || !info.ModTime().Before(before) {
			continue
		}
		var also []string
		if beside != nil {
			also = beside(strings.TrimSuffix(file.Name(), ".jsonl"))
		}
		err = removeSession(filepath.Join(dir, file.Name()), also)
		switch {
		case err == nil:
			removed++
		case !errors.Is(err, ErrLocked):
			problems = append(problems, fmt.Errorf("removing session %s: %w", file.Name(), err))
		}
	}
	removeEmpty(dir)
	return removed, errors.Join(problems...)
}

// removeSession removes a log, its side files, and the session's files elsewhere. The log is
// removed last, so that an interrupted removal can be repeated.
func removeSession(path string, beside []string) error {
	f, err := fsys.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := lock(f); err != nil {
		return err
	}
	for _, side := range append(beside, strings.TrimSuffix(path, ".jsonl")) {
		if err := os.RemoveAll(side); err != nil {
			return err
		}
	}
	if err := removePartial(path); err != nil {
		return err
	}
	if err := os.Remove(path + ".torn"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Remove(path)
}

// removeEmpty removes a project's folder if it has no more sessions.
func removeEmpty(dir string) {
	files, err := os.ReadDir(dir)
	if err == nil && onlyOurs(files) {
		os.Remove(filepath.Join(dir, originName))   // ok: an empty folder is harmless
		os.Remove(filepath.Join(dir, lastCostName)) // ok: likewise
		os.Remove(dir)                              // ok: likewise
	}
}

func onlyOurs(files []fs.DirEntry) bool {
	for _, f := range files {
		if f.Name() != originName && f.Name() != lastCostName {
			return false
		}
	}
	return len(files) > 0
}
