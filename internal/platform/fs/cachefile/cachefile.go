// Package cachefile caches data parsed from many files in a single file, so that startup only
// has to check file stamps. A cache file that is damaged, has another format or belongs to
// another user is ignored. Callers validate the cached data.
package cachefile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unsafe"

	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
)

// A Format describes a kind of cache file.
type Format struct {
	// Mark is the first line of the file. It contains a version number, which must be
	// incremented when the encoding changes.
	Mark string
	// Max is the maximum size in bytes.
	Max int64
}

// sumSize is the size of the checksum after the mark.
const sumSize = 4

// Load returns a reader for the file's content, or nil. The file may have been written by
// another program with the same format; see [Reader.Foreign].
func (f Format) Load(path string) *Reader {
	if info, err := os.Lstat(path); err != nil || !fsys.Own(info) {
		return nil
	}
	data, err := fsys.ReadSmall(path, f.Max)
	if err != nil {
		return nil
	}
	return f.decode(data, program())
}

// Newest returns the most recently written file with path's extension in path's directory, or
// "". Where each workspace has its own cache file, a new workspace can start from the newest
// one, because much of the content is the same.
func Newest(path string) (newest string) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // ok: it is a cache
	var last time.Time
	for _, e := range entries {
		if filepath.Ext(e.Name()) != filepath.Ext(path) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().After(last) {
			newest, last = filepath.Join(filepath.Dir(path), e.Name()), info.ModTime()
		}
	}
	return newest
}

// decode returns a reader for data, which the caller must not modify.
func (f Format) decode(data []byte, program filestate.Stamp) *Reader {
	if len(data) < len(f.Mark)+sumSize || string(data[:len(f.Mark)]) != f.Mark {
		return nil
	}
	sum := binary.LittleEndian.Uint32(data[len(f.Mark):])
	if data = data[len(f.Mark)+sumSize:]; checksum(data) != sum {
		return nil
	}
	r := NewReader(unsafe.String(unsafe.SliceData(data), len(data)))
	if r.foreign = r.Stamp() != program; r.failed {
		return nil
	}
	return r
}

// Save atomically replaces the file's content with the data in w, unless that would be larger than f.Max. It does
// not wait for the disk: the checksum reveals what a power failure damaged.
func (f Format) Save(path string, w *Writer) error {
	data := f.encode(w, program())
	if int64(len(data)) > f.Max {
		return fmt.Errorf("%s: more than %d bytes", path, f.Max)
	}
	if err := fsys.MkdirPrivate(filepath.Dir(path)); err != nil {
		return err
	}
	return replace.WriteUnsynced(path, data, 0o600)
}

func (f Format) encode(w *Writer, program filestate.Stamp) []byte {
	var head Writer
	head.Stamp(program)
	sum := crc32.Update(checksum(head.data), crc32.IEEETable, w.data)
	data := make([]byte, 0, len(f.Mark)+sumSize+len(head.data)+len(w.data))
	data = binary.LittleEndian.AppendUint32(append(data, f.Mark...), sum)
	return append(append(data, head.data...), w.data...)
}

// checksum uses the IEEE polynomial: building the tables for others takes longer than reading
// the file at startup.
func checksum(data []byte) uint32 { return crc32.ChecksumIEEE(data) }

// program returns the stamp of this executable, because another version may parse the same
// files differently. It returns the zero Stamp if the executable cannot be found.
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

// A Writer encodes a sequence of values. The zero value is empty.
type Writer struct{ data []byte }

// Grow makes room for about n more bytes.
func (w *Writer) Grow(n int) { w.data = slices.Grow(w.data, n) }

// Number writes a number.
func (w *Writer) Number(n uint64) { w.data = binary.AppendUvarint(w.data, n) }

// Text writes strings.
func (w *Writer) Text(all ...string) {
	for _, s := range all {
		w.Number(uint64(len(s)))
		w.data = append(w.data, s...)
	}
}

// List writes a list of strings. It distinguishes nil from empty.
func (w *Writer) List(all []string) {
	if all == nil {
		w.Number(0)
		return
	}
	w.Number(uint64(len(all)) + 1)
	w.Text(all...)
}

// Flags writes up to eight booleans.
func (w *Writer) Flags(all ...bool) {
	var b byte
	for i, set := range all {
		if set {
			b |= 1 << i
		}
	}
	w.data = append(w.data, b)
}

// Stamp writes a file stamp.
func (w *Writer) Stamp(s filestate.Stamp) {
	for _, n := range []uint64{uint64(s.MTime), uint64(s.CTime), uint64(s.Size), s.Dev, s.Inode} {
		w.data = binary.LittleEndian.AppendUint64(w.data, n)
	}
}

// A Reader decodes data written by a [Writer]. After a decoding error it returns zero values.
type Reader struct {
	rest    string
	failed  bool
	foreign bool
}

// NewReader returns a reader for data.
func NewReader(data string) *Reader { return &Reader{rest: data} }

// Whole reports whether all data was read without error.
func (r *Reader) Whole() bool { return !r.failed && r.rest == "" }

// Foreign reports whether another program, such as another version of adze, wrote the file. It
// may have parsed the same files differently.
func (r *Reader) Foreign() bool { return r.foreign }

// Failed reports whether decoding failed.
func (r *Reader) Failed() bool { return r.failed }

// Fail makes decoding fail: the data are invalid.
func (r *Reader) Fail() { r.rest, r.failed = "", true }

// Number reads a number.
func (r *Reader) Number() uint64 {
	if r.rest != "" && r.rest[0] < 0x80 { // most numbers
		n := uint64(r.rest[0])
		r.rest = r.rest[1:]
		return n
	}
	var n uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		c := r.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	r.Fail()
	return 0
}

// Count reads a number of items. It is at most the number of remaining bytes, so callers can
// allocate that many.
func (r *Reader) Count() int { return r.CountOf(1) }

// CountOf reads a number of items that have at least size bytes each.
func (r *Reader) CountOf(size int) int {
	n := r.Number()
	if n > uint64(len(r.rest)/size) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Text reads a string.
func (r *Reader) Text() string {
	n := r.Count()
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

// List reads a list of strings.
func (r *Reader) List() []string {
	n := r.Number()
	switch {
	case n == 0:
		return nil
	case n-1 > uint64(len(r.rest)):
		r.Fail()
		return nil
	}
	all := make([]string, n-1)
	for i := range all {
		all[i] = r.Text()
	}
	return all
}

// Flags reads eight booleans.
func (r *Reader) Flags() (all [8]bool) {
	if r.rest == "" {
		r.Fail()
		return all
	}
	for i := range all {
		all[i] = r.rest[0]&(1<<i) != 0
	}
	r.rest = r.rest[1:]
	return all
}

// Stamp reads a file stamp.
func (r *Reader) Stamp() filestate.Stamp {
	var n [5]uint64
	if len(r.rest) < 8*len(n) {
		r.Fail()
		return filestate.Stamp{}
	}
	data := unsafe.Slice(unsafe.StringData(r.rest), 8*len(n))
	for i := range n {
		n[i] = binary.LittleEndian.Uint64(data[8*i:])
	}
	r.rest = r.rest[8*len(n):]
	return filestate.Stamp{MTime: int64(n[0]), CTime: int64(n[1]), Size: int64(n[2]), Dev: n[3], Inode: n[4]}
}
