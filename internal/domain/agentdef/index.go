package agentdef

import (
	"encoding/json"
	"slices"
	"strings"

	"adze/internal/platform/fs/cachefile"
)

// The index caches parsed agent files with the stamps of the files and their directories, so
// that startup checks stamps instead of reading files. It does not determine which directories
// are used, and holds no approvals: definitions from the index are checked as if read from
// disk.
var indexFormat = cachefile.Format{Mark: "adze agents 2\n", Max: 64 << 20}

// fewFiles is the number of files up to which reading them is as fast as reading the index, so
// no index is written.
const fewFiles = 16

// keeps reports whether the index can hold a file: its stamp identifies it.
func (x *agentFile) keeps() bool { return x.sure && !x.link }

// loadIndex returns the content of this workspace's index, or of the most recently written one
// if this workspace has none, and whether another program wrote it. It returns nil if no index
// is usable.
func loadIndex(path string) (known map[Root]*folder, foreign bool) {
	if path == "" {
		return nil, false
	}
	r := indexFormat.Load(path)
	if r == nil {
		r = indexFormat.Load(cachefile.Newest(path))
	}
	if r == nil {
		return nil, false
	}
	return decodeIndex(r), r.Foreign()
}

// doubt makes the next scan read all files again, because another program read them.
func doubt(known map[Root]*folder) {
	for _, f := range known {
		f.sure = false
		for i := range f.files {
			f.files[i].sure = false
		}
	}
}

func decodeIndex(r *cachefile.Reader) map[Root]*folder {
	n := r.Count()
	known := make(map[Root]*folder, n)
	for range n {
		f := decodeFolder(r)
		if r.Failed() {
			return nil
		}
		known[f.root] = f
	}
	if !r.Whole() {
		return nil
	}
	return known
}

// save writes the index in the background if it is out of date. The caller holds mu.
func (l *Library) save(c *scanResult) {
	if l.cfg.Index == "" || !c.read || l.early && l.foreign {
		return
	}
	files := 0
	for _, f := range c.now {
		files += len(f.files)
	}
	if files < fewFiles {
		return
	}
	l.saver.Save(indexFormat, l.cfg.Index, func() *cachefile.Writer {
		l.mu.Lock()
		defer l.mu.Unlock()
		return encodeIndex(l.known)
	})
}

// Close waits briefly for an index that is being written.
func (l *Library) Close() { l.saver.Close() }

func encodeIndex(known map[Root]*folder) *cachefile.Writer {
	const perFolder = 450 // approximate bytes
	w := &cachefile.Writer{}
	w.Grow(perFolder * len(known))
	w.Number(uint64(len(known)))
	for _, f := range known {
		w.Text(f.root.Path, f.root.Source.By, f.root.Prefix, f.root.Within)
		w.Number(uint64(f.root.Source.Kind))
		w.Stamp(f.stamp)
		w.Flags(f.sure, f.root.Fixed)
		w.Number(uint64(f.total))
		w.Number(uint64(len(f.files)))
		for i := range f.files {
			f.files[i].encode(w)
		}
	}
	return w
}

func decodeFolder(r *cachefile.Reader) *folder {
	f := &folder{root: Root{Path: r.Text(), Source: Source{By: r.Text()}, Prefix: r.Text(), Within: r.Text()}}
	f.root.Source.Kind = Kind(r.Number())
	f.stamp = r.Stamp()
	flags := r.Flags()
	f.sure, f.root.Fixed, f.total = flags[0], flags[1], int(r.Number())
	f.files = make([]agentFile, r.Count())
	for i := range f.files {
		if f.files[i].decode(r, f); r.Failed() {
			return f
		}
	}
	if !slices.IsSortedFunc(f.files, func(a, b agentFile) int { return strings.Compare(a.name, b.name) }) {
		f.files, f.sure = nil, false
	}
	return f
}

// encode writes a file, or only its name if its stamp does not identify it.
func (x *agentFile) encode(w *cachefile.Writer) {
	w.Text(x.name)
	w.Flags(x.keeps(), x.made != nil)
	if !x.keeps() {
		return
	}
	w.Stamp(x.stamp)
	w.Number(uint64(len(x.problems)))
	for _, p := range x.problems {
		w.Text(p.Field, p.Text)
		w.Number(uint64(p.Line))
	}
	if x.made != nil {
		x.made.encode(w)
	}
}

func (x *agentFile) decode(r *cachefile.Reader, f *folder) {
	x.name = r.Text()
	flags := r.Flags()
	if x.sure = flags[0]; !x.sure {
		return
	}
	x.stamp = r.Stamp()
	path := f.path(x.name)
	for range r.Count() {
		x.problems = append(x.problems, Problem{File: path, Field: r.Text(), Text: r.Text(), Line: int(r.Number())})
	}
	if !flags[1] {
		return
	}
	x.made = &Definition{Source: f.root.Source, File: path}
	if !x.made.decode(r) {
		x.sure, x.made, x.problems = false, nil, nil
	}
}

// encode writes all fields except source and file.
func (d *Definition) encode(w *cachefile.Writer) {
	w.Text(d.Name, d.Description, d.Prompt, d.Mode, d.Model, d.Effort, string(d.Hooks), string(d.Memory), d.InitialPrompt, d.Color)
	for _, list := range [][]string{d.Tools, d.Disallowed, d.Skills, d.Required} {
		w.List(list)
	}
	w.Number(uint64(d.MaxTurns))
	w.Flags(d.Background, d.Worktree, d.OmitInstructions, d.OneShot)
	w.Number(uint64(len(d.Servers)))
	for _, s := range d.Servers {
		w.Text(s.Name, string(s.Config))
	}
}

// decode reads the fields and reports whether the JSON in them is valid.
func (d *Definition) decode(r *cachefile.Reader) bool {
	var hooks, memory string
	for _, to := range []*string{&d.Name, &d.Description, &d.Prompt, &d.Mode, &d.Model, &d.Effort, &hooks, &memory, &d.InitialPrompt, &d.Color} {
		*to = r.Text()
	}
	for _, to := range []*[]string{&d.Tools, &d.Disallowed, &d.Skills, &d.Required} {
		*to = r.List()
	}
	d.MaxTurns = int(r.Number())
	flags := r.Flags()
	d.Background, d.Worktree, d.OmitInstructions, d.OneShot = flags[0], flags[1], flags[2], flags[3]
	d.Memory = Memory(memory)
	valid := true
	d.Hooks, valid = rawJSON(hooks, valid)
	for range r.Count() {
		s := Server{Name: r.Text()}
		s.Config, valid = rawJSON(r.Text(), valid)
		d.Servers = append(d.Servers, s)
	}
	return valid
}

// rawJSON returns text as JSON, or nil if it is empty, and whether it and all values before it
// are valid.
func rawJSON(text string, valid bool) (json.RawMessage, bool) {
	if text == "" {
		return nil, valid
	}
	return json.RawMessage(text), valid && json.Valid([]byte(text))
}
