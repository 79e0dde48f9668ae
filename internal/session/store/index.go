package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"

	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// An id is a binary UUID, or a hash of a string that is not a UUID.
type id [16]byte

func makeID(s []byte) (v id) {
	if len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' {
		var digits [32]byte
		copy(digits[0:], s[0:8])
		copy(digits[8:], s[9:13])
		copy(digits[12:], s[14:18])
		copy(digits[16:], s[19:23])
		copy(digits[20:], s[24:36])
		if _, err := hex.Decode(v[:], digits[:]); err == nil {
			return v
		}
	}
	sum := sha256.Sum256(s)
	copy(v[:], sum[:])
	return v
}

// A link is the part of a record that determines the order of the conversation.
type link struct {
	id, parent id
	off        int64
	size       int32
	prev       int32 // preceding message in the log, or -1
	entry      int32 // index into entries, or -1
	named      bool  // the record names its parent
	root       bool  // the record has a null parent
	message    bool
}

// An index locates the messages of a log. Messages since the last compaction, which are most
// likely needed, are already decoded.
type index struct {
	opt     LoadOptions
	links   []link
	byID    map[id]int32
	entries []msg.Entry
	fresh   int32          // first place whose message is in entries
	made    map[int32]bool // messages with a generated ID or time
	// boundaries holds the places of the compactions, in order, and marks their contents.
	boundaries []int32
	marks      []*Boundary
	state      State
	last       int32 // newest message, or -1
	// rewound holds the messages that the conversation was rewound to, -1 for the start.
	rewound    map[int32]bool
	lines, bad int
	torn       bool
	// wanted is the offset of the last compaction. Earlier messages are read on demand, because
	// it may have kept some.
	wanted int64
}

// read indexes the log from an offset, and stops after the message opt.At.
func (x *index) read(r io.Reader, from int64) (stopped bool, err error) {
	x.byID, x.made, x.rewound, x.last = map[id]int32{}, map[int32]bool{}, map[int32]bool{}, -1
	stop := makeID([]byte(x.opt.At))
	in := newLines(r)
	for {
		line, off, err := in.next()
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			x.torn = true
			return false, nil
		case err != nil:
			return false, err
		}
		x.lines++
		if !x.add(line, from+off) {
			x.bad++
		}
		if x.opt.At != "" && x.last >= 0 && x.links[x.last].id == stop {
			return true, nil
		}
	}
}

// add indexes a line. It reports whether the line is readable, as far as it was parsed.
func (x *index) add(line []byte, off int64) bool {
	var h head
	if !h.read(line) {
		return false
	}
	if h.sidechain {
		return true
	}
	if string(h.kind) == rewindKind {
		return x.rewind(line)
	}
	message := string(h.kind) == string(msg.User) || string(h.kind) == string(msg.Assistant)
	boundary := string(h.kind) == systemKind && string(h.subtype) == "compact_boundary"
	if !message && !boundary && string(h.kind) != systemKind {
		if !x.state.take(string(h.kind), line) {
			return false
		}
	}
	if !message && len(h.id) == 0 && !boundary {
		return true
	}
	l := link{off: off, size: int32(len(line)), prev: x.last, entry: -1, named: len(h.parent) > 0, root: h.root, message: message}
	if l.named {
		l.parent = makeID(h.parent)
	}
	n := int32(len(x.links))
	if len(h.id) > 0 {
		l.id = makeID(h.id)
		if _, ok := x.byID[l.id]; ok {
			return true // once is enough
		}
		x.byID[l.id] = n
	}
	ok := true
	switch {
	case message:
		x.last = n
		if off >= x.wanted || x.opt.all {
			ok = x.decode(&l, n, line)
		}
	case boundary:
		x.compacted(n, line)
	}
	x.links = append(x.links, l)
	return ok
}

// rewind handles a rewind note. If its message is missing, it was on a damaged line or before
// the part that was read, and the note is ignored.
func (x *index) rewind(line []byte) bool {
	var r struct {
		Leaf *string `json:"leafUuid"`
	}
	if json.Unmarshal(line, &r) != nil || r.Leaf == nil {
		return false
	}
	to := int32(-1)
	if *r.Leaf != "" {
		at, ok := x.byID[makeID([]byte(*r.Leaf))]
		if !ok {
			return true
		}
		to = at
	}
	x.last, x.rewound[to] = to, true
	return true
}

// decode reads the message at a place. An unreadable message still keeps its parent.
func (x *index) decode(l *link, n int32, line []byte) bool {
	e, made, err := decodeEntry(line, x.opt.Structured)
	if err != nil {
		l.message = false
		return false
	}
	if made {
		x.made[n] = true
	}
	l.entry = int32(len(x.entries))
	x.entries = append(x.entries, e)
	return true
}

// compacted handles a boundary. Messages before it are rarely needed.
func (x *index) compacted(n int32, line []byte) {
	b, ok := parseBoundary(line)
	if !ok {
		b = &Boundary{Trigger: "auto"}
	}
	x.boundaries, x.marks = append(x.boundaries, n), append(x.marks, b)
	if x.opt.all {
		return
	}
	x.fresh, x.entries = n, nil
}

// message returns the message at a place, from memory or from the log.
func (x *index) message(at int32, in *blocks) (msg.Entry, error) {
	l := &x.links[at]
	if at >= x.fresh && l.entry >= 0 {
		return x.entries[l.entry], nil
	}
	line, err := in.bytesAt(l.off, int(l.size))
	if err != nil {
		return msg.Entry{}, err
	}
	e, made, err := decodeEntry(line, x.opt.Structured)
	if err != nil {
		return e, errors.Join(errDamaged, err)
	}
	if made {
		x.made[at] = true
	}
	return e, nil
}

// errDamaged reports an unreadable line, which must not prevent reading the others.
var errDamaged = errors.New("the line is damaged")

// A head holds the fields of a record that determine its order. Its strings refer to the line.
type head struct {
	kind, subtype, id, parent []byte
	root, sidechain           bool
}

// read parses no more than necessary. It reports whether the line is an object with a type, as
// far as it was parsed.
func (h *head) read(line []byte) bool {
	c := jsonscan.Lazy(line)
	c.Object()
	seen := 0
	for seen < 4 {
		key, ok := c.Member()
		if !ok {
			break
		}
		switch string(key) {
		case "type":
			h.kind = words(&c)
			if k := string(h.kind); k == string(msg.User) || k == string(msg.Assistant) {
				seen++ // other records are small and read completely
			}
		case "subtype":
			h.subtype = words(&c)
		case "uuid":
			h.id = words(&c)
			seen++
		case "parentUuid":
			h.root = c.Kind() == 'n'
			h.parent = words(&c)
			seen++
		case "isSidechain":
			h.sidechain = c.Bool()
			seen++
		default:
			c.Skip()
		}
	}
	return c.Err() == nil && len(h.kind) > 0 && (seen == 4 || c.End() == nil)
}

// words returns a string as written, decoded if it has escapes, or nil if the value is not a
// string.
func words(c *jsonscan.Scanner) []byte {
	if c.Kind() != '"' {
		c.Skip()
		return nil
	}
	before := *c
	raw := c.Skip()
	for _, b := range raw {
		if b == '\\' || b < ' ' {
			*c = before
			return []byte(c.String())
		}
	}
	if len(raw) < 2 {
		return nil
	}
	return raw[1 : len(raw)-1]
}
