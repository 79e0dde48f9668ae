package trust

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/statefile"
)

// A Store stores the user's trust decisions in a private file. It is safe for concurrent use,
// also by several processes.
type Store struct {
	path  string
	locks *replace.Replacer
	now   func() time.Time
}

// Open returns the store in adze's home directory. It does not read anything yet.
func Open(home string, locks *replace.Replacer) *Store {
	return &Store{filepath.Join(home, "trust.json"), locks, time.Now}
}

// An Entry is a trusted workspace.
type Entry struct {
	Path       string    `json:"path"`
	Device     uint64    `json:"device"`
	Inode      uint64    `json:"inode"`
	Repository bool      `json:"repository,omitempty"`
	Since      time.Time `json:"since"`
}

// contents is the content of the file.
type contents struct {
	Version    int     `json:"version"`
	Workspaces []Entry `json:"workspaces"`
	// Approved lists hashes of approved items, by workspace.
	Approved map[string][]string `json:"approved,omitempty"`
	// Limits lists restrictive settings, as displayed, by workspace.
	Limits map[string][]Limit `json:"limits,omitempty"`
	// Files lists hashes of the contents with which a workspace file is the user's own, by
	// path.
	Files map[string][]string `json:"files,omitempty"`
	// Places identifies the workspace directories that the files were written to, by path of
	// the file.
	Places map[string]dirID `json:"places,omitempty"`
}

// A dirID identifies a directory independently of its path.
type dirID struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// dirIDOf returns the workspace directory of a settings file, or the zero value if unknown.
func dirIDOf(path string) dirID {
	info, err := os.Lstat(filepath.Dir(filepath.Dir(path)))
	if err != nil {
		return dirID{}
	}
	device, inode := identity(info)
	return dirID{device, inode}
}

const (
	version  = 1
	maxStore = 16 << 20
)

// read returns the content of the file. A missing file counts as empty. A file that cannot be
// trusted is an error.
func (s *Store) read() (contents, error) {
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return contents{Version: version}, nil
	}
	if err == nil {
		err = private(info)
	}
	var data []byte
	if err == nil {
		data, err = fsys.ReadSmall(s.path, maxStore)
	}
	if err != nil {
		return contents{}, s.unusable(err)
	}
	return s.decode(data)
}

func (s *Store) decode(data []byte) (c contents, err error) {
	if err := json.Unmarshal(data, &c); err != nil {
		return contents{}, s.unusable(err)
	}
	if c.Version != version {
		return contents{}, s.unusable(fmt.Errorf("it has version %d, and this program knows version %d", c.Version, version))
	}
	return c, nil
}

func (s *Store) unusable(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("no workspace is trusted, because %s cannot be used: %w; correct or remove it", s.path, err)
}

// A Consent holds the user's decisions about a workspace. The zero value grants nothing.
type Consent struct {
	Trusted bool
	Limits  []Limit
	hashes  map[string]bool     // hashes of approved items
	files   map[string][]string // see contents
	places  map[string]dirID    // see contents
}

// Consent returns the user's decisions about a workspace. On error nothing is trusted.
func (s *Store) Consent(w Workspace) (Consent, error) {
	c, err := s.read()
	if err != nil {
		return Consent{}, err
	}
	given := Consent{
		Trusted: slices.ContainsFunc(c.Workspaces, func(e Entry) bool { return e.covers(w) }),
		hashes:  map[string]bool{},
		files:   c.Files,
		places:  c.Places,
	}
	roots := []string{w.Root}
	if w.Main != "" { // approvals of a main working tree also apply to its worktrees
		roots = append(roots, w.Main)
	}
	for _, root := range roots {
		for _, hash := range c.Approved[root] {
			given.hashes[hash] = true
		}
		given.Limits = append(given.Limits, c.Limits[root]...)
	}
	return given, nil
}

// Approved reports whether the user has approved an item with its current content.
func (c Consent) Approved(it Item) bool { return c.hashes[it.hash()] }

// Owns reports whether a file with the given content is the user's own. path must not contain
// symlinks.
func (c Consent) Owns(path string, data []byte) bool {
	return slices.Contains(c.files[path], contentHash(data))
}

// Wrote is like Owns, but only for a file that adze wrote to the directory that currently
// exists: another workspace at the same path may contain the same file.
func (c Consent) Wrote(path string, data []byte) bool {
	at, ok := c.places[path]
	return ok && at != (dirID{}) && at == dirIDOf(path) && c.Owns(path, data)
}

// covers reports whether trust in e extends to w.
func (e Entry) covers(w Workspace) bool {
	switch {
	case w.Main != "" && e.Path == w.Main:
		return e.Repository && e.present()
	case e.Path != w.Root:
		return false
	case w.Repository && !e.Repository && w.Dir != w.Root: // became a repository only later
		return false
	}
	return e.present()
}

// present reports whether the trusted directory is still the one at the path.
func (e Entry) present() bool {
	info, err := os.Lstat(e.Path)
	if err != nil || !info.IsDir() {
		return false
	}
	device, inode := identity(info)
	return device == e.Device && inode == e.Inode
}

