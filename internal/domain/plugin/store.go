package plugin

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

	"adze/internal/platform/fs/cachefile"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/statefile"
)

// A Source is where a marketplace or a plugin is fetched from.
type Source struct {
	Kind Kind `json:"kind"`
	// At is an absolute path or an address.
	At string `json:"at"`
	// Ref is a branch or tag, and SHA a commit; empty means the repository's default. Path is a
	// directory in the repository.
	Ref  string `json:"ref,omitempty"`
	SHA  string `json:"sha,omitempty"`
	Path string `json:"path,omitempty"`
}

// A Kind is a kind of source.
type Kind string

// The kinds.
const (
	Directory Kind = "directory" // read in place
	Git       Kind = "git"
	URL       Kind = "url" // URL of a marketplace.json
)

// String returns the source as shown to users.
func (s Source) String() string {
	text := s.At
	if s.Path != "" && s.Path != "." {
		text += " (" + s.Path + ")"
	}
	if s.Ref != "" {
		text += " at " + s.Ref
	}
	return text
}

// A Market is a marketplace that the user added.
type Market struct {
	Name   string `json:"-"`
	Source Source `json:"source"`
	// Commit is the fetched commit; empty if the source is not a repository.
	Commit string    `json:"commit,omitempty"`
	At     time.Time `json:"at"` // time of the fetch
	// Tree is the name of its directory in the store; empty for a directory that is read in
	// place.
	Tree string `json:"tree,omitempty"`
}

// An Installed is the record of an installed plugin. It is pinned to the content with this hash
// and commit until the user updates it.
type Installed struct {
	ID      `json:"-"`
	Version string `json:"version,omitempty"`
	// Description comes from the marketplace and is used if the plugin has none.
	Description string `json:"description,omitempty"`
	Commit      string `json:"commit,omitempty"`
	// Hash covers all files, and Digest the files that determine the commands it runs.
	Hash   string    `json:"hash"`
	Digest string    `json:"digest"`
	Source Source    `json:"source"`
	At     time.Time `json:"at"`
	// OldVersion holds previous versions, whose files running sessions may still use.
	Former []OldVersion `json:"former,omitempty"`
}

// An OldVersion is a replaced version.
type OldVersion struct {
	Hash string    `json:"hash"`
	At   time.Time `json:"at"`
}

// formerTime is how long files of a replaced version are kept.
const formerTime = 7 * 24 * time.Hour

// maxState bounds the store's state file, in bytes.
const maxState = 16 << 20

// A Store records the known marketplaces and installed plugins, and holds their files. It is
// safe for concurrent use, also by other processes: if a process is killed, the previous state
// remains.
type Store struct {
	places
	locks   *replace.Replacer
	settled time.Duration // see [settled]
	few     int           // see [fewPlugins]
	saver   cachefile.Saver
	kept    indexCache
}

// OpenStore returns the store in directory plugins of the state home. It does not touch the
// disk.
func OpenStore(home string) *Store {
	return &Store{places: places{filepath.Join(home, "plugins")}, locks: replace.New(filepath.Join(home, "locks")), settled: settled, few: fewPlugins}
}

// places computes the paths in a store.
type places struct{ dir string }

// File returns the path of the store's state file.
func (p places) File() string { return p.join("plugins.json") }

// IndexFile returns the path of the index.
func (p places) IndexFile() string { return p.join("index") }

// pluginDir returns the directory of a plugin's files.
func (p places) pluginDir(id ID, hash string) string {
	return p.join("cache", id.Market, id.Name, hash)
}

// join joins names that need no cleaning to a path in the store. It avoids filepath.Join
// because it is called for every plugin at each startup.
func (p places) join(names ...string) string {
	const sep = string(filepath.Separator)
	return p.dir + sep + strings.Join(names, sep)
}

// state is the content of the state file.
type state struct {
	Format    int                   `json:"format"`
	Markets   map[string]*Market    `json:"marketplaces"`
	Installed map[string]*Installed `json:"installed"`
}

const stateFormat = 1

// read returns the state, which is empty if the store does not exist.
func (s *Store) read() (*state, error) {
	data, err := fsys.ReadSmall(s.File(), maxState)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading %s: %w", s.File(), err)
	}
	return s.parse(data)
}

