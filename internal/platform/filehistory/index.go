package filehistory

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// A record is a line of the index.
type record struct {
	// Type is snapshot (ID begins), alias (ID means Of), file (what Path was, in the snapshot Of), left
	// (how the tools left Path), hash (the draft ID is the content Hash), drop (ID is gone), pack (ID is the
	// name of the pack) or content (where Hash is in the pack).
	Type string     `json:"type"`
	ID   string     `json:"id,omitempty"`
	Of   string     `json:"of,omitempty"`
	Time *time.Time `json:"time,omitempty"`
	Path string     `json:"path,omitempty"`
	Hash string     `json:"hash,omitempty"`
	// Draft is what the content is called until its hash is told. Without either there was no file.
	Draft string      `json:"draft,omitempty"`
	Mode  fs.FileMode `json:"mode,omitempty"`
	At    int64       `json:"at,omitempty"`
	Size  int64       `json:"size,omitempty"`
}

func (v version) record(kind, path, of string) record {
	return record{Type: kind, Path: path, Of: of, Hash: v.hash, Draft: v.draft, Mode: v.mode}
}

func (s *snapshot) records() []record {
	records := []record{{Type: "snapshot", ID: s.id, Time: &s.time}}
	for _, alias := range s.aliases {
		records = append(records, record{Type: "alias", ID: alias, Of: s.id})
	}
	return records
}

// load reads the index, repairs its end, and removes contents nothing refers to.
func (h *History) load() error {
	data, err := os.ReadFile(h.store.indexPath())
	if errors.Is(err, fs.ErrNotExist) {
		return h.sweep() // contents whose index was never written
	}
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	if whole < len(data) { // the process was killed in the middle of a line
		if err := os.Truncate(h.store.indexPath(), int64(whole)); err != nil {
			return err
		}
	}
	dropped, number := 0, 0
	for line := range bytes.Lines(data[:whole]) {
		number++
		var r record
		err := json.Unmarshal(line, &r)
		if err == nil {
			err = h.replay(r)
		}
		if err != nil {
			h.log.Warn("a record of the file history is damaged and was skipped", "line", number, "error", err)
		}
		if r.Type == "drop" {
			dropped++
		}
	}
	h.settle()
	if dropped > 0 {
		if err := h.compact(); err != nil {
			return err
		}
	}
	return h.sweep()
}

// replay takes a record into account.
func (h *History) replay(r record) error {
	if r.Hash != "" && !isHash(r.Hash) {
		return fmt.Errorf("%q is not a hash", r.Hash)
	}
	if r.Draft != "" && !isDraft(r.Draft) {
		return fmt.Errorf("%q is not the name of a draft", r.Draft)
	}
	v := version{hash: r.Hash, draft: r.Draft, mode: r.Mode.Perm()}
	switch r.Type {
	case "snapshot":
		if r.ID == "" || r.Time == nil || h.ids[r.ID] != nil {
			return fmt.Errorf("the snapshot %q is not complete, or not the first of its name", r.ID)
		}
		h.add(&snapshot{id: r.ID, time: *r.Time, files: map[string][]version{}, saved: true})
		return nil
	case "left":
		h.left[r.Path] = v
		return nil
	case "pack":
		if !strings.HasPrefix(r.ID, "pack-") || strings.ContainsAny(r.ID, `/\`) {
			return fmt.Errorf("%q is not the name of a pack", r.ID)
		}
		h.store.pack = pack{name: r.ID, places: map[string]place{}}
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
		h.rename(r.ID, r.Hash)
		h.drafts = slices.DeleteFunc(h.drafts, func(name string) bool { return name == r.ID })
		return h.store.adoptDraft(r.ID, r.Hash)
	}
	s := h.ids[r.Of]
	switch {
	case s == nil:
		return fmt.Errorf("there is no snapshot %q", r.Of)
	case r.Type == "alias" && h.ids[r.ID] == nil:
		h.alias(r.ID, s)
	case r.Type == "file" && r.Path != "":
		s.files[r.Path] = append(s.files[r.Path], v)
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

// compact writes the history again, without what was dropped.
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
	if err := h.store.rewrite(h.records()); err != nil {
		return err
	}
	done()
	return nil
}

// records returns all that an index has to say.
func (h *History) records() []record {
	records := []record{{Type: "pack", ID: h.store.pack.name}}
	for hash, p := range h.store.pack.places {
		records = append(records, p.record(hash))
	}
	tracked := map[string]bool{}
	for _, s := range h.snapshots {
		if !s.saved {
			continue
		}
		records = append(records, s.records()...)
		for path, versions := range s.files {
			tracked[path] = true
			for _, v := range versions {
				records = append(records, v.record("file", path, s.id))
			}
		}
	}
	for path, v := range h.left {
		if !tracked[path] {
			delete(h.left, path)
			continue
		}
		records = append(records, v.record("left", path, ""))
	}
	return records
}

// rewrite replaces the index.
func (s *store) rewrite(records []record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b bytes.Buffer
	for _, r := range records {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	temp := s.indexPath() + ".new"
	if err := os.WriteFile(temp, b.Bytes(), 0o600); err != nil {
		return err
	}
	if err := syncFile(temp); err != nil {
		return err
	}
	if err := os.Rename(temp, s.indexPath()); err != nil {
		return err
	}
	if s.index != nil { // that of the old one
		s.index.Close()
		s.index = nil
	}
	return nil
}

// sweep removes contents that nothing refers to, and what was being written when a process was killed.
func (h *History) sweep() error {
	if err := h.store.sweepPacks(); err != nil {
		return err
	}
	entries, err := os.ReadDir(h.store.blobs())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	used := h.used()
	for _, e := range entries {
		if !used[e.Name()] {
			os.Remove(h.store.blob(e.Name())) // ok: it is tried again the next time
		}
	}
	return nil
}
