package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/proc/parallel"
)

// A LoadResult is the result of loading one plugin. Plugin is nil if Err is set.
type LoadResult struct {
	ID       ID
	Plugin   *Plugin
	Problems []Problem
	// Err is the reason the plugin can't be used: it is not installed ([ErrNotInstalled]), or
	// its files have changed since installation (a [*ChangedError]).
	Err error
}

// ErrNotInstalled is returned for a plugin that is not installed.
var ErrNotInstalled = errors.New("it is not installed")

// A ChangedError reports that a plugin's files have changed since installation.
type ChangedError struct {
	ID
	Installed, Found string // hashes of all files
	File             string // the changed file, set instead of the hashes
}

// Error returns a message that explains how to fix the problem.
func (e *ChangedError) Error() string {
	if e.File != "" {
		return fmt.Sprintf("%s: its file %s was changed after it was installed; uninstall it and install it again", e.ID, e.File)
	}
	return fmt.Sprintf("%s: its files were changed after it was installed: they had the hash %s, and now have %s; uninstall it and install it again", e.ID, e.Installed, e.Found)
}

// Known returns installed plugins from the index, in the order of the ids, and false if the
// index lacks any of them. It does not check the plugins' files: [Store.Check], called before
// anything of a plugin runs, and [Store.Load] detect changes.
func (s *Store) Known(ids ...ID) ([]LoadResult, bool) {
	x := s.loadIndex()
	if x == nil {
		return nil, false
	}
	all := make([]LoadResult, len(ids))
	for i, id := range ids {
		entry, ok := x.plugins[id]
		if !ok {
			return nil, false
		}
		all[i] = LoadResult{ID: id, Plugin: entry.plugin, Problems: entry.problems}
	}
	s.kept.set(x)
	return all, true
}

// Check returns nil if an installed plugin's files are the ones it was loaded from.
func (s *Store) Check(p *Plugin) error {
	if entry, ok := s.kept.find(p.ID); ok && entry.plugin == p && entry.holds() {
		return nil
	}
	in, err := installed(s, p.ID)
	if err != nil {
		return err
	}
	if in.Hash != p.Hash {
		return fmt.Errorf("%s: it was updated; start a new session to use the new version", p.ID)
	}
	l, _ := s.load(in)
	if l.Err == nil && !l.Plugin.runsLike(p) {
		return fmt.Errorf("%s: another version of adze loaded it differently; it will be available once all plugins are loaded", p.ID)
	}
	return l.Err
}

// runsLike reports whether two plugins have the same components.
func (p *Plugin) runsLike(o *Plugin) bool {
	return bytes.Equal(p.Hooks, o.Hooks) && bytes.Equal(p.Servers, o.Servers) && bytes.Equal(p.Languages, o.Languages) && slices.Equal(p.Styles, o.Styles) &&
		slices.Equal(p.Skills, o.Skills) && slices.Equal(p.Commands, o.Commands) && slices.Equal(p.Agents, o.Agents)
}

// installed returns the state of an installed plugin.
func installed(s *Store, id ID) (*Installed, error) {
	st, err := s.read()
	if err != nil {
		return nil, err
	}
	in := st.Installed[id.String()]
	if in == nil {
		return nil, fmt.Errorf("%s: %w", id, ErrNotInstalled)
	}
	return in, nil
}

// Load returns installed plugins in the order of the ids. It verifies that their files are
// unchanged since installation; see [seal].
func (s *Store) Load(ids ...ID) []LoadResult {
	all := make([]LoadResult, len(ids))
	if len(ids) == 0 {
		return all
	}
	x := s.loadIndex()
	s.kept.set(nil) // its index is modified below
	var missing []int
	if x == nil || x.foreign {
		x = &index{plugins: map[ID]indexEntry{}}
		for i := range ids {
			missing = append(missing, i)
		}
	} else {
		missing = x.load(ids, all)
	}
	if len(missing) == 0 {
		return all
	}
	if info, err := os.Stat(s.File()); err == nil {
		x.state = filestate.StampOf(info)
	}
	st, err := s.read()
	entries := make([]*indexEntry, len(ids))
	parallel.Do(len(missing), func(n int) {
		i := missing[n]
		id := ids[i]
		all[i] = LoadResult{ID: id, Err: err}
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

// load fills in the plugins whose files are unchanged, and returns the indexes of the others.
func (x *index) load(ids []ID, all []LoadResult) (missing []int) {
	holds := make([]bool, len(ids))
	parallel.Do(len(ids), func(i int) {
		entry, ok := x.plugins[ids[i]]
		holds[i] = ok && entry.holds()
	})
	for i, id := range ids {
		if holds[i] {
			all[i] = LoadResult{ID: id, Plugin: x.plugins[id].plugin, Problems: x.plugins[id].problems}
		} else {
			missing = append(missing, i)
		}
	}
	return missing
}

// load reads an installed plugin. The index entry is nil if the files can't be identified by
// their stamps.
func (s *Store) load(in *Installed) (l LoadResult, entry *indexEntry) {
	l = LoadResult{ID: in.ID}
	r, err := openReader(s.pluginDir(in.ID, in.Hash), openInstalled)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: its files are gone: uninstall it and install it again", in.ID)
		}
		l.Err = err
		return l, nil
	}
	defer r.bundle.close()
	p, err := r.read(in.ID)
	l.Problems = r.problems
	if err != nil {
		l.Err = err
		return l, nil
	}
	if digest := r.digest(); digest != in.Digest {
		l.Err = &ChangedError{ID: in.ID, Installed: in.Digest, Found: digest}
		return l, nil
	}
	files, err := s.intact(in.ID, in.Hash)
	if err != nil {
		l.Err = err
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
	stamps := files.stamps(r.stamps)
	if !slices.ContainsFunc(stamps, func(f fileStamp) bool { return !f.sure(s.settled) }) {
		entry = &indexEntry{stamps, p, l.Problems}
	}
	return l, entry
}

// Verify compares all files of an installed plugin with the installed ones. The error is a
// [*ChangedError] if they differ.
func (s *Store) Verify(id ID) error {
	in, err := installed(s, id)
	if err != nil {
		return err
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
		return &ChangedError{ID: id, Installed: in.Hash, Found: hash}
	}
	return nil
}
