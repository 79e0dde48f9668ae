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

	"adze/internal/platform/fsys"
	"adze/internal/platform/replace"
	"adze/internal/platform/statefile"
)

// A Store keeps what the user trusts in a file of theirs. It may be used from any goroutine and by
// several processes.
type Store struct {
	path  string
	locks *replace.Replacer
	now   func() time.Time
}

// Open returns the store in adze's own folder. Nothing is read yet.
func Open(home string, locks *replace.Replacer) *Store {
	return &Store{filepath.Join(home, "trust.json"), locks, time.Now}
}

// An Entry is a workspace that is trusted.
type Entry struct {
	Path       string    `json:"path"`
	Device     uint64    `json:"device"`
	Inode      uint64    `json:"inode"`
	Repository bool      `json:"repository,omitempty"`
	Since      time.Time `json:"since"`
}

// contents is the file.
type contents struct {
	Version    int     `json:"version"`
	Workspaces []Entry `json:"workspaces"`
	// Approved are hashes of what was shown and approved, by workspace.
	Approved map[string][]string `json:"approved,omitempty"`
	// Limits are the settings that forbid something, as they were shown, by workspace.
	Limits map[string][]Limit `json:"limits,omitempty"`
	// Files are hashes of the contents that make a file in a workspace the user's own, by path.
	Files map[string][]string `json:"files,omitempty"`
	// Places are the directories of the workspaces that the files were written to, by path of the file.
	Places map[string]place `json:"places,omitempty"`
}

// A place identifies a directory, whatever its path is.
type place struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// placeOf returns the directory of the workspace that a settings file belongs to, or the zero value if it cannot be known.
func placeOf(path string) place {
	info, err := os.Lstat(filepath.Dir(filepath.Dir(path)))
	if err != nil {
		return place{}
	}
	device, inode := identity(info)
	return place{device, inode}
}

const (
	version  = 1
	maxStore = 16 << 20
)

// read returns what the file says. One that is missing says nothing; one that cannot be relied on is an
// error.
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

// A Consent is what the user has decided about a workspace. The zero value is none.
type Consent struct {
	Trusted bool
	Limits  []Limit
	hashes  map[string]bool     // of what was approved
	files   map[string][]string // see contents
	places  map[string]place    // see contents
}

// Consent returns what the user has decided about a workspace. With an error nothing is trusted.
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
	if w.Main != "" { // what is approved of a main working tree is approved in its worktrees
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

// Approved reports whether the user has approved of something of the workspace, as it is now.
func (c Consent) Approved(it Item) bool { return c.hashes[it.hash()] }

// Owns reports whether a file is the user's own as long as it holds data. Path has no links.
func (c Consent) Owns(path string, data []byte) bool {
	return slices.Contains(c.files[path], contentHash(data))
}

// Wrote is like Owns, but only for a file that this program wrote to the directory that is there now: another workspace at
// the same path may hold the same file.
func (c Consent) Wrote(path string, data []byte) bool {
	at, ok := c.places[path]
	return ok && at != (place{}) && at == placeOf(path) && c.Owns(path, data)
}

// covers reports whether trust in e is trust in w.
func (e Entry) covers(w Workspace) bool {
	switch {
	case w.Main != "" && e.Path == w.Main:
		return e.Repository && e.present()
	case e.Path != w.Root:
		return false
	case w.Repository && !e.Repository && w.Dir != w.Root: // it became a repository only later
		return false
	}
	return e.present()
}

// present reports whether what is at the path is still what was trusted.
func (e Entry) present() bool {
	info, err := os.Lstat(e.Path)
	if err != nil || !info.IsDir() {
		return false
	}
	device, inode := identity(info)
	return device == e.Device && inode == e.Inode
}

// List returns the workspaces that are trusted, by path.
func (s *Store) List() ([]Entry, error) {
	c, err := s.read()
	slices.SortFunc(c.Workspaces, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return c.Workspaces, err
}

// Add trusts a workspace from now on, and approves what was shown of it in place of what was approved
// before. Files that were shown are the user's own as they were then; see [File]. The limits are those of now.
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

// Approve adds to what is approved of a workspace.
func (s *Store) Approve(ctx context.Context, w Workspace, shown ...Item) error {
	return s.change(ctx, func(c *contents) error {
		c.approve(w, shown, c.Approved[w.Root])
		return nil
	})
}

// Relimit changes the limits of a workspace.
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

// Stamp returns what tells a version of the store from others, without reading it.
func (s *Store) Stamp() (st Stamp) {
	info, err := os.Stat(s.path)
	if err != nil {
		return st
	}
	st.time, st.size = info.ModTime().UnixNano(), info.Size()
	st.device, st.inode = identity(info)
	return st
}

// A Stamp is that of a version of the store.
type Stamp struct {
	time, size    int64
	device, inode uint64
}

// Withdraw takes back what was approved of a workspace.
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

// Rewrite makes a file the user's own with the content after, because this program is about to write it, unless the
// file has other content than their own already: that does not become theirs because something is added to it. The
// file stays theirs with the content before until it is written. Before is nil if there is no file.
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
		if at := placeOf(path); len(bytes.TrimSpace(before)) == 0 || c.Places[path] == at {
			if c.Places == nil {
				c.Places = map[string]place{}
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

// ErrNotTrusted says that there is nothing to take back.
var ErrNotTrusted = errors.New("the workspace was not trusted")

// Remove takes trust in a path back, and what was approved there. The path need not exist any more.
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

// errUnchanged says that an edit changes nothing.
var errUnchanged = errors.New("nothing is changed")

// change rewrites the file under a lock. A file that cannot be used is left alone.
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
