package cron

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/statefile"
)

const (
	version = 1
	// maxFile is the maximum file size in bytes: more than all jobs can take.
	maxFile = 8 << 20
)

// content is the file's content.
type content struct {
	Version int   `json:"version"`
	Jobs    []Job `json:"jobs"`
}

// A stamp distinguishes versions of a file.
type stamp struct {
	size     int64
	modified time.Time
}

var errContent = errors.New("it holds no jobs that can be read")

// look reads the file again if it has changed.
func (t *Table) look() {
	if t.cfg.File == "" {
		return
	}
	var now stamp
	if info, err := os.Stat(t.cfg.File); err == nil {
		now = stamp{info.Size(), info.ModTime()}
	}
	if now == t.seen && t.broken == nil {
		return
	}
	t.seen = now
	t.kept, t.broken = read(t.cfg.File)
}

// read returns the jobs in a file, or nil if it does not exist. A job with invalid times has a
// Flaw.
func read(file string) ([]Job, error) {
	data, err := fsys.ReadSmall(file, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the scheduled jobs: %w", err)
	}
	var c content
	switch err := json.Unmarshal(data, &c); {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errContent, err)
	case c.Version > version:
		return nil, fmt.Errorf("a newer version of adze has written %s; use that one, or move the file away", file)
	case c.Version < 1:
		return nil, errContent
	}
	for i := range c.Jobs {
		j := &c.Jobs[i]
		j.Durable = true
		j.Due, j.Last, j.Expires = j.Due.Local(), j.Last.Local(), j.Expires.Local()
		if err := j.check(); err != nil {
			j.Flaw = err.Error()
		}
		switch {
		case j.Flaw != "":
		case j.ID == "" || j.Prompt == "" || len(j.Prompt) > MaxPrompt:
			j.Flaw = "it has no id, or no prompt of a usable length"
		case j.Due.IsZero() || !j.Once && j.Expires.IsZero():
			j.Flaw = "it does not say when it is due, or when it ends"
		}
	}
	return c.Jobs, nil
}

// update applies change to the current durable jobs and writes them if change returns true.
// may, if non-nil, is called first and can refuse. No other process can change the jobs during
// the update.
func (t *Table) update(ctx context.Context, change func() (bool, error), may func() error) error {
	if t.cfg.File == "" {
		return errors.New("no directory for durable jobs")
	}
	file := statefile.File{Path: t.cfg.File, Locks: t.locks, Doing: "the scheduled jobs"}
	return file.Hold(ctx, func(*replace.File) error { return t.rewrite(change, may) })
}

// rewrite implements update while the file is held.
func (t *Table) rewrite(change func() (bool, error), may func() error) (err error) {
	t.kept, err = read(t.cfg.File)
	t.seen, t.broken = stamp{size: -1}, nil // force a re-read
	if errors.Is(err, errContent) {
		return t.putAside(err)
	}
	if err != nil {
		return err
	}
	if may != nil {
		if err := may(); err != nil {
			return err
		}
	}
	if changed, err := change(); err != nil || !changed {
		return err
	}
	data, err := statefile.Encode(content{version, t.kept})
	if err != nil {
		return err
	}
	if err := replace.WriteFile(t.cfg.File, data, 0o600); err != nil {
		return fmt.Errorf("writing the scheduled jobs: %w", err)
	}
	return nil
}

// putAside renames an unreadable file, so that it is preserved and a new one can be written.
func (t *Table) putAside(why error) error {
	aside := fmt.Sprintf("%s.%s.broken", t.cfg.File, t.cfg.Now().UTC().Format("20060102-150405.000000000"))
	if err := os.Rename(t.cfg.File, aside); err != nil {
		return fmt.Errorf("reading the scheduled jobs: %w; moving them away failed, too: %w", why, err)
	}
	return fmt.Errorf("the scheduled jobs cannot be read and were moved to %s: %w", aside, why)
}