func (s *Store) parse(data []byte) (*state, error) {
	st := &state{Format: stateFormat}
	if len(data) > 0 {
		if err := json.Unmarshal(data, st); err != nil {
			return nil, fmt.Errorf("reading %s: %w: repair it, or remove the folder and install your plugins again", s.File(), err)
		}
	}
	if st.Format != stateFormat {
		return nil, fmt.Errorf("reading %s: it was written by another version of adze", s.File())
	}
	if st.Markets == nil {
		st.Markets = map[string]*Market{}
	}
	if st.Installed == nil {
		st.Installed = map[string]*Installed{}
	}
	for name, m := range st.Markets {
		if m == nil || CheckName(name) != nil || m.Tree != "" && CheckName(m.Tree) != nil {
			return nil, fmt.Errorf("reading %s: the marketplace %q is damaged", s.File(), name)
		}
		m.Name = name
	}
	for text, in := range st.Installed {
		id, err := ParseID(text)
		if err != nil || in == nil || CheckName(in.Hash) != nil || slices.ContainsFunc(in.Former, func(f OldVersion) bool { return CheckName(f.Hash) != nil }) {
			return nil, fmt.Errorf("reading %s: the plugin %q is damaged", s.File(), text)
		}
		in.ID = id
	}
	return st, nil
}

// change updates the state atomically, and cleans up after killed processes.
func (s *Store) change(ctx context.Context, f func(*state) error) error {
	file := statefile.File{Path: s.File(), Max: maxState, Locks: s.locks, Doing: "changing " + s.File()}
	return file.Hold(ctx, func(held *replace.File) error {
		var st *state
		err := file.Rewrite(held, func(old *replace.Version) (data []byte, err error) {
			if old != nil {
				data = old.Data
			}
			if st, err = s.parse(data); err != nil {
				return nil, err
			}
			s.clean(st)
			if err := f(st); err != nil {
				s.clean(st) // remove unwanted files that f moved into place
				return nil, err
			}
			return statefile.Encode(st)
		})
		if err != nil {
			return err
		}
		_ = os.Remove(s.IndexFile()) // ok: it is out of date, and may be gone
		s.clean(st)
		return nil
	})
}

// Markets returns the added marketplaces, by name.
func (s *Store) Markets() ([]Market, error) {
	st, err := s.read()
	if err != nil {
		return nil, err
	}
	var all []Market
	for _, name := range slices.Sorted(maps.Keys(st.Markets)) {
		all = append(all, *st.Markets[name])
	}
	return all, nil
}

// Installed returns the installed plugins, ordered by id.
func (s *Store) Installed() ([]Installed, error) {
	st, err := s.read()
	if err != nil {
		return nil, err
	}
	var all []Installed
	for _, id := range slices.Sorted(maps.Keys(st.Installed)) {
		all = append(all, *st.Installed[id])
	}
	return all, nil
}

// Data returns the directory for a plugin's own data, which need not exist.
func (s *Store) Data(id ID) string {
	market := id.Market
	if market == "" {
		market = "_"
	}
	return s.join("data", market, id.Name)
}

// MarketDir returns the directory of a marketplace's files.
func (s *Store) MarketDir(m Market) string {
	if m.Source.Kind == Directory {
		return m.Source.At
	}
	return filepath.Join(s.dir, "markets", m.Name, m.Tree)
}

// SetMarket adds or updates a marketplace. If tree is not empty, it is a staged directory with
// the marketplace's files, and is moved into the store. An existing marketplace of the same
// name must have the same source.
func (s *Store) SetMarket(ctx context.Context, m Market, tree string) error {
	if err := CheckName(m.Name); err != nil {
		return err
	}
	return s.change(ctx, func(st *state) error {
		for name, old := range st.Markets {
			if strings.EqualFold(name, m.Name) && (name != m.Name || old.Source != m.Source) {
				return fmt.Errorf("a marketplace called %s is known already, from %s: remove it first if you want the one from %s", name, old.Source, m.Source)
			}
		}
		if tree != "" {
			if err := s.move(tree, s.MarketDir(m)); err != nil {
				return err
			}
		}
		st.Markets[m.Name] = &m
		return nil
	})
}

// RemoveMarket removes a marketplace. Plugins from it must be uninstalled first.
func (s *Store) RemoveMarket(ctx context.Context, name string) error {
	return s.change(ctx, func(st *state) error {
		if st.Markets[name] == nil {
			return fmt.Errorf("no marketplace is called %s", name)
		}
		var used []string
		for _, id := range slices.Sorted(maps.Keys(st.Installed)) {
			if st.Installed[id].Market == name {
				used = append(used, id)
			}
		}
		if len(used) > 0 {
			return fmt.Errorf("plugins are installed from %s: uninstall %s first", name, strings.Join(used, ", "))
		}
		delete(st.Markets, name)
		return nil
	})
}

