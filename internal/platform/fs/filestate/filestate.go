// Package filestate tracks the file contents a conversation has seen: the version, the lines
// and their origin. It reads no files. Tools record their reads and writes in it, and use it to
// decide whether an edit is safe and a repeated read is redundant.
package filestate

import (
	"cmp"
	"container/list"
	"encoding/hex"
	"io/fs"
	"sync"
)

// An Origin is the way a conversation learned a file's content.
type Origin uint8

// Origins.
const (
	Read Origin = iota
	Edit
	Write
	// Injected is text added to the conversation without a request, such as an attachment or an
	// instruction file.
	Injected
	// Printed is lines in the output of a search or a command.
	Printed
)

// A Stamp identifies a version of a file by its metadata. If the stamp differs, the content
// must be compared.
type Stamp struct {
	MTime int64 // nanoseconds, like CTime
	// CTime is the inode change time. Unlike MTime it cannot be set back. It is 0 on systems
	// without one; equal stamps then prove nothing.
	CTime      int64
	Size       int64
	Dev, Inode uint64
}

// StampOf returns a file's stamp.
func StampOf(info fs.FileInfo) Stamp {
	s := Stamp{MTime: info.ModTime().UnixNano(), Size: info.Size()}
	s.CTime, s.Dev, s.Inode = identity(info)
	return s
}

// An Entry describes one known file. Its slices are not modified after Record.
type Entry struct {
	Path string // expanded path, the key
	// Real is the file's path with links resolved, or empty if unknown.
	Real string
	// Hash is the SHA-256 of the whole file, or zero if only part of it was seen.
	Hash   [32]byte
	Stamp  Stamp
	Origin Origin

	// Offset and Limit are the requested range: the first line, counted from 1, and the number
	// of lines, 0 for all.
	Offset, Limit int
	// Lines is the number of lines delivered from Offset on, Total the number of lines in the
	// file.
	Lines, Total int
	// Complete is true if the conversation has seen the whole file.
	Complete bool
	// Seen are the lines of this version delivered so far, sorted and disjoint. Record adds
	// Lines to it.
	Seen []Span

	// Content is the whole file as on disk, or nil. It is dropped first when memory is short.
	Content []byte
	// Shown is true while the text is in the model's context. Record sets it,
	// [Store.Invalidate] clears it.
	Shown bool
}

// At reports whether the entry's file is the one at real, a path without links. If Real is
// unknown, Path must have no links, which was checked as well.
func (e Entry) At(real string) bool { return real != "" && real == cmp.Or(e.Real, e.Path) }

// HashText returns the hash in hexadecimal, or "" if unknown.
func (e Entry) HashText() string {
	if e.Hash == ([32]byte{}) {
		return ""
	}
	return hex.EncodeToString(e.Hash[:])
}

// sameVersion reports whether both entries describe the same content.
func (e Entry) sameVersion(o Entry) bool {
	if e.Hash != ([32]byte{}) && o.Hash != ([32]byte{}) {
		return e.Hash == o.Hash
	}
	return e.Stamp == o.Stamp
}

// Store limits. When they are exceeded, content is dropped first, then whole entries.
const (
	maxEntries = 1000
	maxContent = 25 << 20
)

// A Store holds a conversation's entries in order of use. It is safe for concurrent use.
type Store struct {
	mu      sync.Mutex
	entries map[string]*list.Element // values are *Entry
	order   *list.List               // most recently used first
	content int                      // bytes of Content held
}

// New returns an empty store.
func New() *Store { return &Store{entries: map[string]*list.Element{}, order: list.New()} }

// Record stores e as the latest state of its file. Ranges of the same content are merged, and
// the entry becomes complete once they cover the file. An injected partial view does not reduce
// existing knowledge of the same content.
func (s *Store) Record(e Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Shown = true
	if e.Lines > 0 {
		e.Seen = Add(e.Seen, Span{e.Offset, e.Offset + e.Lines - 1})
	}
	if old, ok := s.entries[e.Path]; ok {
		known := old.Value.(*Entry)
		if known.sameVersion(e) {
			if e.Origin == Injected && !e.Complete {
				s.order.MoveToFront(old)
				return
			}
			e = joined(e, *known)
		}
	}
	e.Complete = e.Complete || Covers(e.Seen, 1, e.Total)
	s.put(e)
}

// Saw adds the lines of e.Seen, which a search or a command printed. If another version of the
// file was read before, that version is kept, so that the next change reports the difference.
func (s *Store) Saw(e Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Origin, e.Shown = Printed, true
	if old, ok := s.entries[e.Path]; ok {
		known := *old.Value.(*Entry)
		switch {
		case known.sameVersion(e):
			e = joined(known, e)
		case known.Origin != Printed:
			return
		}
	}
	e.Complete = e.Complete || Covers(e.Seen, 1, e.Total)
	s.put(e)
}

// joined returns e merged with known.
func joined(e, known Entry) Entry {
	for _, span := range known.Seen {
		e.Seen = Add(e.Seen, span)
	}
	e.Complete = e.Complete || known.Complete
	e.Total = max(e.Total, known.Total)
	if e.Content == nil {
		e.Content = known.Content
	}
	if e.Hash == ([32]byte{}) {
		e.Hash = known.Hash
	}
	e.Real = cmp.Or(e.Real, known.Real)
	return e
}

// put stores e as the most recently used entry and enforces the limits.
func (s *Store) put(e Entry) {
	if len(e.Content) > maxContent {
		e.Content = nil
	}
	if old, ok := s.entries[e.Path]; ok {
		s.content -= len(old.Value.(*Entry).Content)
		old.Value = &e
		s.order.MoveToFront(old)
	} else {
		s.entries[e.Path] = s.order.PushFront(&e)
	}
	s.content += len(e.Content)
	for last := s.order.Back(); s.content > maxContent; last = last.Prev() {
		s.drop(last)
	}
	for len(s.entries) > maxEntries {
		s.remove(s.order.Back())
	}
}

// drop replaces the entry at el with a copy without content: callers may hold the old one.
func (s *Store) drop(el *list.Element) {
	lean := *el.Value.(*Entry)
	s.content -= len(lean.Content)
	lean.Content = nil
	el.Value = &lean
}

func (s *Store) remove(el *list.Element) {
	e := s.order.Remove(el).(*Entry)
	s.content -= len(e.Content)
	delete(s.entries, e.Path)
}

// Learn adds the hash to an entry recorded without it. An entry for another version is
// unchanged.
func (s *Store) Learn(path string, stamp Stamp, hash [32]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	el, ok := s.entries[path]
	if !ok {
		return
	}
	e := *el.Value.(*Entry)
	if e.Stamp == stamp && e.Hash == ([32]byte{}) {
		e.Hash = hash
		el.Value = &e
	}
}

// Get returns the entry for path.
func (s *Store) Get(path string) (Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	el, ok := s.entries[path]
	if !ok {
		return Entry{}, false
	}
	s.order.MoveToFront(el)
	return *el.Value.(*Entry), true
}

// Invalidate records that the file's text has left the model's context. The entry is kept.
func (s *Store) Invalidate(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if el, ok := s.entries[path]; ok {
		gone := *el.Value.(*Entry)
		gone.Shown = false
		el.Value = &gone
	}
}

// Forget removes the entry for path.
func (s *Store) Forget(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if el, ok := s.entries[path]; ok {
		s.remove(el)
	}
}
