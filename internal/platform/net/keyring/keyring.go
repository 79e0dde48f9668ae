// Package keyring stores the user's API keys and tokens in the operating system's keyring or in
// a private file. The file also records which keys are in the keyring, so that the keyring is
// only accessed for a key that is needed and known to be there.
package keyring

import (
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

// A Place is a storage location for a key.
type Place string

// Places.
const (
	Auto   Place = ""        // the keyring if available, otherwise the file
	System Place = "keyring" // the operating system's keyring
	File   Place = "file"
)

// An Entry describes a stored key without containing it.
type Entry struct {
	Name string
	// Host is the only host that the key may be sent to.
	Host  string
	Place Place
	Added time.Time
}

// ErrNotFound means that no key with the name is stored.
var ErrNotFound = errors.New("no key is stored")

// ErrLost means that a stored key is missing from the keyring.
var ErrLost = errors.New("the keyring no longer has the key")

// Name prefixes for MCP server tokens and plugin options. All other names are providers.
const (
	ServerPrefix = "mcp:"
	PluginPrefix = "plugin:"
)

// A Store stores keys by name. It is safe for concurrent use, also by several processes.
type Store struct {
	path   string
	locks  *replace.Replacer
	system system
}

// Open returns the store in adze's home directory. It does not read anything yet.
func Open(home string, locks *replace.Replacer) *Store {
	return &Store{filepath.Join(home, "credentials.json"), locks, system{service: "adze " + home, patience: patience}}
}

// Path returns the file's path.
func (s *Store) Path() string { return s.path }

// contents is the content of the file.
type contents struct {
	Version int               `json:"version"`
	Keys    map[string]record `json:"keys"`
}

type record struct {
	Host  string    `json:"host"`
	Place Place     `json:"place"`
	Key   string    `json:"key,omitempty"` // only if stored in the file
	Added time.Time `json:"added"`
}

func (c contents) entry(name string) (Entry, bool) {
	r, ok := c.Keys[name]
	return Entry{Name: name, Host: r.Host, Place: r.Place, Added: r.Added}, ok
}

const (
	version  = 1
	maxStore = 1 << 20
	maxKey   = 64 << 10
)

// List returns the stored keys' entries, sorted by name.
func (s *Store) List() ([]Entry, error) {
	c, err := s.read()
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, name := range slices.Sorted(maps.Keys(c.Keys)) {
		e, _ := c.entry(name)
		list = append(list, e)
	}
	return list, nil
}

// Get returns the key with the given name. The error is [ErrNotFound] if it does not exist.
func (s *Store) Get(ctx context.Context, name string) (string, error) {
	c, err := s.read()
	if err != nil {
		return "", err
	}
	switch r, ok := c.Keys[name]; {
	case !ok:
		return "", ErrNotFound
	case r.Place != System:
		return r.Key, nil
	}
	key, err := s.system.get(ctx, name)
	if errors.Is(err, ErrNotFound) {
		return "", fmt.Errorf("%w; store it again with `adze auth login %s`", ErrLost, name)
	}
	return key, err
}

// Set stores a key for a host, replacing any key with that name. It returns the new entry.
func (s *Store) Set(ctx context.Context, name, host, key string, to Place) (Entry, error) {
	if len(key) > maxKey {
		return Entry{}, fmt.Errorf("the key has %d bytes, which is more than any key", len(key))
	}
	if _, err := s.read(); err != nil { // fail before the keyring stores a key that the file cannot record
		return Entry{}, err
	}
	if to != File {
		err := s.system.set(ctx, name, key)
		var absent absentError
		switch {
		case err == nil:
			to = System
		case to == Auto && errors.As(err, &absent):
			to = File
		default:
			return Entry{}, err
		}
	}
	var was Entry
	e := Entry{Name: name, Host: host, Place: to, Added: time.Now().UTC().Truncate(time.Second)}
	err := s.change(ctx, func(c *contents) {
		was, _ = c.entry(name)
		r := record{Host: host, Place: to, Added: e.Added}
		if to == File {
			r.Key = key
		}
		c.Keys[name] = r
	})
	if err == nil && was.Place == System && to == File {
		if err = s.system.remove(ctx, name); errors.Is(err, ErrNotFound) {
			err = nil
		} else if err != nil {
			err = fmt.Errorf("the key is stored in the file, but the old one is still in the keyring: %w", err)
		}
	}
	return e, err
}

// Remove removes a key and returns its entry. The error is [ErrNotFound] if it does not exist.
func (s *Store) Remove(ctx context.Context, name string) (Entry, error) {
	c, err := s.read()
	if err != nil {
		return Entry{}, err
	}
	e, ok := c.entry(name)
	if !ok {
		return Entry{}, ErrNotFound
	}
	if e.Place == System {
		if err := s.system.remove(ctx, name); err != nil && !errors.Is(err, ErrNotFound) {
			return Entry{}, err
		}
	}
	return e, s.change(ctx, func(c *contents) { delete(c.Keys, name) })
}

// read returns the content of the file. A missing file counts as empty. It is an error if other
// users can read or replace the file.
func (s *Store) read() (contents, error) {
	info, err := os.Lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return contents{}, nil
	}
	if err == nil {
		err = s.private(info)
	}
	if err != nil {
		return contents{}, s.unusable(err)
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		return contents{}, s.unusable(err)
	}
	return s.decode(data)
}

func (s *Store) decode(data []byte) (c contents, err error) {
	if err := json.Unmarshal(data, &c); err != nil {
		return contents{}, s.unusable(errors.New("it is damaged; remove it, and store the keys again with `adze auth login`"))
	}
	if c.Version != version {
		return contents{}, s.unusable(fmt.Errorf("it has version %d, and this program knows version %d", c.Version, version))
	}
	return c, nil
}

// private returns an error if other users could have read or replaced the file. The error
// includes instructions to fix it.
func (s *Store) private(info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("it is a symbolic link; put the file itself there")
	case !info.Mode().IsRegular() || info.Size() > maxStore:
		return errors.New("not a credentials file; remove it")
	case !fsys.OwnPrivate(info):
		return fmt.Errorf("others can read it (%v); if it is yours, run: chmod 600 %s", info.Mode().Perm(), quoted(s.path))
	}
	dir := filepath.Dir(s.path)
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if othersWrite(info) {
		return fmt.Errorf("others can replace it; run: chmod go-w %s", quoted(dir))
	}
	return nil
}

// quoted quotes a path for the shell.
func quoted(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

func (s *Store) unusable(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("the stored keys in %s are not used: %w", s.path, err)
}

// change rewrites the file under a lock. It does not modify an invalid file.
func (s *Store) change(ctx context.Context, edit func(*contents)) error {
	err := statefile.File{Path: s.path, Locks: s.locks}.Hold(ctx, func(*replace.File) error {
		c, err := s.read()
		if err != nil {
			return err
		}
		if c.Version = version; c.Keys == nil {
			c.Keys = map[string]record{}
		}
		edit(&c)
		data, err := statefile.Encode(c)
		if err != nil {
			return err
		}
		return replace.WriteFile(s.path, data, 0o600)
	})
	if err != nil {
		return fmt.Errorf("storing keys: %w", err)
	}
	return nil
}
