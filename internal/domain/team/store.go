package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/statefile"
)

const (
	version    = 1
	configFile = "config.json"
	inboxes    = "inboxes"
	// maxConfig is the maximum size of a config, in bytes.
	maxConfig = 1 << 20
)

// Config configures a Store. Dir and Locks are required.
type Config struct {
	// Dir holds a directory for each team; Locks is a directory for locks. Both are created
	// when needed.
	Dir, Locks string
	// Taken, if non-nil, reports whether a name is unavailable for another reason, such as the
	// task list of an earlier team.
	Taken func(name string) bool
	Now   func() time.Time // nil means time.Now
	Log   *slog.Logger     // may be nil
}

// A Store holds the user's teams, for all processes. It is safe for concurrent use.
type Store struct {
	cfg   Config
	locks *replace.Replacer
}

// New returns a store. It reads nothing yet.
func New(c Config) *Store {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Store{cfg: c, locks: replace.New(c.Locks)}
}

// ErrUnknown is returned for an unknown team.
var ErrUnknown = errors.New("no such team")

// Create creates a team with its lead. If the name is taken, a number is appended.
func (s *Store) Create(ctx context.Context, t Team, lead Member) (Team, error) {
	name := Normalise(t.Name)
	if name == "" {
		name = "team"
	}
	root, err := s.root()
	if err != nil {
		return Team{}, err
	}
	defer root.Close()
	t.Name = unique(name, func(name string) bool {
		if err != nil {
			return false
		}
		if s.cfg.Taken != nil && s.cfg.Taken(name) {
			return true
		}
		mkdir := root.Mkdir(name, 0o700)
		if mkdir != nil && !errors.Is(mkdir, fs.ErrExist) {
			err = mkdir
		}
		return mkdir != nil && err == nil
	})
	if err == nil {
		err = root.Mkdir(filepath.Join(t.Name, inboxes), 0o700)
	}
	if err != nil {
		return Team{}, fmt.Errorf("making the team: %w", err)
	}
	t.Version, t.Created, t.Members = version, s.cfg.Now(), nil
	lead.Name, lead.Joined = Lead, t.Created
	if _, err := t.add(lead); err != nil {
		return Team{}, err
	}
	err = s.edit(ctx, t.Name, func([]byte) ([]byte, error) { return json.MarshalIndent(t, "", "  ") })
	if err != nil {
		root.RemoveAll(t.Name) // ok: just created and empty
		return Team{}, fmt.Errorf("making the team: %w", err)
	}
	return t, nil
}

// Open returns the team with the given name.
func (s *Store) Open(name string) (Team, error) {
	dir, err := s.dir(name)
	if err != nil {
		return Team{}, err
	}
	defer dir.Close()
	info, err := dir.Lstat(configFile)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxConfig) {
		err = errors.New("its config is not a regular file of a usable size")
	}
	if err != nil {
		return Team{}, fmt.Errorf("reading the team %s: %w", name, err)
	}
	data, err := dir.ReadFile(configFile)
	if err != nil {
		return Team{}, fmt.Errorf("reading the team %s: %w", name, err)
	}
	return decode(name, data)
}

// decode decodes a config. Invalid names are an error, because they are used as file names.
func decode(name string, data []byte) (Team, error) {
	var t Team
	if err := json.Unmarshal(data, &t); err != nil {
		return Team{}, fmt.Errorf("the config of the team %s cannot be read: %w", name, err)
	}
	switch {
	case t.Version > version:
		return Team{}, fmt.Errorf("a newer version of adze has made the team %s; use that one", name)
	case t.Version < 1 || t.Name != name || len(t.Members) > MaxMembers || t.Member(Lead) == nil:
		return Team{}, fmt.Errorf("the config of the team %s is not one", name)
	}
	seen := map[string]bool{}
	for _, m := range t.Members {
		if m.Name == "" || len(m.Name) > maxName+8 || Normalise(m.Name[:min(len(m.Name), maxName)]) == "" || !safe(m.Name) || seen[m.Name] {
			return Team{}, fmt.Errorf("the config of the team %s has a member %q", name, clip(m.Name))
		}
		seen[m.Name] = true
	}
	return t, nil
}

// safe reports whether a name has the form used for teams and members.
func safe(name string) bool {
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-') {
			return false
		}
	}
	return name != ""
}

// Update changes the current team with f, while no other process can change it.
func (s *Store) Update(ctx context.Context, name string, f func(*Team) error) (Team, error) {
	var t Team
	err := s.edit(ctx, name, func(old []byte) (_ []byte, err error) {
		if old == nil {
			return nil, fmt.Errorf("%w: %s", ErrUnknown, name)
		}
		if t, err = decode(name, old); err != nil {
			return nil, err
		}
		if err = f(&t); err != nil {
			return nil, err
		}
		return json.MarshalIndent(t, "", "  ")
	})
	return t, err
}

