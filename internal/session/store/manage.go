package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/platform/fs/fsys"
)

// Annotate adds notes to the log at path, whose session must not be running. It keeps the
// modification time: naming a session does not make it newer.
func Annotate(path string, notes ...Note) (err error) {
	before, err := os.Stat(path)
	if err != nil || !before.Mode().IsRegular() {
		return errors.Join(fmt.Errorf("%s is not a transcript", path), err)
	}
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("opening transcript: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := lock(f); err != nil {
		return err
	}
	if _, err := moveTorn(f); err != nil {
		return fmt.Errorf("repairing transcript %s: %w", path, err)
	}
	size, err := logFile{f}.Size()
	if err != nil {
		return fmt.Errorf("opening transcript: %w", err)
	}
	first, err := firstRecord(f, size)
	if err != nil {
		return fmt.Errorf("reading transcript %s: %w", path, err)
	}
	opt := Options{Session: cmp.Or(first.Session, strings.TrimSuffix(filepath.Base(path), ".jsonl"))}
	l := &Log{opt: opt, open: openFile, path: path, f: logFile{f}, info: before, size: size, named: true}
	for _, n := range notes {
		if err := l.Note(n); err != nil {
			return err
		}
	}
	if err := l.Sync(); err != nil {
		return err
	}
	return os.Chtimes(path, before.ModTime(), before.ModTime())
}

// Remove removes the log at path and everything that belongs to it, including the files in
// beside. It fails with [ErrLocked] and removes nothing if the session is running.
func Remove(path string, beside ...string) error {
	if err := removeSession(path, beside); err != nil {
		return fmt.Errorf("removing session: %w", err)
	}
	removeEmpty(filepath.Dir(path))
	return fsys.SyncDir(existing(filepath.Dir(path)))
}

// existing returns dir, or its nearest existing ancestor.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
