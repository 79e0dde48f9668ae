package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/fs/cachefile"
	"adze/internal/platform/fs/filestate"
)

// The index caches loaded plugins with the stamps of all their files, so that startup checks
// stamps instead of reading files. A damaged index only makes loading slower and is not
// reported. It does not record which plugins are enabled or approved.
var indexFormat = cachefile.Format{Mark: "adze plugins 4\n", Max: 64 << 20}

const (
	// settled is the minimum age of a file that can be identified by its stamp: a file changed
	// twice in quick succession may keep the same stamp.
	settled = time.Second
	// fewPlugins is the number of plugins up to which reading them is as fast as reading the
	// index, so no index is written.
	fewPlugins = 16
)

// An index is the decoded index file.
type index struct {
	state   filestate.Stamp // stamp of the store's state file
	plugins map[ID]indexEntry
	foreign bool // written by another adze version: re-read plugins before they run
}

// An indexEntry is a loaded plugin with the stamps of its files.
type indexEntry struct {
	stamps   []fileStamp
	plugin   *Plugin
	problems []Problem
}

type fileStamp struct {
	name  string // relative to the plugin's directory
	stamp filestate.Stamp
}

// An indexCache holds the index of plugins whose files have not been checked yet. It is safe for
// concurrent use.
type indexCache struct {
	mu    sync.Mutex
	index *index // may be nil
}

func (k *indexCache) set(x *index) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.index = x
}

// of returns the index if it matches the store's state, or nil.
func (k *indexCache) of(state filestate.Stamp) *index {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.index == nil || k.index.state != state {
		return nil
	}
	return k.index
}

// find returns the index entry for a plugin.
func (k *indexCache) find(id ID) (indexEntry, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.index == nil || k.index.foreign {
		return indexEntry{}, false
	}
	entry, ok := k.index.plugins[id]
	return entry, ok
}

// loadIndex returns the index, or nil if there is no usable one.
func (s *Store) loadIndex() *index {
	info, err := os.Stat(s.File())
	if err != nil {
		return nil
	}
	if x := s.kept.of(filestate.StampOf(info)); x != nil {
		return x
	}
	r := indexFormat.Load(s.IndexFile())
	if r == nil {
		return nil
	}
	x := decodeIndex(r, s)
	if x == nil || x.state != filestate.StampOf(info) {
		return nil
	}
	return x
}

// holds reports whether the plugin's files still have the recorded stamps.
func (x indexEntry) holds() bool {
	for _, f := range x.stamps {
		info, err := os.Lstat(x.plugin.Dir + string(filepath.Separator) + f.name) // slashes work as separators
		if err != nil || filestate.StampOf(info) != f.stamp {
			return false
		}
	}
	return true
}

// sure reports whether the stamp identifies the file: it is not a symlink and has not changed
// within the settling time.
func (f fileStamp) sure(settled time.Duration) bool {
	return f.stamp.CTime != 0 && time.Since(time.Unix(0, f.stamp.CTime)) >= settled
}

// save writes an index in the background. The index carries the stamp the store's file had
// before it was read, so that an index written late is recognized as stale.
func (s *Store) save(x *index) {
	if len(x.plugins) < s.few || x.state.CTime == 0 || time.Since(time.Unix(0, x.state.CTime)) < s.settled {
		return
	}
	s.saver.Save(indexFormat, s.IndexFile(), x.encode)
}

// Close waits briefly for an index that is being written.
func (s *Store) Close() { s.saver.Close() }

// encode returns the index in its file format.
func (x *index) encode() *cachefile.Writer {
	const perPlugin = 800 // approximate bytes
	e := &cachefile.Writer{}
	e.Grow(perPlugin * len(x.plugins))
	e.Stamp(x.state)
	e.Number(uint64(len(x.plugins)))
	for id, p := range x.plugins {
		e.Text(id.Name, id.Market, p.plugin.Hash, p.plugin.Commit)
		e.Number(uint64(len(p.stamps)))
		for _, f := range p.stamps {
			e.Text(f.name)
			e.Stamp(f.stamp)
		}
		m := p.plugin.Manifest
		e.Text(m.Version, m.Description, m.Author, m.Homepage, m.Repository, m.License)
		e.List(m.Keywords)
		options := []byte{}
		if len(m.Options) > 0 {
			options, _ = json.Marshal(m.Options) // ok: strings and JSON that was parsed before
		}
		e.Text(string(options), string(p.plugin.Hooks), string(p.plugin.Servers), string(p.plugin.Languages))
		for _, list := range [][]string{p.plugin.Skills, p.plugin.Commands, p.plugin.Agents, p.plugin.Styles} {
			e.List(list)
		}
		e.Number(uint64(len(p.problems)))
		for _, problem := range p.problems {
			e.Text(problem.File, problem.Field, problem.Text)
		}
	}
	return e
}

// maxTogether is the number of plugins allocated at a time, because a damaged file may claim
// any number.
const maxTogether = 512

// decodeIndex decodes an index, or returns nil.
func decodeIndex(d *cachefile.Reader, s *Store) *index {
	x := &index{foreign: d.Foreign(), state: d.Stamp()}
	n := d.Count()
	x.plugins = make(map[ID]indexEntry, n)
	all := make([]Plugin, min(n, maxTogether))
	for range n {
		if len(all) == 0 {
			all = make([]Plugin, maxTogether)
		}
		p := &all[0]
		all = all[1:]
		p.ID, p.Hash, p.Commit = ID{d.Text(), d.Text()}, d.Text(), d.Text()
		if CheckName(p.Name) != nil || CheckName(p.Market) != nil || CheckName(p.Hash) != nil {
			return nil
		}
		p.Dir, p.Data = s.pluginDir(p.ID, p.Hash), s.Data(p.ID)
		entry := indexEntry{plugin: p, stamps: make([]fileStamp, d.Count())}
		for i := range entry.stamps {
			entry.stamps[i] = fileStamp{d.Text(), d.Stamp()}
		}
		p.Manifest = Manifest{Version: d.Text(), Description: d.Text(), Author: d.Text(), Homepage: d.Text(), Repository: d.Text(), License: d.Text(), Keywords: d.List()}
		if options := d.Text(); options != "" && json.Unmarshal([]byte(options), &p.Options) != nil {
			return nil
		}
		p.Hooks, p.Servers, p.Languages = raw(d), raw(d), raw(d)
		for _, list := range []*[]string{&p.Skills, &p.Commands, &p.Agents, &p.Styles} {
			if *list = d.List(); slices.ContainsFunc(*list, func(path string) bool { return !within(p.Dir, path) }) {
				return nil // the store was moved
			}
		}
		for range d.Count() {
			entry.problems = append(entry.problems, Problem{d.Text(), d.Text(), d.Text()})
		}
		if d.Failed() {
			return nil
		}
		x.plugins[p.ID] = entry
	}
	return x
}

// within reports whether path is dir or lies below it.
func within(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// raw returns a JSON value, or nil if it is empty.
func raw(d *cachefile.Reader) json.RawMessage {
	if s := d.Text(); s != "" {
		return json.RawMessage(s)
	}
	return nil
}
