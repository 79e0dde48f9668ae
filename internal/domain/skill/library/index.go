package library

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"adze/internal/domain/skill"
	"adze/internal/platform/fs/cachefile"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
)

// The index caches parsed skills so that startup compares file times instead of reading files.
// An index that is damaged, has another format or is too large is ignored. Entries written by
// another adze version are shown, but re-read before use. The index belongs to the user, like
// the user's skills, and does not determine which skills are used.
//
// It consists of a line naming the format, a checksum, the program and the directories. The
// format number is incremented whenever the encoding changes. Numbers are varints; strings are
// preceded by their length.
const (
	indexMark = "adze skills 2\n"
	maxIndex  = 32 << 20
)

// program identifies this build. Another version may parse the same file differently.
func program() (id [2]uint64) {
	path, err := os.Executable()
	if err != nil {
		return id
	}
	i, err := anywhere.stat(path)
	if err != nil {
		return id
	}
	return [2]uint64{uint64(i.size), uint64(i.modified)}
}

// loadIndex returns the content of the index and whether another program wrote it, or nil if it
// is unusable.
func loadIndex(path string) (known map[key]*folder, foreign bool) {
	if path == "" {
		return nil, false
	}
	i, err := anywhere.stat(path)
	if err != nil || !i.regular || i.size > maxIndex {
		return nil, false
	}
	if st, err := os.Lstat(path); err != nil || !fsys.Own(st) {
		return nil, false
	}
	data := make([]byte, i.size)
	n, err := anywhere.read(path, data, -1)
	if err != nil || n != len(data) {
		return nil, false
	}
	return decodeIndex(data, program())
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

// saveIndex writes the index. If that fails, the next startup reads the skills again.
func saveIndex(path string, data []byte) {
	if len(data) > maxIndex || fsys.MkdirPrivate(filepath.Dir(path)) != nil {
		return
	}
	replace.WriteFile(path, data, 0o600) // ok: it is a cache
}

// encode returns the encoded index.
func (sc *scanner) encode() []byte { return encodeIndex(sc.known, program()) }

func encodeIndex(known map[key]*folder, program [2]uint64) []byte {
	var one encoder
	e := make(encoder, 0, roomOf(known)) // allocate once
	e = append(append(e, indexMark...), 0, 0, 0, 0)
	e.uint(program[0])
	e.uint(program[1])
	e.uint(uint64(len(known)))
	for _, f := range known {
		one = one[:0]
		one.folder(f)
		e.text(f.path)
		e.flags(f.commands)
		e.uint(uint64(len(one)))
		e = append(e, one...)
	}
	binary.LittleEndian.PutUint32(e[len(indexMark):], checksum(e[len(indexMark)+4:]))
	return e
}

// roomOf returns the approximate size of the index in bytes.
func roomOf(known map[key]*folder) int {
	const perFolder, perEntry = 200, 320
	n := len(known) * perFolder
	for _, f := range known {
		n += len(f.raw) + len(f.entries)*perEntry
	}
	return n
}

// checksum uses the IEEE polynomial: building the tables of the others takes longer than
// reading the index may.
func checksum(data []byte) uint32 { return crc32.ChecksumIEEE(data) }

// decodeIndex decodes an index, or returns nil, and reports whether another program wrote it.
// Directories are decoded lazily. The caller must not modify data.
func decodeIndex(data []byte, program [2]uint64) (known map[key]*folder, foreign bool) {
	if len(data) < len(indexMark)+4 || string(data[:len(indexMark)]) != indexMark {
		return nil, false
	}
	sum := binary.LittleEndian.Uint32(data[len(indexMark):])
	data = data[len(indexMark)+4:]
	if checksum(data) != sum {
		return nil, false
	}
	d := decoder{rest: unsafe.String(unsafe.SliceData(data), len(data))}
	foreign = [2]uint64{d.uint(), d.uint()} != program
	n := d.count(minIndexed)
	known = make(map[key]*folder, n)
	folders := make([]folder, n)
	for i := range folders {
		k := key{d.text(), d.flags() != 0}
		if folders[i].raw = d.text(); folders[i].raw == "" {
			return nil, false
		}
		known[k] = &folders[i]
	}
	if d.failed || d.rest != "" {
		return nil, false
	}
	return known, foreign
}

// load decodes the folder. It returns nil if f is nil or the encoding is invalid.
func (f *folder) load() *folder {
	if f == nil || f.raw == "" {
		return f
	}
	d := decoder{rest: f.raw}
	*f = folder{}
	d.folder(f, 0)
	if d.failed || d.rest != "" {
		return nil
	}
	return f
}

// loadAll decodes all folders and drops invalid ones.
func loadAll(known map[key]*folder) {
	for k, f := range known {
		if f.load() == nil {
			delete(known, k)
		}
	}
}

// An encoder encodes an index.
type encoder []byte

func (e *encoder) uint(n uint64) { *e = binary.AppendUvarint(*e, n) }

func (e *encoder) text(s string) {
	e.uint(uint64(len(s)))
	*e = append(*e, s...)
}

func (e *encoder) texts(list []string) {
	e.uint(uint64(len(list)))
	for _, s := range list {
		e.text(s)
	}
}

// flags writes up to eight booleans.
func (e *encoder) flags(flags ...bool) {
	var b byte
	for i, set := range flags {
		if set {
			b |= 1 << i
		}
	}
	*e = append(*e, b)
}

func (e *encoder) stamp(s stamp) {
	e.uint(s.device)
	e.uint(s.inode)
	e.uint(uint64(s.size))
	e.uint(uint64(s.modified))
	e.uint(uint64(s.changed))
}

func (e *encoder) folder(f *folder) {
	e.text(f.path)
	e.flags(f.commands, f.single, f.sure, f.more)
	e.stamp(f.stamp)
	e.text(f.broken)
	e.uint(uint64(len(f.entries)))
	for i := range f.entries {
		entry := &f.entries[i]
		e.text(entry.name)
		e.flags(entry.file != nil, entry.sub != nil)
		if entry.file != nil {
			e.record(entry.file)
		}
		if entry.sub != nil {
			e.folder(entry.sub)
		}
	}
}

func (e *encoder) record(r *record) {
	h := &r.head
	e.flags(r.sure, r.inFolder, r.broken != nil, h.Fork, h.Hidden, h.Manual, h.Hooks != nil)
	e.stamp(r.stamp)
	e.problems(r.problems)
	if r.broken != nil {
		e.problems([]skill.Problem{*r.broken})
		return
	}
	e.texts([]string{h.Title, h.Description, h.When, h.Hint, h.Model, h.Effort, h.As, h.Version, h.Shell, string(h.Hooks)})
	e.texts(h.Allowed)
	e.texts(h.Arguments)
	e.texts(h.Paths)
}

// problems writes the problems of one file, with the file name only once.
func (e *encoder) problems(list []skill.Problem) {
	e.uint(uint64(len(list)))
	for _, p := range list {
		e.text(p.File)
		e.text(p.Field)
		e.text(p.Text)
	}
}

// A decoder decodes an index. After an error it returns zero values.
type decoder struct {
	rest   string
	failed bool
}

func (d *decoder) fail() {
	d.failed, d.rest = true, ""
}

func (d *decoder) uint() uint64 {
	if d.rest != "" && d.rest[0] < 0x80 {
		n := uint64(d.rest[0])
		d.rest = d.rest[1:]
		return n
	}
	var n uint64
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		b := d.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			d.rest = d.rest[i+1:]
			return n
		}
	}
	d.fail()
	return 0
}

