package filehistory

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/fs/fsys"
)

// A record is a line of the index.
type record struct {
	// Type is one of:
	//
	//	snapshot  ID begins
	//	alias     ID is an alias of Of
	//	file      Path's previous state, in the snapshot Of
	//	left      Path's state after a tool wrote it
	//	next      Path's state that is about to be written
	//	rewind    a rewind to Of begins, which ID undoes
	//	rewound   the rewind has ended
	//	hash      the draft ID has the content Hash
	//	drop      ID is dropped
	//	pack      ID is the name of the pack
	//	content   the position of Hash in the pack
	Type string `json:"type"`
	// Number is 1 for an index's first record and increases by 1. Old records have none.
	Number int64      `json:"n,omitempty"`
	ID     string     `json:"id,omitempty"`
	Of     string     `json:"of,omitempty"`
	Time   *time.Time `json:"time,omitempty"`
	Path   string     `json:"path,omitempty"`
	Hash   string     `json:"hash,omitempty"`
	// Draft is the name of the content until its hash is recorded. If both are empty, the file
	// did not exist.
	Draft string      `json:"draft,omitempty"`
	Mode  fs.FileMode `json:"mode,omitempty"`
	At    int64       `json:"at,omitempty"`
	Size  int64       `json:"size,omitempty"`
	// Change is a change number: of the change before which Path had this state, or which
	// produced it; for a pack record, the last one. By is its author's ID, with a Title.
	Change int64  `json:"change,omitempty"`
	By     string `json:"by,omitempty"`
	Title  string `json:"title,omitempty"`
}

func (v version) record(kind, path, of string) record {
	return record{Type: kind, Path: path, Of: of, Hash: v.hash, Draft: v.draft, Mode: v.mode, Change: v.change}
}

func (b *backup) record(path, of string) record {
	r := b.version.record("file", path, of)
	r.By, r.Title = b.by.ID, strings.ToValidUTF8(b.by.Title, "")
	return r
}

func (r *pendingRewind) record() record { return record{Type: "rewind", ID: r.undo, Of: r.to} }

func (s *snapshot) records() []record {
	records := []record{{Type: "snapshot", ID: s.id, Time: &s.time}}
	for _, alias := range s.aliases {
		records = append(records, record{Type: "alias", ID: alias, Of: s.id})
	}
	return records
}

// load reads the index, repairs its end, and removes unreferenced contents. If a record is
// missing that might refer to a content, nothing is removed.
func (h *History) load() error {
	data, err := os.ReadFile(h.store.indexPath())
	if errors.Is(err, fs.ErrNotExist) {
		if h.cutShort(); h.store.refused != nil || len(h.store.gaps) > 0 {
			return nil
		}
		return sweep(h.store, h.used()) // contents whose index record was never written
	}
	if err != nil {
		return err
	}
	if h.store.refused == nil {
		if data, err = repairIndex(h.store.indexPath(), data); err != nil {
			return err
		}
	}
	dropped, number := false, 0
	for line := range bytes.Lines(data) {
		number++
		var r record
		if err := h.take(line, &r); err != nil {
			h.log.Warn("a record of the file history is damaged and was skipped", "line", number, "error", err)
		}
		dropped = dropped || r.Type == "drop"
	}
	h.store.end()
	h.cutShort()
	if err := h.store.pack.find(h.store.dir); err != nil {
		return err
	}
	h.settle()
	if h.store.refused != nil || !h.intact(h.store) {
		return nil
	}
	if dropped {
		if err := h.compact(); err != nil {
			return err
		}
	}
	return sweep(h.store, h.used())
}

// cutShort detects a missing end of the index. It skips a record number, so that the gap stays
// known.
func (h *History) cutShort() {
	if h.changes >= h.had {
		return
	}
	h.log.Warn("the end of the file history is missing", "changes", h.changes, "of", h.had)
	h.store.bad++
	h.store.end()
	h.changes = h.had
}