// Join adds a member, under a unique name.
func (s *Store) Join(ctx context.Context, name string, m Member) (Member, error) {
	m.Joined = s.cfg.Now()
	_, err := s.Update(ctx, name, func(t *Team) (err error) {
		m, err = t.add(m)
		return err
	})
	return m, err
}

// Leave removes a member. An unknown member is ignored.
func (s *Store) Leave(ctx context.Context, name, member string) error {
	_, err := s.Update(ctx, name, func(t *Team) error {
		for i, m := range t.Members {
			if m.Name == member && member != Lead {
				t.Members = append(t.Members[:i:i], t.Members[i+1:]...)
				break
			}
		}
		return nil
	})
	return err
}

// Delete removes a team with its messages.
func (s *Store) Delete(name string) error {
	if !safe(name) {
		return fmt.Errorf("%w: %q", ErrUnknown, clip(name))
	}
	root, err := s.root()
	if err != nil {
		return err
	}
	defer root.Close()
	return root.RemoveAll(name)
}

// errEnded means that a team was removed because its lead had ended.
var errEnded = errors.New("the lead has ended")

// Sweep removes the teams whose leads have ended without removing them, and returns them.
func (s *Store) Sweep(ctx context.Context) (removed []Team) {
	for _, name := range s.List() {
		if t, err := s.Open(name); err != nil || t.Member(Lead).Process.Alive() {
			continue // unreadable: the lead may still be running
		}
		t, err := s.Update(ctx, name, func(t *Team) error {
			if t.Member(Lead).Process.Alive() {
				return nil
			}
			return errors.Join(s.Delete(name), errEnded)
		})
		switch {
		case errors.Is(err, errEnded):
			removed = append(removed, t)
		case err != nil && !errors.Is(err, ErrUnknown):
			s.cfg.Log.Warn("a team without a lead was not removed", "team", name, "err", err)
		}
	}
	return removed
}

// List returns the names of the teams.
func (s *Store) List() []string {
	entries, _ := os.ReadDir(s.cfg.Dir) // ok: no teams
	var names []string
	for _, e := range entries {
		if e.IsDir() && safe(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// root opens the directory of the teams, which must not be a symlink.
func (s *Store) root() (*os.Root, error) {
	if err := fsys.MkdirPrivate(s.cfg.Dir); err != nil {
		return nil, err
	}
	info, err := os.Lstat(s.cfg.Dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is a link or no directory: teams are not kept there", s.cfg.Dir)
	}
	return os.OpenRoot(s.cfg.Dir)
}

// dir opens a team's directory, or a directory in it. No path component may be a symlink.
func (s *Store) dir(name string, more ...string) (*os.Root, error) {
	if !safe(name) {
		return nil, fmt.Errorf("%w: %q", ErrUnknown, clip(name))
	}
	dir, err := s.root()
	for _, step := range append([]string{name}, more...) {
		if err != nil {
			return nil, err
		}
		dir, err = descend(dir, step)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %s", ErrUnknown, name)
	}
	return dir, err
}

// descend opens a directory in dir, and closes dir.
func descend(dir *os.Root, name string) (*os.Root, error) {
	defer dir.Close()
	info, err := dir.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s in %s is a link or no directory", name, dir.Name())
	}
	return dir.OpenRoot(name)
}

// edit replaces a team's config with the result of change, which gets the old content, or nil
// if it does not exist. No other process can change it in the meantime.
func (s *Store) edit(ctx context.Context, name string, change func(old []byte) ([]byte, error)) error {
	dir, err := s.dir(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	return s.locked(ctx, dir, configFile, func(f *replace.File) error { return rewrite(f, change) })
}

// locked calls f with a file in dir that no other process can change in the meantime.
func (s *Store) locked(ctx context.Context, dir *os.Root, file string, f func(*replace.File) error) error {
	handle, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer handle.Close()
	locked, err := s.locks.Lock(ctx, handle, file)
	if err != nil {
		return fmt.Errorf("the file %s of a team: %w", file, err)
	}
	defer locked.Unlock()
	return f(locked)
}

// maxFile is the maximum size of a team's file, in bytes.
const maxFile = 2 << 20

// rewrite replaces the content of a locked file with the result of change, which gets the old
// content or nil. If change returns nil, the file is unchanged.
func rewrite(f *replace.File, change func(old []byte) ([]byte, error)) error {
	return statefile.File{Max: maxFile}.Rewrite(f, func(old *replace.Version) ([]byte, error) {
		if old == nil {
			return change(nil)
		}
		return change(old.Data)
	})
}