// List returns the trusted workspaces, sorted by path.
func (s *Store) List() ([]Entry, error) {
	c, err := s.read()
	slices.SortFunc(c.Workspaces, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return c.Workspaces, err
}

// Add trusts a workspace. The shown items replace earlier approvals. Files among them become
// the user's own with the content that was shown; see [File]. limits replaces the workspace's
// limits.
func (s *Store) Add(ctx context.Context, w Workspace, limits []Limit, shown ...Item) error {
	info, err := os.Lstat(w.Root)
	if err != nil {
		return fmt.Errorf("trusting %s: %w", w.Root, err)
	}
	e := Entry{Path: w.Root, Repository: w.Repository, Since: s.now().UTC().Truncate(time.Second)}
	e.Device, e.Inode = identity(info)
	return s.change(ctx, func(c *contents) error {
		c.Workspaces = slices.DeleteFunc(c.Workspaces, func(old Entry) bool { return old.Path == e.Path })
		c.Workspaces = append(c.Workspaces, e)
		c.approve(w, shown, nil)
		c.limit(w, limits)
		return nil
	})
}

// Approve approves additional items of a workspace.
func (s *Store) Approve(ctx context.Context, w Workspace, shown ...Item) error {
	return s.change(ctx, func(c *contents) error {
		c.approve(w, shown, c.Approved[w.Root])
		return nil
	})
}

// Relimit edits the limits of a workspace.
func (s *Store) Relimit(ctx context.Context, w Workspace, edit func([]Limit) []Limit) error {
	return s.change(ctx, func(c *contents) error {
		c.limit(w, edit(slices.Clone(c.Limits[w.Root])))
		return nil
	})
}

func (c *contents) limit(w Workspace, limits []Limit) {
	if c.Limits == nil {
		c.Limits = map[string][]Limit{}
	}
	if c.Limits[w.Root] = limits; len(limits) == 0 {
		delete(c.Limits, w.Root)
	}
}

// Stamp identifies the store's current version without reading it.
func (s *Store) Stamp() (st Stamp) {
	info, err := os.Stat(s.path)
	if err != nil {
		return st
	}
	st.time, st.size = info.ModTime().UnixNano(), info.Size()
	st.device, st.inode = identity(info)
	return st
}

// A Stamp identifies a version of the store.
type Stamp struct {
	time, size    int64
	device, inode uint64
}

// Withdraw withdraws the approval of items of a workspace.
func (s *Store) Withdraw(ctx context.Context, w Workspace, items ...Item) error {
	return s.change(ctx, func(c *contents) error {
		for _, root := range []string{w.Root, w.Main} {
			left := slices.DeleteFunc(c.Approved[root], func(hash string) bool {
				return slices.ContainsFunc(items, func(it Item) bool { return it.hash() == hash })
			})
			if len(left) > 0 {
				c.Approved[root] = left
			} else {
				delete(c.Approved, root)
			}
		}
		return nil
	})
}

// Rewrite records that a file with the content after is the user's own, because adze is about
// to write it. It does nothing if the current content is not the user's own, because adding to
// such a file does not make it theirs. The file also remains the user's own with the content
// before, until it is written. before is nil if the file does not exist.
func (s *Store) Rewrite(ctx context.Context, path string, before, after []byte) error {
	return s.change(ctx, func(c *contents) error {
		hashes := []string{contentHash(after)}
		switch old := contentHash(before); {
		case len(bytes.TrimSpace(before)) == 0:
		case slices.Contains(c.Files[path], old):
			hashes = append(hashes, old)
		default:
			return errUnchanged
		}
		if at := dirIDOf(path); len(bytes.TrimSpace(before)) == 0 || c.Places[path] == at {
			if c.Places == nil {
				c.Places = map[string]dirID{}
			}
			c.Places[path] = at
		}
		c.own(path, hashes)
		return nil
	})
}

func (c *contents) own(path string, hashes []string) {
	if c.Files == nil {
		c.Files = map[string][]string{}
	}
	c.Files[path] = hashes
}

func (c *contents) approve(w Workspace, items []Item, before []string) {
	hashes := slices.Clone(before)
	for _, it := range items {
		if it.Kind == kindFile {
			c.own(it.Name, []string{it.Text})
			continue
		}
		hashes = append(hashes, it.hash())
	}
	slices.Sort(hashes)
	if c.Approved == nil {
		c.Approved = map[string][]string{}
	}
	c.Approved[w.Root] = slices.Compact(hashes)
	if len(hashes) == 0 {
		delete(c.Approved, w.Root)
	}
}

// ErrNotTrusted means that the workspace is not trusted, so trust cannot be withdrawn.
var ErrNotTrusted = errors.New("the workspace was not trusted")

// Remove withdraws trust in a path and all approvals for it. The path need not exist.
func (s *Store) Remove(ctx context.Context, path string) error {
	return s.change(ctx, func(c *contents) error {
		before := len(c.Workspaces)
		c.Workspaces = slices.DeleteFunc(c.Workspaces, func(e Entry) bool { return e.Path == path })
		if len(c.Workspaces) == before {
			return ErrNotTrusted
		}
		delete(c.Approved, path)
		delete(c.Limits, path)
		maps.DeleteFunc(c.Files, func(file string, _ []string) bool {
			return strings.HasPrefix(file, strings.TrimSuffix(path, string(filepath.Separator))+string(filepath.Separator))
		})
		return nil
	})
}

// errUnchanged is returned by an edit that changes nothing.
var errUnchanged = errors.New("nothing is changed")

// change rewrites the file under a lock. It does not modify an invalid file.
func (s *Store) change(ctx context.Context, edit func(*contents) error) error {
	file := statefile.File{Path: s.path, Max: maxStore, Locks: s.locks, Doing: "saving trust"}
	return file.Change(ctx, func(old *replace.Version) ([]byte, error) {
		c := contents{Version: version}
		if old != nil {
			if err := private(old.Info); err != nil {
				return nil, s.unusable(err)
			}
			var err error
			if c, err = s.decode(old.Data); err != nil {
				return nil, err
			}
		}
		if err := edit(&c); errors.Is(err, errUnchanged) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		return statefile.Encode(c)
	})
}
