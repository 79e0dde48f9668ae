// Package gitindex reads git's index file, versions 2 to 4. It accepts only files that every version of git reads alike:
// lengths, offset tables and extensions that contradict the entries are errors.
package gitindex

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

var (
	// ErrDamaged means that the data is not an index, or that git could read it in more than one way.
	ErrDamaged = errors.New("it is damaged")
	// ErrPartial means that the index does not list all files itself: it is split or sparse.
	ErrPartial = errors.New("it does not list all files itself")
)

// An Entry is a tracked path.
type Entry struct {
	Name    []byte // valid only during the call
	Mode    uint32
	Skipped bool // skip-worktree: not checked out
	// Special means that git does not simply compare the file with this entry: it is in
	// conflict, assumed unchanged, or added without content.
	Special bool
	Stat    Stat
	ID      []byte // object name of the content; valid as long as the data
}

// A Stat is the state of a file when git last compared it with its entry.
type Stat struct {
	CSec, CNsec, MSec, MNsec uint32 // status change and content change times
	Inode, UID, GID, Size    uint32 // truncated
}

// Kinds of a mode.
const (
	KindMask   = 0xf000
	KindDir    = 0x4000 // directory entry of a sparse index
	KindFile   = 0x8000
	KindLink   = 0xa000
	KindModule = 0xe000
)

// HeaderSize is the number of bytes before the first entry.
const HeaderSize = 12

// Entry layout: times, device, inode, then mode, owners and size, the object name, and flags.
const (
	beforeOID = 40

	assumeValid  = 0x8000 // flag
	extended     = 0x4000 // flag: two more bytes of flags follow
	stageMask    = 0x3000 // flag: side of a conflict
	nameMask     = 0x0fff // flag: length of the name
	skipWorktree = 0x4000 // extended flag
	intentToAdd  = 0x2000 // extended flag
)

// Read calls each for every entry of an index whose object names have hash bytes. Like git, it
// does not verify the checksum.
func Read(data []byte, hash int, each func(Entry) error) error {
	_, err := ReadTree(data, hash, each)
	return err
}

