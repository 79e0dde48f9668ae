// Package filehistory saves the content of files before tools change them, so that a session
// can rewind them to the state before a message. It does not need version control. Contents are
// stored once each, under their hash.
package filehistory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"adze/internal/platform/fs/replace"
)

const (
	// maxSnapshots is the number of messages that can be rewound to.
	maxSnapshots = 100
	// maxFile is the size of the largest file that is saved.
	maxFile = 1 << 30
	// maxDead is the amount of unreferenced data that triggers compaction.
	maxDead = 8 << 20
)

// ErrOff means that the file history is disabled.
var ErrOff = errors.New("no file history: the setting fileHistory.enabled is false")

// A History is a session's file history. It is safe for concurrent use by one process at a
// time. A nil History saves nothing and returns [ErrOff] for a rewind.
type History struct {
	store *store
	log   *slog.Logger
	write func(path string, data []byte, mode fs.FileMode) error

	mu sync.Mutex
	timeline
	drafts []string // contents whose hash is not yet known
	had    int64    // number of changes according to the caller of Open
}

// Changed returns the total number of file changes. A nil History has none.
func (h *History) Changed() int64 {
	if h == nil {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changes
}

// Open opens the history in dir, which is created on the first write. It fails with [ErrLocked]
// if another process has it open. Changes is the last known value of [History.Changed]: if the
// history has fewer, its end is missing and it is damaged. Log receives problems with its
// records; it may be nil.
func Open(dir string, changes int64, log *slog.Logger) (*History, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	h := &History{store: newStore(dir), log: log, write: replace.WriteFile, timeline: newTimeline(), had: changes}
	err := h.store.takeLock()
	if err == nil || !errors.Is(err, ErrLocked) {
		err = h.load()
	}
	if err != nil {
		return nil, fmt.Errorf("opening the file history: %w", err)
	}
	return h, nil
}

// An Author changes files: an agent, or the main conversation, which has no ID.
type Author struct{ ID, Title string }

// String returns the author's name for use in a sentence.
func (a Author) String() string {
	const longest = 60
	title := []rune(strings.Join(strings.Fields(a.Title), " "))
	switch {
	case a.ID == "":
		return "the main conversation"
	case len(title) == 0:
		return "the agent " + a.ID
	case len(title) > longest:
		title = append(title[:longest-1], '…')
	}
	return fmt.Sprintf("the agent %q (%s)", string(title), a.ID)
}

// userID is the author ID of rewinds. Agents have other IDs.
const userID = "user"

// Begin starts a snapshot for a user message. Later changes belong to it.
func (h *History) Begin(messageID string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin(messageID)
	h.evict()
}

func (h *History) begin(id string) {
	if !h.enter(id) {
		return
	}
	h.current.number = h.store.last
	if len(h.snapshots) > 1 && h.snapshots[len(h.snapshots)-2].saved {
		if err := h.save(); err != nil {
			h.log.Warn("the file history cannot be written", "error", err)
		}
	}
}

// save records the unsaved snapshots, followed by more. The first ones are delayed until there
// is something to save, so that a session without changes creates no files.
func (h *History) save(more ...record) error {
	var records []record
	unsaved := slices.IndexFunc(h.snapshots, func(s *snapshot) bool { return !s.saved })
	if unsaved < 0 {
		unsaved = len(h.snapshots)
	}
	for _, s := range h.snapshots[unsaved:] {
		records = append(records, s.records()...)
	}
	if err := h.store.append(append(records, more...)...); err != nil {
		return err
	}
	for _, s := range h.snapshots[unsaved:] {
		s.saved = true
	}
	return nil
}

// Alias makes an assistant message's ID an alias of the current user message.
func (h *History) Alias(messageID string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current == nil || h.ids[messageID] != nil {
		return
	}
	h.alias(messageID, h.current)
	if h.current.saved {
		if err := h.store.append(record{Type: "alias", ID: messageID, Of: h.current.id}); err != nil {
			h.log.Warn("the file history cannot be written", "error", err)
		}
	}
}

// Backup saves the content of the file at path, or its absence, before an author changes it.
// The file must not be changed before Backup and [History.Flush] have succeeded. It returns the
// number of the change.
func (h *History) Backup(ctx context.Context, path string, by Author) (change int64, err error) {
	if h == nil {
		return 0, nil
	}
	if !utf8.ValidString(path) {
		return 0, fmt.Errorf("keeping %q: the name is not valid UTF-8", path)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current == nil {
		h.begin("start")
	}
	v, err := h.store.keep(ctx, path)
	if err == nil {
		change, err = h.note(path, v, by)
	}
	if err != nil {
		return 0, fmt.Errorf("keeping the content of %s before changing it: %w", path, err)
	}
	return change, nil
}

// note adds a version to the current snapshot and returns the number of the upcoming change.
func (h *History) note(path string, v version, by Author) (change int64, err error) {
	s := h.current
	v.change = h.changes + 1
	b := &backup{version: v, by: by}
	if err := h.save(b.record(path, s.id)); err != nil {
		return 0, err
	}
	b.number = h.store.last
	h.keep(s, path, b)
	if v.draft != "" {
		h.drafts = append(h.drafts, v.draft)
	}
	return v.change, nil
}

// Writing records that a change is about to give the file at path the content with this hash.
// If the process is killed before [History.Wrote], the content still counts as written by a
// tool.
func (h *History) Writing(change int64, path string, hash [sha256.Size]byte) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	v := version{hash: hex.EncodeToString(hash[:]), change: change}
	if err := h.store.append(v.record("next", path, "")); err != nil {
		h.log.Warn("the file history cannot be written", "error", err)
		return
	}
	v.number = h.store.last
	h.expect(path, v)
}

// Wrote records that a change gave the file at path the content with this hash.
func (h *History) Wrote(change int64, path string, hash [sha256.Size]byte) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leave(path, version{hash: hex.EncodeToString(hash[:]), change: change})
}

