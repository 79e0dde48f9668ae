package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/platform/cachefile"
	"adze/internal/platform/filestate"
)

// The index holds the plugins as they were loaded, with the stamps of the files that say what they run, so that a start
// looks at the stamps instead of reading the files. It is a cache: what is wrong with it makes loading slower, and is not
// reported. It does not say which plugins are used, nor what the user has agreed to.
var indexFormat = cachefile.Format{Mark: "adze plugins 2\n", Max: 64 << 20}

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

// loadIndex returns the index, or nil if there is none that can be used.
func (s *Store) loadIndex() *index {
	info, err := os.Stat(s.file())
	if err != nil {
		return nil
	}
	r := indexFormat.Load(s.indexFile())
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

// stampOf returns the stamp of a file in a folder, or false if it cannot be known by its stamp: because it is a link, or was
// changed just now.
func (s *Store) stampOf(dir, name string) (fileStamp, bool) {
	info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil || !info.Mode().IsRegular() {
		return fileStamp{}, false
	}
	stamp := filestate.StampOf(info)
	return fileStamp{name, stamp}, stamp.CTime != 0 && time.Since(time.Unix(0, stamp.CTime)) >= s.settled
}

// save writes an index in the background: the plugins can be used meanwhile, and a process that is killed leaves the one from
// before or none. The stamp of the store's file is that from before it was read, so that an index that is late is known to be
// out of date.
func (s *Store) save(x *index) {
	if len(x.plugins) < s.few || x.state.CTime == 0 || time.Since(time.Unix(0, x.state.CTime)) < s.settled {
		return
	}
	s.saving.Go(func() {
		_ = indexFormat.Save(s.indexFile(), x.encode()) // ok: the next start reads the files
	})
}

// closeWait is how long Close waits for an index that is being written.
const closeWait = time.Second

// Close waits for an index that is being written, for a short time.
func (s *Store) Close() {
	written := make(chan struct{})
	go func() {
		s.saving.Wait()
		close(written)
	}()
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-written:
	case <-timer.C:
	}
}

// encode returns an index as it is written.
func (x *index) encode() *cachefile.Writer {
	e := &cachefile.Writer{}
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
		dir := p.plugin.Dir
		for _, list := range [][]string{p.plugin.Skills, p.plugin.Commands, p.plugin.Agents, p.plugin.Styles} {
			e.Number(uint64(len(list)))
			for _, path := range list {
				e.Text(strings.TrimPrefix(path, dir))
			}
		}
		e.Number(uint64(len(p.problems)))
		for _, problem := range p.problems {
			e.Text(problem.File, problem.Field, problem.Text)
		}
	}
	return e
}

// decodeIndex returns what was encoded, or nil.
func decodeIndex(d *cachefile.Reader, s *Store) *index {
	x := &index{state: d.Stamp()}
	n := d.Count()
	x.plugins = make(map[ID]indexed, n)
	for range n {
		p := &Plugin{ID: ID{d.Text(), d.Text()}, Hash: d.Text(), Commit: d.Text()}
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
		p.Skills, p.Commands, p.Agents, p.Styles = below(d, p.Dir), below(d, p.Dir), below(d, p.Dir), below(d, p.Dir)
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

// raw returns JSON, or nil if there is none.
func raw(d *cachefile.Reader) json.RawMessage {
	if s := d.Text(); s != "" {
		return json.RawMessage(s)
	}
	return nil
}

// below returns paths in a folder, or nil if there are none.
func below(d *cachefile.Reader, dir string) []string {
	n := d.Count()
	if n == 0 {
		return nil
	}
	all := make([]string, n)
	for i := range all {
		all[i] = dir + d.Text()
	}
	return all
}
