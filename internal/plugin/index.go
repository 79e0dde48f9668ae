package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/cachefile"
	"adze/internal/platform/filestate"
)

// The index holds the plugins as they were loaded, with the stamps of all their files, so that a start
// looks at the stamps instead of reading the files. It is a cache: what is wrong with it makes loading slower, and is not
// reported. It does not say which plugins are used, nor what the user has agreed to.
var indexFormat = cachefile.Format{Mark: "adze plugins 4\n", Max: 64 << 20}

const (
	// settled is how old a file must be to be known by its stamp: one that is changed twice at once can have one stamp.
	settled = time.Second
	// fewPlugins are read as fast as the index, which need not be written then.
	fewPlugins = 16
)

// An index is what was known when it was written.
type index struct {
	state   filestate.Stamp // of the file of the store
	plugins map[ID]indexed
	foreign bool // another program has read the plugins: what they run must be read again before it runs
}

// An indexed plugin is one that was loaded.
type indexed struct {
	stamps   []fileStamp
	plugin   *Plugin
	problems []Problem
}

type fileStamp struct {
	name  string // in the folder of the plugin
	stamp filestate.Stamp
}

// A keeper keeps the index of plugins that were not looked at yet. It is safe for concurrent use.
type keeper struct {
	mu    sync.Mutex
	index *index // may be nil
}

func (k *keeper) set(x *index) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.index = x
}

// of returns the index if it is of a state of the store, or nil.
func (k *keeper) of(state filestate.Stamp) *index {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.index == nil || k.index.state != state {
		return nil
	}
	return k.index
}

// find returns what the index knows of a plugin.
func (k *keeper) find(id ID) (indexed, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.index == nil || k.index.foreign {
		return indexed{}, false
	}
	entry, ok := k.index.plugins[id]
	return entry, ok
}

// loadIndex returns the index, or nil if there is none that can be used.
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

// holds reports whether the files of a plugin are those that were read.
func (x indexed) holds() bool {
	for _, f := range x.stamps {
		info, err := os.Lstat(x.plugin.Dir + string(filepath.Separator) + f.name) // slashes are as good as separators
		if err != nil || filestate.StampOf(info) != f.stamp {
			return false
		}
	}
	return true
}

// sure reports whether a file is known by its stamp: it is no link, and was not changed within the time that stamps take to
// settle.
func (f fileStamp) sure(settled time.Duration) bool {
	return f.stamp.CTime != 0 && time.Since(time.Unix(0, f.stamp.CTime)) >= settled
}

// save writes an index in the background. The stamp of the store's file is that from before it was read, so that an index that
// is late is known to be out of date.
func (s *Store) save(x *index) {
	if len(x.plugins) < s.few || x.state.CTime == 0 || time.Since(time.Unix(0, x.state.CTime)) < s.settled {
		return
	}
	s.saver.Save(indexFormat, s.IndexFile(), x.encode)
}

// Close waits for an index that is being written, for a short time.
func (s *Store) Close() { s.saver.Close() }

// encode returns an index as it is written.
func (x *index) encode() *cachefile.Writer {
	const perPlugin = 800 // bytes, about
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
			options, _ = json.Marshal(m.Options) // ok: texts, and JSON that was read
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

// maxTogether is for how many plugins there is room at a time: a file that is damaged may claim any number.
const maxTogether = 512

// decodeIndex returns what was encoded, or nil.
func decodeIndex(d *cachefile.Reader, s *Store) *index {
	x := &index{foreign: d.Foreign(), state: d.Stamp()}
	n := d.Count()
	x.plugins = make(map[ID]indexed, n)
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
		entry := indexed{plugin: p, stamps: make([]fileStamp, d.Count())}
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

// within reports whether a path is a folder, or lies in it.
func within(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// raw returns JSON, or nil if there is none.
func raw(d *cachefile.Reader) json.RawMessage {
	if s := d.Text(); s != "" {
		return json.RawMessage(s)
	}
	return nil
}