// count returns the number of items, each of which has at least size bytes.
func (d *decoder) count(size int) int {
	n := d.uint()
	if n > uint64(len(d.rest)/size) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.count(1)
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) texts() []string {
	n := d.count(1)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.text()
	}
	return list
}

func (d *decoder) flags() byte {
	if d.rest == "" {
		d.fail()
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) stamp() stamp {
	return stamp{d.uint(), d.uint(), int64(d.uint()), int64(d.uint()), int64(d.uint())}
}

// Minimum encoded sizes of a folder, an entry and a problem.
const (
	minIndexed = 3
	minEntry   = 2
	minProblem = 3
)

func (d *decoder) folder(f *folder, depth int) {
	f.path = d.text()
	flags := d.flags()
	f.commands, f.single, f.sure, f.more = flags&1 != 0, flags&2 != 0, flags&4 != 0, flags&8 != 0
	f.stamp = d.stamp()
	f.broken = d.text()
	if depth > maxDepth {
		d.fail()
	}
	f.entries = make([]entry, d.count(minEntry))
	records := make([]record, len(f.entries)) // allocated together, since most entries have one
	for i := range f.entries {
		e := &f.entries[i]
		e.name = d.text()
		flags := d.flags()
		if flags&1 != 0 {
			e.file = &records[i]
			d.record(e.file)
		}
		if flags&2 != 0 {
			e.sub = new(folder)
			d.folder(e.sub, depth+1)
		}
		if d.failed {
			return
		}
	}
	if !slices.IsSortedFunc(f.entries, func(a, b entry) int { return strings.Compare(a.name, b.name) }) {
		d.fail()
	}
}

func (d *decoder) record(r *record) {
	flags := d.flags()
	r.sure, r.inFolder = flags&1 != 0, flags&2 != 0
	h := &r.head
	h.Fork, h.Hidden, h.Manual = flags&8 != 0, flags&16 != 0, flags&32 != 0
	r.stamp = d.stamp()
	r.problems = d.problems()
	if flags&4 != 0 {
		if list := d.problems(); len(list) == 1 {
			r.broken = &list[0]
			return
		}
		d.fail()
	}
	texts := [...]*string{&h.Title, &h.Description, &h.When, &h.Hint, &h.Model, &h.Effort, &h.As, &h.Version, &h.Shell, nil}
	if d.count(1) != len(texts) {
		d.fail()
	}
	for _, to := range texts {
		s := d.text()
		switch {
		case to != nil:
			*to = s
		case flags&64 != 0 && json.Valid([]byte(s)):
			h.Hooks = json.RawMessage(s)
		case flags&64 != 0 || s != "":
			d.fail()
		}
	}
	h.Allowed, h.Arguments, h.Paths = d.texts(), d.texts(), d.texts()
}

func (d *decoder) problems() []skill.Problem {
	n := d.count(minProblem)
	if n == 0 {
		return nil
	}
	list := make([]skill.Problem, n)
	for i := range list {
		list[i] = skill.Problem{File: d.text(), Field: d.text(), Text: d.text()}
	}
	return list
}
