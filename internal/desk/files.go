package desk

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"adze/internal/platform/filehistory"
	"adze/internal/platform/fileindex"
	"adze/internal/platform/filestate"
)

// Files are what is known of the files of a session.
type Files struct {
	// Dir is the working directory, from which names count.
	Dir string
	// History is what files held before they were changed; nil if it is not kept.
	History *filehistory.History
	// State is what the conversation knows of files.
	State *filestate.Store
	// Index finds files by parts of their names.
	Index *fileindex.Index
	// MayRead returns why the model may not read a file, or nil.
	MayRead func(ctx context.Context, path string) error
}

// maxFile bounds what is read of a file, in bytes.
const maxFile = 10 << 20

// Rewind restores the files of the session to what they were before a message; dry only says what it would do.
func (f *Files) Rewind(ctx context.Context, message string, dry bool) (filehistory.Report, error) {
	return f.History.Rewind(ctx, message, filehistory.Options{Dry: dry})
}

// Seed notes that the conversation knows a file as it was at that time. A file that is newer is not known.
func (f *Files) Seed(name string, at time.Time) error {
	path := absolute(f.Dir, name)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return fmt.Errorf("%s is not a file of at most %d MB", path, maxFile>>20)
	}
	if info.ModTime().UnixMilli() > at.UnixMilli() {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f.State.Record(filestate.Entry{
		Path: path, Hash: sha256.Sum256(data), Stamp: filestate.StampOf(info), Origin: filestate.Injected,
		Offset: 1, Complete: true, Content: data,
	})
	return nil
}

// A Content is the beginning of a file.
type Content struct {
	Path string
	Data []byte
	// More says that the file is longer.
	More bool
}

// Read returns at most limit bytes of a file that the model may read, too; 0 means as many as are ever read.
func (f *Files) Read(ctx context.Context, name string, limit int64) (Content, error) {
	c := Content{Path: absolute(f.Dir, name)}
	if err := f.MayRead(ctx, c.Path); err != nil {
		return c, err
	}
	if limit <= 0 || limit > maxFile {
		limit = maxFile
	}
	info, err := os.Stat(c.Path)
	if err != nil {
		return c, err
	}
	if !info.Mode().IsRegular() {
		return c, fmt.Errorf("%s is not a regular file", c.Path)
	}
	file, err := os.Open(c.Path)
	if err != nil {
		return c, err
	}
	defer file.Close() // ok: it was only read
	c.Data, err = io.ReadAll(io.LimitReader(file, limit+1))
	if int64(len(c.Data)) > limit {
		c.Data, c.More = c.Data[:limit], true
	}
	return c, err
}

// Suggest returns at most n files that the user may mean by what is typed.
func (f *Files) Suggest(ctx context.Context, typed string, n int) ([]fileindex.Match, error) {
	return f.Index.Find(ctx, typed, n)
}

// absolute returns the path that a name means in dir.
func absolute(dir, name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return filepath.Clean(name)
}