// A PinError reports that a marketplace offers different content under an installed version.
type PinError struct {
	ID
	Version string
	// Old is the installed hash, and New the offered one.
	Old, New string
}

// Error returns a message that explains how to proceed.
func (e *PinError) Error() string {
	return fmt.Sprintf("%s: version %s was changed after you installed it: its files had the hash %s, and now have %s. It is not updated; if you trust the change, uninstall the plugin and install it again",
		e.ID, e.Version, e.Old, e.New)
}

// CheckPin returns a *PinError if in has different content for the installed version, or nil.
func (s *Store) CheckPin(in Installed) error {
	st, err := s.read()
	if err != nil {
		return err
	}
	return checkPin(st, in)
}

func checkPin(st *state, in Installed) error {
	old := st.Installed[in.ID.String()]
	if old == nil || old.Hash == in.Hash {
		return nil
	}
	if old.Version != "" && old.Version == in.Version || old.Commit != "" && old.Commit == in.Commit && old.Source == in.Source {
		version := in.Version
		if version == "" {
			version = in.Commit
		}
		return &PinError{in.ID, version, old.Hash, in.Hash}
	}
	return nil
}

// Install moves the files in tree, a staged directory, into the store as the plugin in.ID.
// Their hash must still be the one in in. It returns the plugin as loaded from its new
// location.
func (s *Store) Install(ctx context.Context, in Installed, tree string) (*Plugin, error) {
	if _, err := ParseID(in.ID.String()); err != nil {
		return nil, err
	}
	err := s.change(ctx, func(st *state) error {
		hash, digest, err := inspect(tree, in.ID)
		if err != nil {
			return err
		}
		if hash != in.Hash {
			return fmt.Errorf("installing %s: its files have changed: the hash was %s and is now %s", in.ID, in.Hash, hash)
		}
		in.Digest = digest
		if err := checkPin(st, in); err != nil {
			return err
		}
		for id := range st.Installed {
			if strings.EqualFold(id, in.ID.String()) && id != in.ID.String() {
				return fmt.Errorf("installing %s: %s is installed, and some systems cannot tell the names apart", in.ID, id)
			}
		}
		target := s.pluginDir(in.ID, hash)
		if there, _, err := inspect(target, in.ID); err != nil || there != hash {
			if err := s.move(tree, target); err != nil {
				return err
			}
		}
		in.Former = nil
		if old := st.Installed[in.ID.String()]; old != nil {
			in.Former = slices.DeleteFunc(slices.Clone(old.Former), func(f OldVersion) bool { return f.Hash == hash || time.Since(f.At) > formerTime })
			if old.Hash != hash {
				in.Former = append(in.Former, OldVersion{old.Hash, in.At})
			}
		}
		st.Installed[in.ID.String()] = &in
		return nil
	})
	if err != nil {
		return nil, err
	}
	loaded := s.Load(in.ID)[0]
	return loaded.Plugin, loaded.Err
}

// inspect returns the hashes of a directory that may be installed.
func inspect(dir string, id ID) (hash, digest string, err error) {
	r, err := openReader(dir, openBundle)
	if err != nil {
		return "", "", err
	}
	defer r.bundle.close()
	if _, err = r.scan(id); err != nil {
		return "", "", err
	}
	if len(r.tree.escapes) > 0 {
		return "", "", fmt.Errorf("%s: %w", id, linkError(r.tree.escapes[0]))
	}
	if _, err = r.read(id); err != nil {
		return "", "", err
	}
	return r.tree.hash(), r.digest(), nil
}

// Uninstall removes a plugin with all its files, and its own data if data is true. An empty
// data directory is always removed.
func (s *Store) Uninstall(ctx context.Context, id ID, data bool) error {
	err := s.change(ctx, func(st *state) error {
		if st.Installed[id.String()] == nil {
			return fmt.Errorf("%s is not installed", id)
		}
		delete(st.Installed, id.String())
		return nil
	})
	if err != nil {
		return err
	}
	if data {
		if err := os.RemoveAll(s.Data(id)); err != nil {
			return fmt.Errorf("removing the data of %s: %w", id, err)
		}
	}
	for dir := s.Data(id); dir != s.dir; dir = filepath.Dir(dir) {
		_ = os.Remove(dir) // ok: something is kept in it, or it is gone
	}
	return nil
}
