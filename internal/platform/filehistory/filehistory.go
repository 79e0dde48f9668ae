// Package filehistory keeps what files were before tools changed them, so that a session can go back
// to how they were before a message. It needs no version control. Contents are stored once each, under
// their hash; which message is being answered is told by the session, and what is changed by the
// tools.
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

	"adze/internal/platform/replace"
)

const (
	// maxSnapshots is how many messages can be gone back to.
	maxSnapshots = 100
	// maxFile is the size of the largest file that is kept.
	maxFile = 1 << 30
	// maxDead is how much may be kept that nothing refers to, until the rest is written again.
	maxDead = 8 << 20
)

// ErrOff says that no history is kept.
var ErrOff = errors.New("there is no file history to go back in: the setting fileHistory.enabled is false")

// A History is the file history of one session. It may be used concurrently, by one process at a time.
// A nil History keeps nothing, and says so when asked to go back.
type History struct {
	store *store
	log   *slog.Logger
	write func(path string, data []byte, mode fs.FileMode) error

	mu sync.Mutex
	timeline
	drafts []string // contents whose hash is not known yet
	had    int64    // how many changes there were before
}

// Changed returns how many changes to files there were in all. A nil History has none.
func (h *History) Changed() int64 {
	if h == nil {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changes
}

// Open returns the history kept in dir, which is made when there is something to keep. It fails with [ErrLocked]
// if another process has it open. Changes is the [History.Changed] of the last time: if the history has fewer,
// its end is missing, and it is damaged. Log gets what is wrong with its records; nil discards that.
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

// An Author is who changes files: an agent, or the main conversation, which has no id.
type Author struct{ ID, Title string }

// String names the author in a sentence.
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

// userID is the author of what a rewind does. Agents have other ids.
const userID = "user"

// Begin says that a user message is being answered. What is changed from now on belongs to it.
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

// save records the snapshots that are not yet, and more after them. The first ones wait until there is
// something to keep, so that a session that changes nothing leaves nothing.
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

// Alias says that an assistant message changes files in answer to the current user message: its id
// then means the same.
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

// Backup keeps the content of the file at path, or that there is none, before an author changes it. Without it the file
// must not be changed, nor before [History.Flush]. It returns the number of the change.
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

// note adds a version to the current snapshot, and returns the number of the change that follows.
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

// Writing says that a change is about to give the file at path the content with this hash. If the process is killed
// before [History.Wrote], the file still counts as its own.
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

// Wrote says that a change gave the file at path the content with this hash.
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

// evict drops the oldest snapshots beyond the bound, with the contents only they had.
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
			return // what it refers to must stay
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

// Flush makes what was kept so far survive a loss of power, not only the end of this process.
func (h *History) Flush() error {
	if h == nil {
		return nil
	}
	if err := h.store.sync(); err != nil {
		return fmt.Errorf("keeping what files were before changing them: %w", err)
	}
	return nil
}

// Sync does what [History.Flush] does, and all that was put off.
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
