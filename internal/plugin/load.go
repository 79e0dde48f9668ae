package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A Loaded plugin is one that was asked for. Plugin is nil with an error.
type Loaded struct {
	ID       ID
	Plugin   *Plugin
	Problems []Problem
	// Err says why it cannot be used: it is not installed ([ErrNotInstalled]), or its files are not those that were
	// installed (a [*ChangedError]).
	Err error
}

// ErrNotInstalled says that a plugin is not installed.
var ErrNotInstalled = errors.New("it is not installed")

// A ChangedError says that the files of a plugin are not those that were installed.
type ChangedError struct {
	ID
	Installed, Found string // hashes
}

// Error says what to do.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s: its files were changed after it was installed: they had the hash %s, and now have %s. It is not used; uninstall it and install it again", e.ID, e.Installed, e.Found)
}

// Load returns installed plugins, in the order of the ids. The files that say what a plugin runs, its manifest, hooks and
// servers, are compared with those that were installed.
func (s *Store) Load(ids ...ID) []Loaded {
	all := make([]Loaded, len(ids))
	st, err := s.read()
	for i, id := range ids {
		all[i].ID = id
		switch in := (*Installed)(nil); {
		case err != nil:
			all[i].Err = err
		default:
			if in = st.Installed[id.String()]; in == nil {
				all[i].Err = fmt.Errorf("%s: %w", id, ErrNotInstalled)
				continue
			}
			all[i] = s.load(in)
		}
	}
	return all
}

// load reads an installed plugin.
func (s *Store) load(in *Installed) Loaded {
	l := Loaded{ID: in.ID}
	r, err := openReader(s.pluginDir(in.ID, in.Hash))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: its files are gone: uninstall it and install it again", in.ID)
		}
		l.Err = err
		return l
	}
	defer r.root.Close()
	p, err := r.read(in.ID)
	l.Problems = r.problems
	if err != nil {
		l.Err = err
		return l
	}
	if digest := r.digest(); digest != in.Digest {
		l.Err = &ChangedError{in.ID, in.Digest, digest}
		return l
	}
	p.Hash, p.Commit, p.Data = in.Hash, in.Commit, s.Data(in.ID)
	if p.Version == "" {
		p.Version = in.Version
	}
	l.Plugin = p
	return l
}

// Verify compares all files of an installed plugin with those that were installed. The error is a [*ChangedError] if they
// differ.
func (s *Store) Verify(id ID) error {
	st, err := s.read()
	if err != nil {
		return err
	}
	in := st.Installed[id.String()]
	if in == nil {
		return fmt.Errorf("%s: %w", id, ErrNotInstalled)
	}
	root, err := os.OpenRoot(s.pluginDir(id, in.Hash))
	if err != nil {
		return fmt.Errorf("%s: its files are gone: %w", id, err)
	}
	defer root.Close()
	t, err := scan(root)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	if hash := t.hash(); hash != in.Hash {
		return &ChangedError{id, in.Hash, hash}
	}
	return nil
}
