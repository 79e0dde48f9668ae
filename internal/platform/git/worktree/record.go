package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/statefile"
	"adze/internal/platform/proc/osproc"
)

// A phase is a worktree's stage of creation or removal.
type phase string

const (
	making   phase = "making"
	ready    phase = "ready"
	removing phase = "removing"
)

// A record describes a worktree in a file outside the repository, because the repository's own
// information is not trusted when something is removed.
type record struct {
	Name    string                 `json:"name"`
	Root    string                 `json:"root"`
	Path    string                 `json:"path"`
	Common  string                 `json:"common,omitempty"`
	Branch  string                 `json:"branch,omitempty"`
	Base    string                 `json:"base,omitempty"`
	For     Purpose                `json:"for"`
	ByHook  bool                   `json:"byHook,omitempty"`
	Phase   phase                  `json:"phase"`
	Owner   owner                  `json:"owner"`
	Made    time.Time              `json:"made"`
	Used    time.Time              `json:"used"`
	Brought map[string]fingerprint `json:"brought,omitempty"` // files added to it, by path in the worktree
	Removal *removal               `json:"removal,omitempty"`
}

// A fingerprint detects changes to a file that was added to a worktree.
type fingerprint struct {
	Link string `json:"link,omitempty"` // symlink target
	Hash string `json:"hash,omitempty"`
}

// A removal is a removal in progress.
type removal struct {
	Moved string `json:"moved"` // new path of the worktree
	Tip   string `json:"tip"`   // commit at which the branch may be deleted
}

// An owner is the process that uses a worktree. The zero value means no process.
type owner struct {
	PID   int    `json:"pid,omitempty"`
	Start string `json:"start,omitempty"` // distinguishes processes that reuse a PID
}

func self() owner { return owner{os.Getpid(), osproc.Started(os.Getpid())} }

// alive reports whether the process is running.
func (o owner) alive() bool {
	return o.PID > 0 && osproc.Alive(o.PID) && (o.Start == "" || o.Start == osproc.Started(o.PID))
}

func (o owner) String() string {
	if o.PID == os.Getpid() {
		return "this process"
	}
	return fmt.Sprintf("process %d", o.PID)
}

func (r *record) inUse(t *Manager) bool { return r.Owner.PID != 0 && t.alive(r.Owner) }

// maxRecord limits the size of a record.
const maxRecord = 8 << 20

// folder returns the directory of a repository's records.
func (t *Manager) folder(root string) string {
	return filepath.Join(t.cfg.Records, fsys.HashedKey(root))
}

// locked calls f while no other process changes the worktree's record.
func (t *Manager) locked(ctx context.Context, root, name string, f func(file string) error) error {
	path := filepath.Join(t.folder(root), name+".json")
	file := statefile.File{Path: path, Locks: replace.New(filepath.Join(t.cfg.Records, "locks")), Doing: "the record of the worktree " + name}
	return file.Hold(ctx, func(*replace.File) error { return f(path) })
}

// begin writes the record of a new worktree owned by this process.
func (t *Manager) begin(ctx context.Context, r *record) error {
	r.Owner, r.Made, r.Used = self(), t.now(), t.now()
	return t.locked(ctx, r.Root, r.Name, func(file string) error {
		old, err := read(file)
		switch {
		case err == nil && old.Phase != making && exists(old.Path):
			return fmt.Errorf("there is a worktree called %s already, at %s: choose another name, or remove it", r.Name, old.Path)
		case err == nil && old.inUse(t):
			return fmt.Errorf("%s makes or removes a worktree called %s just now", old.Owner, r.Name)
		case err == nil && old.Phase != ready:
			return fmt.Errorf("a removed worktree %s is still being cleaned up: choose another name", r.Name)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		return write(file, r)
	})
}

// change updates the record of an existing worktree.
func (t *Manager) change(ctx context.Context, root, name string, f func(*record) error) error {
	return t.locked(ctx, root, name, func(file string) error {
		r, err := read(file)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w called %s", ErrNone, name)
		}
		if err != nil {
			return err
		}
		if err := f(&r); err != nil {
			return err
		}
		return write(file, &r)
	})
}

// recall returns the record of a worktree.
func (t *Manager) recall(root, name string) (record, error) {
	r, err := read(filepath.Join(t.folder(root), name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("%w called %s", ErrNone, name)
	}
	return r, err
}

// forget removes a record.
func (t *Manager) forget(ctx context.Context, r record) error {
	return t.locked(ctx, r.Root, r.Name, func(file string) error {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		os.Remove(filepath.Dir(file)) // ok: other records may remain
		return nil
	})
}

// records returns a repository's records. Unreadable ones are skipped.
func (t *Manager) records(root string) (all []record) {
	entries, _ := os.ReadDir(t.folder(root)) // ok: the list is then empty
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		if r, err := t.recall(root, name); err == nil && r.Name == name && r.Root == root {
			all = append(all, r)
		}
	}
	return all
}

func read(file string) (r record, err error) {
	data, err := fsys.ReadSmall(file, maxRecord)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s cannot be read: %w; remove it if you do not need the worktree's record", file, err)
	}
	return r, nil
}

func write(file string, r *record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := replace.WriteFile(file, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keeping the record of a worktree: %w", err)
	}
	return nil
}

// exists reports whether path exists.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
