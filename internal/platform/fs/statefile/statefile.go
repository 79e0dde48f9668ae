// Package statefile updates adze's private state files, such as the user's trust decisions.
// Updates are atomic and serialized across processes, and only the user can read the files.
package statefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
)

// A File is a state file shared by several processes.
type File struct {
	Path string
	// Max is the maximum size in bytes.
	Max   int64
	Locks *replace.Replacer
	// Doing prefixes this package's errors, such as "saving trust". It may be empty.
	Doing string
}

func (f File) failed(err error) error {
	if f.Doing == "" {
		return err
	}
	return fmt.Errorf("%s: %w", f.Doing, err)
}

// An Edit returns a file's new content, or nil to keep the file unchanged. old is nil if the
// file does not exist, and is closed afterwards.
type Edit func(old *replace.Version) ([]byte, error)

// Change replaces the file's content with the result of edit while holding the file's lock. If
// edit fails, Change returns its error unchanged and does not modify the file.
func (f File) Change(ctx context.Context, edit Edit) error {
	return f.Hold(ctx, func(held *replace.File) error { return f.Rewrite(held, edit) })
}

// Hold calls do while holding the file's lock, and returns its error. It creates the file's
// directory if necessary.
func (f File) Hold(ctx context.Context, do func(*replace.File) error) error {
	folder := filepath.Dir(f.Path)
	if err := fsys.MkdirPrivate(folder); err != nil {
		return f.failed(err)
	}
	dir, err := os.Open(folder)
	if err != nil {
		return f.failed(err)
	}
	defer dir.Close()
	held, err := f.Locks.Lock(ctx, dir, filepath.Base(f.Path))
	if err != nil {
		return f.failed(err)
	}
	defer held.Unlock()
	return do(held)
}

// Rewrite is like [File.Change] for a caller that already holds the lock. A new file is
// readable only by the user.
func (f File) Rewrite(held *replace.File, edit Edit) error {
	old, err := held.Read(f.Max)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = nil, nil
	}
	if err != nil {
		return f.failed(err)
	}
	if old != nil {
		defer old.Close()
	}
	data, err := edit(old)
	if err != nil || data == nil {
		return err
	}
	if old == nil {
		_, err = held.Create([][]byte{data}, 0o600)
	} else {
		_, err = held.Replace(old, [][]byte{data})
	}
	if err != nil {
		return f.failed(err)
	}
	return nil
}

// Encode returns a value as indented JSON, for files that users may read.
func Encode(value any) ([]byte, error) {
	data, err := json.MarshalIndent(value, "", "  ")
	return append(data, '\n'), err
}