// ReadTree is like [Read]. It also returns the object name of the tree that the index would
// commit, or nil if the index does not contain it.
func ReadTree(data []byte, hash int, each func(Entry) error) (tree []byte, err error) {
	if len(data) < HeaderSize+hash || string(data[:4]) != "DIRC" {
		return nil, ErrDamaged
	}
	version := binary.BigEndian.Uint32(data[4:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("its version %d is unknown", version)
	}
	r := &reader{data: data[:len(data)-hash], at: HeaderSize, hash: hash, version: int(version)}
	count := binary.BigEndian.Uint32(data[8:])
	if uint64(count)*uint64(r.fixed()) > uint64(len(data)) {
		return nil, ErrDamaged
	}
	r.starts = make([]start, 0, count)
	for range count {
		r.starts = append(r.starts, start{uint32(r.at), true})
		e, err := r.entry()
		if err != nil {
			return nil, err
		}
		if err := each(e); err != nil {
			return nil, err
		}
	}
	err = r.extensions()
	return r.tree, err
}

// A reader reads the entries of an index sequentially.
type reader struct {
	data    []byte
	at      int
	hash    int
	version int
	name    []byte // name of the previous entry
	starts  []start
	tree    []byte
}

// A start is the position of an entry. It is whole if its name does not depend on the previous
// one.
type start struct {
	at    uint32
	whole bool
}

// fixed returns the minimum number of bytes in an entry before its name.
func (r *reader) fixed() int { return beforeOID + r.hash + 2 }

func (r *reader) entry() (e Entry, err error) {
	start := r.at
	if len(r.data)-start < r.fixed()+2 {
		return e, ErrDamaged
	}
	field := func(i int) uint32 { return binary.BigEndian.Uint32(r.data[start+4*i:]) }
	e.Mode = field(6)
	e.Stat = Stat{field(0), field(1), field(2), field(3), field(5), field(7), field(8), field(9)}
	e.ID = r.data[start+beforeOID : start+beforeOID+r.hash]
	r.at += r.fixed()
	flags := binary.BigEndian.Uint16(r.data[r.at-2:])
	e.Special = flags&(assumeValid|stageMask) != 0
	if flags&extended != 0 {
		if r.version < 3 {
			return e, ErrDamaged
		}
		more := binary.BigEndian.Uint16(r.data[r.at:])
		e.Skipped, e.Special = more&skipWorktree != 0, e.Special || more&intentToAdd != 0
		r.at += 2
	}
	if r.version == 4 {
		if err := r.keepPrefix(); err != nil {
			return e, err
		}
	} else {
		r.name = r.name[:0]
	}
	n := bytes.IndexByte(r.data[r.at:], 0)
	if n < 0 {
		return e, ErrDamaged
	}
	r.name = append(r.name, r.data[r.at:r.at+n]...)
	r.at += n + 1
	if r.version < 4 {
		r.at = start + (r.at-1-start+8)&^7
	}
	// Git uses the length in the flags, this reader the zero byte.
	if r.at > len(r.data) || int(flags&nameMask) != min(len(r.name), nameMask) {
		return e, ErrDamaged
	}
	e.Name = r.name
	return e, nil
}

// keepPrefix truncates the last name to the prefix it shares with the next one.
func (r *reader) keepPrefix() error {
	cut := 0
	for i := 0; ; i++ {
		if r.at >= len(r.data) || i > 4 {
			return ErrDamaged
		}
		c := r.data[r.at]
		r.at++
		if i > 0 {
			cut++
		}
		cut = cut<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			break
		}
	}
	if cut > len(r.name) {
		return ErrDamaged
	}
	r.name = r.name[:len(r.name)-cut]
	r.starts[len(r.starts)-1].whole = len(r.name) == 0
	return nil
}

// extensions rejects extensions that add entries or point git at other offsets than the entries
// just read.
func (r *reader) extensions() error {
	end := r.at
	for r.at+8 <= len(r.data) {
		size := int(binary.BigEndian.Uint32(r.data[r.at+4:]))
		if size < 0 || size > len(r.data)-r.at-8 {
			return ErrDamaged
		}
		body := r.data[r.at+8 : r.at+8+size]
		switch string(r.data[r.at : r.at+4]) {
		case "link", "sdir":
			return ErrPartial
		case "TREE":
			r.tree = cachedTree(body, r.hash)
		case "EOIE":
			if size < 4 || binary.BigEndian.Uint32(body) != uint32(end) {
				return ErrDamaged
			}
		case "IEOT":
			if !r.agrees(body) {
				return ErrDamaged
			}
		}
		r.at += 8 + size
	}
	return nil
}

// agrees reports whether a block table, which git uses to read entries in parallel, matches the
// entry offsets found.
func (r *reader) agrees(table []byte) bool {
	if len(table) < 4 || (len(table)-4)%8 != 0 || binary.BigEndian.Uint32(table) != 1 {
		return false
	}
	next := 0
	for table = table[4:]; len(table) > 0; table = table[8:] {
		if next >= len(r.starts) || r.starts[next] != (start{binary.BigEndian.Uint32(table), true}) {
			return false
		}
		n := int(binary.BigEndian.Uint32(table[4:]))
		if n <= 0 || n > len(r.starts)-next {
			return false
		}
		next += n
	}
	return next == len(r.starts)
}

// cachedTree returns the object name of the root in a table of trees, or nil if it is out of
// date.
func cachedTree(table []byte, hash int) []byte {
	rest, ok := bytes.CutPrefix(table, []byte{0}) // the root has no name
	count, rest, found := bytes.Cut(rest, []byte{'\n'})
	if !ok || !found || len(count) == 0 || count[0] == '-' || len(rest) < hash {
		return nil
	}
	return rest[:hash]
}
