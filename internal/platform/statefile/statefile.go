// Package statefile changes the private files in which adze keeps its state, such as what the user trusts: one process at
// a time, as a whole, for the eyes of the user alone. What a file says, and whether it can be relied on, is left to others.
package statefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/platform/fsys"
	"adze/internal/platform/replace"
)

// A File is one that several processes change.
type File struct {
	Path string
	// Max is the most bytes that the file may have.
	Max   int64
	Locks *replace.Replacer
	// Doing begins the errors of this package, such as "saving trust". It may be empty.
	Doing string
}

func (f File) failed(err error) error {
	if f.Doing == "" {
		return err
	}
	return fmt.Errorf("%s: %w", f.Doing, err)
}

// An Edit returns the new content of a file, or nil if the file stays as it is. Old is nil if there is no file, and closed
// afterwards.
type Edit func(old *replace.Version) ([]byte, error)

// Change makes what edit returns the content of the file, while no other process holds it. The error of edit is returned
// as it is; the file is left alone then.
func (f File) Change(ctx context.Context, edit Edit) error {
	return f.Hold(ctx, func(held *replace.File) error { return f.Rewrite(held, edit) })
}

// Hold calls do while no other process holds the file, and returns its error. The folder of the file is made if it is
// missing.
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

// Rewrite is [File.Change] for a caller that holds the file. Only the user may read a file that is new.
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

// Encode returns a value as it is written to a file that users may read: JSON with a line for each field.
func Encode(value any) ([]byte, error) {
	data, err := json.MarshalIndent(value, "", "  ")
	return append(data, '\n'), err
}
