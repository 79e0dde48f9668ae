package plugin

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/platform/filestate"
	"adze/internal/platform/fsys"
	"adze/internal/platform/replace"
)

// The index holds the plugins as they were loaded, with the stamps of the files that say what they run, so that a start
// looks at the stamps instead of reading the files. It is a cache: what is wrong with it makes loading slower, and is not
// reported.
const (
	indexMark = "adze plugins 1\n"
	maxIndex  = 64 << 20
	// settled is how old a file must be to be known by its stamp: one that is changed twice at once can have one stamp.
	settled = time.Second
	// fewPlugins are read as fast as the index, which need not be written then.
	fewPlugins = 16
)

// An index is what was known when it was written.
type index struct {
	program filestate.Stamp // that wrote it: another one may read plugins in another way
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
	data, err := fsys.ReadSmall(s.indexFile(), maxIndex)
	if err != nil {
		return nil
	}
	x := decodeIndex(data, s)
	if x == nil || x.state != filestate.StampOf(info) || x.program != program() {
		return nil
	}
	return x
}

// program returns the stamp of this program; zero if it cannot be found.
func program() filestate.Stamp {
	path, err := os.Executable()
	if err != nil {
		return filestate.Stamp{}
	}
	info, err := os.Stat(path)
	if err != nil {
		return filestate.Stamp{}
	}
	return filestate.StampOf(info)
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
		x.program = program()
		_ = replace.WriteFile(s.indexFile(), x.encode(), 0o600) // ok: the next start reads the files
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
func (x *index) encode() []byte {
	e := &indexEncoder{}
	e.stamp(x.program)
	e.stamp(x.state)
	e.number(uint64(len(x.plugins)))
	for id, p := range x.plugins {
		e.texts(id.Name, id.Market, p.plugin.Hash, p.plugin.Commit)
		e.number(uint64(len(p.stamps)))
		for _, f := range p.stamps {
			e.text(f.name)
			e.stamp(f.stamp)
		}
		m := p.plugin.Manifest
		e.texts(m.Version, m.Description, m.Author, m.Homepage, m.Repository, m.License)
		e.list(m.Keywords)
		options := []byte{}
		if len(m.Options) > 0 {
			options, _ = json.Marshal(m.Options) // ok: texts, and JSON that was read
		}
		e.texts(string(options), string(p.plugin.Hooks), string(p.plugin.Servers), string(p.plugin.Languages))
		dir := p.plugin.Dir
		for _, list := range [][]string{p.plugin.Skills, p.plugin.Commands, p.plugin.Agents, p.plugin.Styles} {
			e.number(uint64(len(list)))
			for _, path := range list {
				e.text(strings.TrimPrefix(path, dir))
			}
		}
		e.number(uint64(len(p.problems)))
		for _, problem := range p.problems {
			e.texts(problem.File, problem.Field, problem.Text)
		}
	}
	data := binary.LittleEndian.AppendUint32([]byte(indexMark), crc32.ChecksumIEEE(e.data))
	return append(data, e.data...)
}

// decodeIndex returns what was encoded, or nil.
func decodeIndex(data []byte, s *Store) *index {
	if len(data) < len(indexMark)+4 || string(data[:len(indexMark)]) != indexMark {
		return nil
	}
	sum := binary.LittleEndian.Uint32(data[len(indexMark):])
	data = data[len(indexMark)+4:]
	if crc32.ChecksumIEEE(data) != sum {
		return nil
	}
	d := &indexDecoder{data: string(data)}
	x := &index{program: d.stamp(), state: d.stamp()}
	n := d.count()
	x.plugins = make(map[ID]indexed, n)
	for range n {
		p := &Plugin{ID: ID{d.text(), d.text()}, Hash: d.text(), Commit: d.text()}
		if CheckName(p.Name) != nil || CheckName(p.Market) != nil || CheckName(p.Hash) != nil {
			return nil
		}
		p.Dir, p.Data = s.pluginDir(p.ID, p.Hash), s.Data(p.ID)
		entry := indexed{plugin: p, stamps: make([]fileStamp, d.count())}
		for i := range entry.stamps {
			entry.stamps[i] = fileStamp{d.text(), d.stamp()}
		}
		p.Manifest = Manifest{Version: d.text(), Description: d.text(), Author: d.text(), Homepage: d.text(), Repository: d.text(), License: d.text(), Keywords: d.list("")}
		if options := d.text(); options != "" && json.Unmarshal([]byte(options), &p.Options) != nil {
			return nil
		}
		p.Hooks, p.Servers, p.Languages = d.raw(), d.raw(), d.raw()
		p.Skills, p.Commands, p.Agents, p.Styles = d.list(p.Dir), d.list(p.Dir), d.list(p.Dir), d.list(p.Dir)
		for range d.count() {
			entry.problems = append(entry.problems, Problem{d.text(), d.text(), d.text()})
		}
		if d.failed {
			return nil
		}
		x.plugins[p.ID] = entry
	}
	return x
}

// An indexEncoder writes numbers and texts one after the other.
type indexEncoder struct{ data []byte }

func (e *indexEncoder) number(n uint64) { e.data = binary.AppendUvarint(e.data, n) }

func (e *indexEncoder) text(s string) {
	e.number(uint64(len(s)))
	e.data = append(e.data, s...)
}

func (e *indexEncoder) texts(all ...string) {
	for _, s := range all {
		e.text(s)
	}
}

func (e *indexEncoder) list(all []string) {
	e.number(uint64(len(all)))
	e.texts(all...)
}

func (e *indexEncoder) stamp(s filestate.Stamp) {
	for _, n := range []uint64{uint64(s.MTime), uint64(s.CTime), uint64(s.Size), s.Dev, s.Inode} {
		e.data = binary.LittleEndian.AppendUint64(e.data, n)
	}
}

// An indexDecoder reads them. After a mistake it has failed, and yields nothing.
type indexDecoder struct {
	data   string // what is left
	failed bool
}

func (d *indexDecoder) number() uint64 {
	var n uint64
	for i := 0; i < len(d.data) && i < binary.MaxVarintLen64; i++ {
		c := d.data[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.data = d.data[i+1:]
			return n
		}
	}
	d.data, d.failed = "", true
	return 0
}

// count returns a number of things, of which there cannot be more than bytes.
func (d *indexDecoder) count() int {
	n := d.number()
	if n > uint64(len(d.data)) {
		d.data, d.failed = "", true
		return 0
	}
	return int(n)
}

func (d *indexDecoder) text() string {
	n := d.count()
	s := d.data[:n]
	d.data = d.data[n:]
	return s
}

func (d *indexDecoder) raw() json.RawMessage {
	if s := d.text(); s != "" {
		return json.RawMessage(s)
	}
	return nil
}

// list returns texts with a prefix, or nil if there are none.
func (d *indexDecoder) list(prefix string) []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	all := make([]string, n)
	for i := range all {
		all[i] = prefix + d.text()
	}
	return all
}

func (d *indexDecoder) stamp() filestate.Stamp {
	var n [5]uint64
	if len(d.data) < 8*len(n) {
		d.data, d.failed = "", true
		return filestate.Stamp{}
	}
	for i := range n {
		n[i] = binary.LittleEndian.Uint64([]byte(d.data[8*i : 8*i+8]))
	}
	d.data = d.data[8*len(n):]
	return filestate.Stamp{MTime: int64(n[0]), CTime: int64(n[1]), Size: int64(n[2]), Dev: n[3], Inode: n[4]}
}
