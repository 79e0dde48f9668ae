// Package filestate remembers what a conversation knows of the files it touched: which content, which
// lines of it, and how it came to know them. It reads no file itself: the tools record what they saw
// and wrote, and judge by it whether an edit is safe and a repeated read needless.
package filestate

import (
	"cmp"
	"container/list"
	"encoding/hex"
	"io/fs"
	"sync"
)

// An Origin is how a conversation came to know a file.
type Origin uint8

// The origins.
const (
	Read Origin = iota
	Edit
	Write
	// Injected is text that was put into the conversation without being asked for, such as an
	// attachment or an instruction file.
	Injected
	// Printed is lines in the output of a search or a command.
	Printed
)

// A Stamp is what the file system says about a version of a file. A different stamp means that the
// content must be compared.
type Stamp struct {
	MTime int64 // in nanoseconds, like CTime
	// CTime is when the file, or what is known about it, was changed. Unlike MTime it cannot be set
	// back; it is 0 where there is no such time, and then an equal stamp proves nothing.
	CTime      int64
	Size       int64
	Dev, Inode uint64
}

// StampOf returns the stamp of a file.
func StampOf(info fs.FileInfo) Stamp {
	s := Stamp{MTime: info.ModTime().UnixNano(), Size: info.Size()}
	s.CTime, s.Dev, s.Inode = identity(info)
	return s
}

// An Entry is what is known of one file. Its slices are not changed after it was recorded.
type Entry struct {
	Path string // expanded, the key
	// Real is where the file was, without links; empty if that is not known.
	Real string
	// Hash is the SHA-256 of the whole file, or zero if not all of it was seen.
	Hash   [32]byte
	Stamp  Stamp
	Origin Origin

	// Offset and Limit are the range that was asked for: the first line from 1, and the number of
	// lines, 0 for all.
	Offset, Limit int
	// Lines is how many lines were delivered from Offset on, Total how many the file has.
	Lines, Total int
	// Complete says that the conversation knows the whole file.
	Complete bool
	// Seen are the lines delivered so far of this version, in order and apart. Record adds Lines to it.
	Seen []Span

	// Content is the whole file as it is on disk, or nil: it is the first thing to go when memory is
	// short.
	Content []byte
	// Shown says that the text is still before the model. Record sets it, [Store.Invalidate] clears it.
	Shown bool
}

// At reports whether the file that was seen is the one at real, a path without links. If it is not known where the file
// was, its path must have no links: that was judged as well.
func (e Entry) At(real string) bool { return real != "" && real == cmp.Or(e.Real, e.Path) }

// HashText returns the hash in hexadecimal, or nothing if it is not known.
func (e Entry) HashText() string {
	if e.Hash == ([32]byte{}) {
		return ""
	}
	return hex.EncodeToString(e.Hash[:])
}

// sameVersion reports whether two entries speak of the same content.
func (e Entry) sameVersion(o Entry) bool {
	if e.Hash != ([32]byte{}) && o.Hash != ([32]byte{}) {
		return e.Hash == o.Hash
	}
	return e.Stamp == o.Stamp
}

// Bounds of a store. Content beyond them is dropped first, whole entries after that.
const (
	maxEntries = 1000
	maxContent = 25 << 20
)

// A Store holds the entries of one conversation, least recently used last. It may be used
// concurrently.
type Store struct {
	mu      sync.Mutex
	entries map[string]*list.Element // of *Entry
	order   *list.List               // most recently used first
	content int                      // bytes of Content held
}

// New returns an empty store.
func New() *Store { return &Store{entries: map[string]*list.Element{}, order: list.New()} }

// Record takes e as the latest news of its file. Ranges read of the same content add up, and once
// they are the whole file the entry is complete. A partial view that was injected takes nothing away
// from what is known of the same content.
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

// Saw adds the lines of e.Seen, which a search or a command printed. If the file was read in another version, that version stays:
// the next change then reports the difference.
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

// joined returns e with what known adds to it.
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

// put stores e as the most recently used entry and keeps the bounds.
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

// drop replaces the entry at el by one without content: others may hold the old one.
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

// Learn adds the hash of a version that was recorded without it. What is known of another version stays.
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

// Get returns what is known of the file at path.
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

// Invalidate says that the text of the file at path is no longer before the model. What is known of the file stays.
func (s *Store) Invalidate(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if el, ok := s.entries[path]; ok {
		gone := *el.Value.(*Entry)
		gone.Shown = false
		el.Value = &gone
	}
}

// Forget drops what is known of the file at path.
func (s *Store) Forget(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if el, ok := s.entries[path]; ok {
		s.remove(el)
	}
}
