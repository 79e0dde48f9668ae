package library

import (
	"encoding/json"
	"slices"
	"strings"

	"adze/internal/domain/skill"
	"adze/internal/platform/fs/cachefile"
)

// The index caches parsed skills so that startup compares file times instead of reading files.
// Entries written by another adze version are shown, but re-read before use. The index belongs
// to the user, like the user's skills, and does not determine which skills are used.
var indexFormat = cachefile.Format{Mark: "adze skills 3\n", Max: 32 << 20}

// loadIndex returns the content of the index and whether another program wrote it, or nil if it
// is unusable.
func loadIndex(path string) (known map[key]*folder, foreign bool) {
	if path == "" {
		return nil, false
	}
	r := indexFormat.Load(path)
	if r == nil {
		return nil, false
	}
	return decodeIndex(r), r.Foreign()
}

// loadNewest loads the most recently written index in path's directory. The skills of the user
// and of plugins are the same in every workspace, and the scan drops directories of other
// workspaces.
func loadNewest(path string) (known map[key]*folder, foreign bool) {
	if path == "" {
		return nil, false
	}
	return loadIndex(cachefile.Newest(path))
}

// doubt makes the next scan read all files again, because another program read them.
func doubt(known map[key]*folder) {
	for _, f := range known {
		f.doubt()
	}
}

func (f *folder) doubt() {
	f.sure = false
	for _, e := range f.entries {
		if e.file != nil {
			e.file.sure = false
		}
		if e.sub != nil {
			e.sub.doubt()
		}
	}
}

func encodeIndex(known map[key]*folder) *cachefile.Writer {
	const perFolder, perEntry = 200, 320 // approximate bytes
	w := &cachefile.Writer{}
	room := len(known) * perFolder
	for _, f := range known {
		room += len(f.entries) * perEntry
	}
	w.Grow(room)
	w.Number(uint64(len(known)))
	for _, f := range known {
		f.encode(w)
	}
	return w
}

// decodeIndex decodes an index, or returns nil.
func decodeIndex(r *cachefile.Reader) map[key]*folder {
	n := r.CountOf(minFolder)
	known := make(map[key]*folder, n)
	folders := make([]folder, n)
	for i := range folders {
		f := &folders[i]
		if f.decode(r, 0); r.Failed() {
			return nil
		}
		known[key{f.path, f.commands}] = f
	}
	if !r.Whole() {
		return nil
	}
	return known
}

// maxTogether is the number of records allocated at a time, because a damaged file may claim any
// number.
const maxTogether = 512

// Minimum encoded sizes of a folder, an entry and a problem.
const (
	minFolder  = 44
	minEntry   = 2
	minProblem = 3
)

func (f *folder) encode(w *cachefile.Writer) {
	w.Text(f.path)
	w.Flags(f.commands, f.single, f.sure, f.more)
	w.Stamp(f.stamp)
	w.Text(f.broken)
	w.Number(uint64(len(f.entries)))
	for i := range f.entries {
		entry := &f.entries[i]
		w.Text(entry.name)
		w.Flags(entry.file != nil, entry.sub != nil)
		if entry.file != nil {
			entry.file.encode(w)
		}
		if entry.sub != nil {
			entry.sub.encode(w)
		}
	}
}

// decode reads a folder. If that fails, so does r.
func (f *folder) decode(r *cachefile.Reader, depth int) {
	f.path = r.Text()
	flags := r.Flags()
	f.commands, f.single, f.sure, f.more = flags[0], flags[1], flags[2], flags[3]
	f.stamp = r.Stamp()
	f.broken = r.Text()
	if depth > maxDepth {
		r.Fail()
	}
	f.entries = make([]entry, r.CountOf(minEntry))
	var records []record // allocated together, since most entries have one
	for i := range f.entries {
		e := &f.entries[i]
		e.name = r.Text()
		flags := r.Flags()
		if flags[0] {
			if len(records) == 0 {
				records = make([]record, min(len(f.entries)-i, maxTogether))
			}
			e.file, records = &records[0], records[1:]
			e.file.decode(r)
		}
		if flags[1] {
			e.sub = new(folder)
			e.sub.decode(r, depth+1)
		}
		if r.Failed() {
			return
		}
	}
	if !slices.IsSortedFunc(f.entries, func(a, b entry) int { return strings.Compare(a.name, b.name) }) {
		r.Fail()
	}
}

func (x *record) encode(w *cachefile.Writer) {
	h := &x.head
	w.Flags(x.sure, x.inFolder, x.broken != nil, h.Fork, h.Hidden, h.Manual, h.Hooks != nil)
	w.Stamp(x.stamp)
	encodeProblems(w, x.problems)
	if x.broken != nil {
		encodeProblems(w, []skill.Problem{*x.broken})
		return
	}
	w.Text(h.Title, h.Description, h.When, h.Hint, h.Model, h.Effort, h.As, h.Version, h.Shell, string(h.Hooks))
	w.List(h.Allowed)
	w.List(h.Arguments)
	w.List(h.Paths)
}

func (x *record) decode(r *cachefile.Reader) {
	flags := r.Flags()
	h := &x.head
	x.sure, x.inFolder, h.Fork, h.Hidden, h.Manual = flags[0], flags[1], flags[3], flags[4], flags[5]
	x.stamp = r.Stamp()
	x.problems = decodeProblems(r)
	if flags[2] {
		if list := decodeProblems(r); len(list) == 1 {
			x.broken = &list[0]
			return
		}
		r.Fail()
	}
	for _, to := range []*string{&h.Title, &h.Description, &h.When, &h.Hint, &h.Model, &h.Effort, &h.As, &h.Version, &h.Shell} {
		*to = r.Text()
	}
	switch hooks := r.Text(); {
	case flags[6] && json.Valid([]byte(hooks)):
		h.Hooks = json.RawMessage(hooks)
	case flags[6] || hooks != "":
		r.Fail()
	}
	h.Allowed, h.Arguments, h.Paths = r.List(), r.List(), r.List()
}

func encodeProblems(w *cachefile.Writer, list []skill.Problem) {
	w.Number(uint64(len(list)))
	for _, p := range list {
		w.Text(p.File, p.Field, p.Text)
	}
}

func decodeProblems(r *cachefile.Reader) []skill.Problem {
	n := r.CountOf(minProblem)
	if n == 0 {
		return nil
	}
	list := make([]skill.Problem, n)
	for i := range list {
		list[i] = skill.Problem{File: r.Text(), Field: r.Text(), Text: r.Text()}
	}
	return list
}
