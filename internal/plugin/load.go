package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"adze/internal/platform/filestate"
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
// servers, are those that were installed.
func (s *Store) Load(ids ...ID) []Loaded {
	all := make([]Loaded, len(ids))
	if len(ids) == 0 {
		return all
	}
	x := s.loadIndex()
	var missing []int
	if x == nil {
		x = &index{plugins: map[ID]indexed{}}
		for i := range ids {
			missing = append(missing, i)
		}
	} else {
		missing = x.load(ids, all)
	}
	if len(missing) == 0 {
		return all
	}
	if info, err := os.Stat(s.file()); err == nil {
		x.state = filestate.StampOf(info)
	}
	st, err := s.read()
	entries := make([]*indexed, len(ids))
	inParallel(len(missing), func(n int) {
		i := missing[n]
		id := ids[i]
		all[i] = Loaded{ID: id, Err: err}
		if err != nil {
			return
		}
		in := st.Installed[id.String()]
		if in == nil {
			all[i].Err = fmt.Errorf("%s: %w", id, ErrNotInstalled)
			return
		}
		all[i], entries[i] = s.load(in)
	})
	grown := false
	for i, entry := range entries {
		if entry != nil {
			x.plugins[ids[i]], grown = *entry, true
		}
	}
	if grown {
		for id := range x.plugins {
			if st.Installed[id.String()] == nil {
				delete(x.plugins, id)
			}
		}
		s.save(x)
	}
	return all
}

// load sets the plugins that are as they were, and returns which of the ids are not.
func (x *index) load(ids []ID, all []Loaded) (missing []int) {
	holds := make([]bool, len(ids))
	inParallel(len(ids), func(i int) {
		entry, ok := x.plugins[ids[i]]
		holds[i] = ok && entry.holds()
	})
	for i, id := range ids {
		if holds[i] {
			all[i] = Loaded{ID: id, Plugin: x.plugins[id].plugin, Problems: x.plugins[id].problems}
		} else {
			missing = append(missing, i)
		}
	}
	return missing
}

// inParallel calls f with the numbers below n: looking at files is mostly waiting for the system.
func inParallel(n int, f func(int)) {
	const workers = 4
	if n < 2*workers {
		for i := range n {
			f(i)
		}
		return
	}
	var work sync.WaitGroup
	for w := range workers {
		work.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	work.Wait()
}

// load reads an installed plugin. The entry for the index is nil if its files cannot be known by their stamps.
func (s *Store) load(in *Installed) (l Loaded, entry *indexed) {
	l = Loaded{ID: in.ID}
	r, err := openReader(s.pluginDir(in.ID, in.Hash))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: its files are gone: uninstall it and install it again", in.ID)
		}
		l.Err = err
		return l, nil
	}
	defer r.root.Close()
	var stamps []fileStamp
	known := true
	r.before = func(name string) { // a stamp from after reading could be that of another content
		stamp, ok := s.stampOf(r.dir, name)
		stamps, known = append(stamps, stamp), known && ok
	}
	p, err := r.read(in.ID)
	l.Problems = r.problems
	if err != nil {
		l.Err = err
		return l, nil
	}
	if digest := r.digest(); digest != in.Digest {
		l.Err = &ChangedError{in.ID, in.Digest, digest}
		return l, nil
	}
	p.Hash, p.Commit, p.Data = in.Hash, in.Commit, s.Data(in.ID)
	if p.Version == "" {
		p.Version = in.Version
	}
	if p.Description == "" {
		p.Description = in.Description
	}
	l.Plugin = p
	if known {
		entry = &indexed{stamps, p, l.Problems}
	}
	return l, entry
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
	t, err := scan(root, id)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	if hash := t.hash(); hash != in.Hash {
		return &ChangedError{id, in.Hash, hash}
	}
	return nil
}