func (h *History) leave(path string, v version) {
	if err := h.store.append(v.record("left", path, "")); err != nil {
		h.log.Warn("the file history cannot be written", "error", err)
	}
	v.number = h.store.last
	h.made(path, v)
}

// evict drops the oldest snapshots beyond the limit, and the contents only they use.
func (h *History) evict() {
	h.settle()
	for len(h.snapshots) > maxSnapshots {
		old := h.snapshots[0]
		h.forget(old.id)
		if !old.saved {
			continue
		}
		if err := h.store.append(record{Type: "drop", ID: old.id}); err != nil {
			h.log.Warn("the file history cannot be written", "error", err)
			return // its contents must be kept
		}
		if !h.intact(h.store) {
			continue
		}
		used := h.used()
		for _, versions := range old.files {
			for _, v := range versions {
				if !used[v.hash] && !v.absent() {
					h.store.drop(v.hash)
				}
			}
		}
	}
	if dead := h.store.pack.dead; dead > maxDead && dead > h.store.pack.size/2 && h.intact(h.store) {
		if err := h.compact(); err != nil {
			h.log.Warn("the file history cannot be compacted", "error", err)
		}
	}
}

// Flush makes everything saved so far survive a power failure, not only the end of this
// process.
func (h *History) Flush() error {
	if h == nil {
		return nil
	}
	if err := h.store.sync(); err != nil {
		return fmt.Errorf("saving files before changing them: %w", err)
	}
	return nil
}

// Sync is like [History.Flush], and also completes deferred work.
func (h *History) Sync() error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	h.settle()
	h.mu.Unlock()
	return h.store.sync()
}

// Close syncs and closes the history.
func (h *History) Close() error {
	if h == nil {
		return nil
	}
	return errors.Join(h.Sync(), h.store.close())
}
