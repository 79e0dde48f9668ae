package filehistory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// copyTries is how often a history that is in use is tried to be copied.
const copyTries = 20

// Copy makes to, where nothing is yet, a history that begins as the one in from: a fork can go back as far
// as what it was forked from. That one may be in use; what it holds at one moment is copied. Without one
// there is nothing to do.
func Copy(ctx context.Context, from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("copying the file history: %s exists already", to)
	}
	temp := to + ".new"
	defer os.RemoveAll(temp) // ok: gone already, if all went well
	for range copyTries {
		whole, err := newStore(from).copyTo(ctx, newStore(temp))
		switch {
		case err != nil:
			return fmt.Errorf("copying the file history: %w", err)
		case whole:
			err := os.Rename(temp, to)
			if errors.Is(err, fs.ErrNotExist) { // there is none
				return nil
			}
			return err
		}
	}
	return errors.New("copying the file history: it is being written to all the time")
}

// copyTo copies a store, and reports whether it did not change meanwhile. Large contents, which never
// change, are shared between both where the file system can do that.
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
	if err := os.MkdirAll(to.blobs(), 0o700); err != nil {
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

// names returns the files of a store, the index first: what it speaks of was there before it did.
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

// copyFile copies a file, or makes a link to it if it never changes.
func copyFile(ctx context.Context, from, to string, constant bool) (err error) {
	if constant && os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(copyAll(ctx, out, in), out.Sync(), out.Close())
}
