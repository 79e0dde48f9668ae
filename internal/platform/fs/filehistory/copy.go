package filehistory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/platform/fs/fsys"
)

// copyTries is how often copying a history in use is attempted.
const copyTries = 20

// Copy copies the history in from to the directory to, which must not exist, so that a fork can
// rewind as far as its original. The original may be in use; the copy is a consistent snapshot.
// If from does not exist, Copy does nothing.
func Copy(ctx context.Context, from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("copying the file history: %s exists already", to)
	}
	temp := to + ".new"
	defer os.RemoveAll(temp) // ok: already gone on success
	for range copyTries {
		whole, err := newStore(from).copyTo(ctx, newStore(temp))
		switch {
		case err != nil:
			return fmt.Errorf("copying the file history: %w", err)
		case whole:
			err := os.Rename(temp, to)
			if errors.Is(err, fs.ErrNotExist) { // no history
				return nil
			}
			return err
		}
	}
	return errors.New("copying the file history: it is being written to all the time")
}

// copyTo copies a store and reports whether it stayed unchanged during the copy. Large
// contents, which are immutable, are hard-linked if the file system supports it.
func (s *store) copyTo(ctx context.Context, to *store) (whole bool, err error) {
	if err := os.RemoveAll(to.dir); err != nil {
		return false, err
	}
	before, err := os.Stat(s.indexPath())
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if err := fsys.MkdirPrivate(to.blobs()); err != nil {
		return false, err
	}
	names, err := s.names()
	if err != nil {
		return false, err
	}
	for _, name := range names {
		err := copyFile(ctx, filepath.Join(s.dir, name), filepath.Join(to.dir, name), filepath.Dir(name) != ".")
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	after, err := os.Stat(s.indexPath())
	return err == nil && os.SameFile(before, after) && before.Size() == after.Size(), err
}

// names returns a store's files, the index first: the contents it refers to were written before
// it.
func (s *store) names() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	names := []string{filepath.Base(s.indexPath())}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "pack-") {
			names = append(names, e.Name())
		}
	}
	blobs, err := os.ReadDir(s.blobs())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range blobs {
		names = append(names, filepath.Join(filepath.Base(s.blobs()), e.Name()))
	}
	return names, nil
}

// copyFile copies a file, or hard-links it if it is immutable.
func copyFile(ctx context.Context, from, to string, constant bool) (err error) {
	if constant && os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := fsys.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(copyAll(ctx, out, in), out.Sync(), out.Close())
}
