package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/platform/fs/fsys"
)

// ErrNotKept reports that the session stores nothing on disk.
var ErrNotKept = errors.New("this session keeps nothing on disk")

// ResultsDir returns the folder for the session's results, which may not exist, or "" for a nil
// Log.
func (l *Log) ResultsDir() string {
	if l == nil {
		return ""
	}
	return filepath.Join(strings.TrimSuffix(l.Path(), ".jsonl"), "tool-results")
}

// SaveResult saves the data of r as the result of a call and returns the path and size of the
// file. If the call has a result already, that is kept and r is not read.
func (l *Log) SaveResult(callID, ext string, r io.Reader) (path string, n int64, err error) {
	return l.keepResult(callID, ext, func(path string) (int64, error) { return saveNew(path, r) })
}

// MoveResult is like SaveResult for a result that is already a file: move renames it to its
// final path.
func (l *Log) MoveResult(callID, ext string, move func(path string) error) (path string, err error) {
	path, _, err = l.keepResult(callID, ext, func(path string) (int64, error) { return 0, move(path) })
	return path, err
}

func (l *Log) keepResult(callID, ext string, write func(path string) (int64, error)) (path string, n int64, err error) {
	if l == nil {
		return "", 0, ErrNotKept
	}
	l.mu.Lock()
	err = l.claim()
	l.mu.Unlock()
	if err != nil {
		return "", 0, err
	}
	dir := l.ResultsDir()
	path = filepath.Join(dir, resultName(callID)+"."+resultName(ext))
	if info, err := os.Lstat(path); err == nil {
		return path, info.Size(), nil
	}
	if err := fsys.MkdirPrivate(dir); err != nil {
		return "", 0, fmt.Errorf("saving a result: %w", err)
	}
	if n, err = write(path); err != nil {
		return "", 0, fmt.Errorf("saving a result: %w", err)
	}
	return path, n, nil
}

// saveNew writes r to a file that appears at path only when it is complete.
func saveNew(path string, r io.Reader) (n int64, err error) {
	tmp, err := fsys.CreateTemp(filepath.Dir(path), ".part-")
	if err != nil {
		return 0, err
	}
	defer os.Remove(tmp.Name()) // ok: already renamed on success
	n, err = io.Copy(tmp, r)
	if err := errors.Join(err, tmp.Close()); err != nil {
		return 0, err
	}
	return n, fsys.Rename(tmp.Name(), path)
}

// resultName returns a call ID as a file name. The provider chooses IDs, so an ID that had to
// be changed gets a hash to keep it unique.
func resultName(id string) string {
	const maxName = 100
	name := safeName(id)
	if name == id && id != "" && len(id) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	return name[:min(len(name), maxName)] + "-" + hex.EncodeToString(sum[:4])
}
