package commands

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"adze/internal/platform/fs/filehistory"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/search/fileindex"
	"adze/internal/tool/change"
)

// Files provides access to the files of a session.
type Files struct {
	// Dir is the working directory, to which names are relative.
	Dir string
	// History holds earlier contents of changed files; nil if they are not kept.
	History *filehistory.History
	// State records which contents the model has seen.
	State *filestate.Store
	// Working returns who works on which files; nil without agents.
	Working func() []change.Work
	// Index finds files by parts of their names.
	Index *fileindex.Index
	// MayRead returns an error if the model may not read a file.
	MayRead func(ctx context.Context, path string) error
	// Short returns a path as a user would write it, sanitized for the screen; nil leaves it
	// unchanged.
	Short func(path string) string
}

// maxFile is the maximum number of bytes read from a file.
const maxFile = 10 << 20

// RewindFiles restores the session's files to their state before a message. If dry is true, it
// only reports the changes.
func (r *Registry) RewindFiles(ctx context.Context, message string, dry bool) (filehistory.Report, error) {
	id, later := MessageNamed(r.Session.Conversation(), message)
	return r.Files.History.Rewind(ctx, id, filehistory.Options{DryRun: dry, Later: later})
}

// Seed records that the model has seen a file as it was at that time. It does nothing if the
// file has changed since.
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
	// More reports whether the file is longer.
	More bool
}

// Read returns at most limit bytes of a file, if the model may read it; 0 means the largest
// limit.
func (f *Files) Read(ctx context.Context, name string, limit int64) (Content, error) {
	c := Content{Path: absolute(f.Dir, name)}
	set, err := paths.Base{Dir: f.Dir}.Resolve(c.Path)
	if err != nil {
		return c, err
	}
	for _, path := range slices.Compact([]string{c.Path, set.Real}) {
		if err := f.MayRead(ctx, path); err != nil {
			return c, err
		}
	}
	if limit <= 0 || limit > maxFile {
		limit = maxFile
	}
	if set.Info != nil && !set.Info.Mode().IsRegular() {
		return c, fmt.Errorf("%s is not a regular file", c.Path)
	}
	file, err := set.Open() // opens the path that was checked
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

// Suggest returns at most n files that match the typed text.
func (f *Files) Suggest(ctx context.Context, typed string, n int) ([]fileindex.Match, error) {
	return f.Index.Find(ctx, typed, n)
}

// absolute returns name as an absolute path, relative to dir.
func absolute(dir, name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return filepath.Clean(name)
}