// repairIndex returns the complete lines of the index at path, which contains data. The rest is a
// write cut short when the process was killed, unless it is a record whose end is damaged.
func repairIndex(path string, data []byte) ([]byte, error) {
	whole := bytes.LastIndexByte(data, '\n') + 1
	if whole == len(data) {
		return data, nil
	}
	var r record
	end := len(data) - 1
	if decode(data[whole:end], &r) != nil || r.Number == 0 {
		return data[:whole], os.Truncate(path, int64(whole))
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	data[end] = '\n'
	_, err = file.WriteAt(data[end:], int64(end))
	return data, errors.Join(err, file.Close())
}

// take decodes a line of the index and applies it.
func (h *History) take(line []byte, r *record) error {
	err := decode(line, r)
	if err == nil && !h.store.next(r.Number) {
		err = fmt.Errorf("the number %d is out of order", r.Number)
	}
	if err != nil {
		h.store.bad++
		for path := range pathsIn(line) {
			h.lost[path] = h.store.last + h.store.bad
		}
		return err
	}
	r.Number = h.store.last
	if err := h.replay(*r); err != nil {
		h.store.lose(r.Number)
		return err
	}
	return nil
}

// intact reports whether everything that a snapshot needs, or may need, is present.
func (t *timeline) intact(s *store) bool {
	if len(s.gaps) == 0 {
		return true
	}
	if len(t.snapshots) == 0 || s.gapAfter(t.snapshots[0].number) > 0 {
		return false
	}
	for name := range t.used() {
		if name != "" && !holds(s, name) {
			return false
		}
	}
	return true
}

// holds reports whether a content is stored.
func holds(s *store, name string) bool {
	_, packed := s.pack.places[name]
	return packed || hasBlob(s, name)
}

// replay applies a record.
func (h *History) replay(r record) error {
	if r.Hash != "" && !isHash(r.Hash) {
		return fmt.Errorf("%q is not a hash", r.Hash)
	}
	if r.Draft != "" && !isDraft(r.Draft) {
		return fmt.Errorf("%q is not the name of a draft", r.Draft)
	}
	v := version{hash: r.Hash, draft: r.Draft, mode: r.Mode.Perm(), number: r.Number, change: r.Change}
	switch r.Type {
	case "snapshot":
		if r.ID == "" || r.Time == nil || h.ids[r.ID] != nil {
			return fmt.Errorf("the snapshot %q is not complete, or not the first of its name", r.ID)
		}
		h.add(&snapshot{id: r.ID, time: *r.Time, files: map[string][]*backup{}, number: r.Number, saved: true})
		return nil
	case "left":
		h.made(r.Path, v)
		return nil
	case "next":
		h.expect(r.Path, v)
		return nil
	case "rewind":
		h.begun = &pendingRewind{to: r.Of, undo: r.ID}
		return nil
	case "rewound":
		h.begun = nil
		return nil
	case "pack":
		if !strings.HasPrefix(r.ID, "pack-") || strings.ContainsAny(r.ID, `/\`) {
			return fmt.Errorf("%q is not the name of a pack", r.ID)
		}
		h.store.pack = pack{name: r.ID, places: map[string]place{}}
		h.changes = max(h.changes, r.Change)
		return nil
	case "content":
		if r.Hash == "" || r.At < 0 || r.Size < 0 || r.Size > packed {
			return fmt.Errorf("the content %q is nowhere", r.Hash)
		}
		h.store.pack.places[r.Hash] = place{r.At, r.Size}
		return nil
	case "drop":
		h.forget(r.ID)
		return nil
	case "hash":
		if r.Hash == "" || !isDraft(r.ID) {
			return fmt.Errorf("%q is not the name of a draft, or has no hash", r.ID)
		}
		if err := h.store.adoptDraft(r.ID, r.Hash); err == nil { // otherwise retried later
			h.rename(r.ID, r.Hash)
			h.drafts = slices.DeleteFunc(h.drafts, func(name string) bool { return name == r.ID })
		}
		return nil
	}
	s := h.ids[r.Of]
	switch {
	case s == nil:
		return fmt.Errorf("no snapshot %q", r.Of)
	case r.Type == "alias" && h.ids[r.ID] == nil:
		h.alias(r.ID, s)
	case r.Type == "file" && r.Path != "":
		h.keep(s, r.Path, &backup{version: v, by: Author{r.By, r.Title}})
		if v.draft != "" {
			h.drafts = append(h.drafts, v.draft)
		}
	default:
		return fmt.Errorf("the record %q says nothing", r.Type)
	}
	return nil
}

func isHash(s string) bool {
	sum, err := hex.DecodeString(s)
	return err == nil && len(sum) == 32
}

// compact rewrites the history without dropped data.
func (h *History) compact() error {
	used := h.used()
	for hash := range h.store.pack.places {
		if !used[hash] {
			delete(h.store.pack.places, hash)
		}
	}
	done, err := h.store.repack()
	if err != nil {
		return err
	}
	records := append(h.store.pack.records(), h.records()...)
	records[0].Change = h.changes // the records of those changes may be gone
	if err := h.store.rewrite(records); err != nil {
		return err
	}
	done()
	return nil
}

// records returns the index records of the snapshots, in their original order.
func (t *timeline) records() (records []record) {
	type entry struct {
		record
		at int64
	}
	var entries []entry
	tracked := map[string]bool{}
	for _, s := range t.snapshots {
		if !s.saved {
			continue
		}
		for _, r := range s.records() {
			entries = append(entries, entry{r, s.at})
		}
		for path, backups := range s.files {
			tracked[path] = true
			for _, b := range backups {
				entries = append(entries, entry{b.record(path, s.id), b.at})
				if v := b.left; v != nil && v.at != t.left[path].at {
					entries = append(entries, entry{v.record("left", path, ""), v.at})
				}
			}
		}
	}
	kind := "left"
	for _, wrote := range []map[string]version{t.left, t.next} {
		for path, v := range wrote {
			if !tracked[path] {
				delete(wrote, path)
				continue
			}
			entries = append(entries, entry{v.record(kind, path, ""), v.at})
		}
		kind = "next"
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	for _, e := range entries {
		records = append(records, e.record)
	}
	if t.begun != nil {
		records = append(records, t.begun.record())
	}
	return records
}

// rewrite replaces the index.
func (s *store) rewrite(records []record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines, err := encodeAll(records, 0)
	if err != nil {
		return err
	}
	temp := s.indexPath() + ".new"
	if err := os.WriteFile(temp, lines, 0o600); err != nil {
		return err
	}
	if err := syncFile(temp, os.O_RDWR, s.fsync); err != nil {
		return err
	}
	if s.index != nil { // Windows replaces no open file
		s.index.Close() // ok: replaced, or opened again by openIndex
		s.index = nil
	}
	if err := fsys.Rename(temp, s.indexPath()); err != nil {
		return err
	}
	s.sequence, s.dirty, s.made = sequence{last: int64(len(records)), numbered: true}, false, true
	return nil
}

// sweep removes unreferenced contents and unfinished writes of killed processes.
func sweep(s *store, used map[string]bool) error {
	if err := s.pack.sweep(s.dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(s.blobs())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !used[e.Name()] {
			os.Remove(s.blob(e.Name())) // ok: retried next time
		}
	}
	return nil
}
