package filehistory

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Options configure a rewind.
type Options struct {
	// Force also restores files changed outside the tools and, in a damaged history, the files
	// whose previous state is certain.
	Force bool
	// DryRun reports the changes without making them.
	DryRun bool
	// Later are the user messages after the target, oldest first. A target without records is
	// then equivalent to the first of them that has some. If nil, the target must have records.
	Later []string
	// UndoRewind undoes the rewind with the given ID, and nothing that happened since.
	UndoRewind bool
}

// Conflict is the error for a rewind when files were changed outside the tools. Nothing was
// changed.
type Conflict struct{ Paths []string }

// Error lists the files.
func (e *Conflict) Error() string {
	return "these files were changed by something else than adze's tools, and would lose that: " + strings.Join(e.Paths, ", ")
}

// Incomplete is the error for a rewind when records since the target are missing. Nothing was
// changed.
type Incomplete struct {
	// Paths are the files whose previous state is uncertain.
	Paths []string
}

// Error lists the files.
func (e *Incomplete) Error() string {
	const text = "the file history is damaged: records since that message are missing, and "
	if len(e.Paths) == 0 {
		return text + "it may not know of every file that was changed"
	}
	return text + "the earlier content of these files is uncertain: " + strings.Join(e.Paths, ", ")
}

// rewindPrefix is the prefix of IDs that undo a rewind.
const rewindPrefix = "rewind-"

// A Report describes the effect of a rewind.
type Report struct {
	Stats
	Paths []string // changed files
	// Changes are the undone changes, one for each path.
	Changes []FileChange
	Undo    string // ID that undoes the rewind
	// Damaged is true if records since the target are missing: unknown files may have changed.
	// Left are the known files that were not restored because their previous state is
	// uncertain.
	Damaged bool
	Left    []string
	// Later are files that were not restored because others changed them later.
	Later []LaterChange
}

// Rewind restores every file that tools changed since the message with this ID or alias to its
// state just before that message. On an error, no file is changed. The current state is saved
// first, under the ID in Report.Undo.
//
// With an agent's ID, it undoes that agent's changes and no others: a file in which that is
// impossible is not changed.
func (h *History) Rewind(ctx context.Context, id string, o Options) (Report, error) {
	if h == nil {
		return Report{}, ErrOff
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settle()
	from, before, err := h.since(id, o.Later)
	if err != nil {
		return Report{}, err
	}
	var report Report
	if gap := h.store.gapAfter(before); gap > 0 {
		report.Left, report.Damaged = h.doubtful(from, gap), true
		if !o.Force {
			return Report{}, &Incomplete{report.Left}
		}
	}
	var plan []step
	switch {
	case o.UndoRewind:
		plan, report.Later, err = planRewindUndo(h, from, report.Left)
	case h.authored(id) >= 0:
		plan, report.Later, err = planUndo(h, id, report.Left)
	default:
		plan, err = h.plan(from, report.Left)
	}
	if err != nil {
		return Report{}, err
	}
	if !o.Force {
		var conflict Conflict
		for _, step := range plan {
			if step.foreign {
				conflict.Paths = append(conflict.Paths, step.path)
			}
		}
		if len(conflict.Paths) > 0 {
			return Report{}, &conflict
		}
	}
	if report.Changes, err = compare(h.store, plan); err != nil {
		return Report{}, err
	}
	for _, f := range report.Changes {
		report.Paths = append(report.Paths, f.Path)
		report.Stats.add(f)
	}
	if o.DryRun || len(plan) == 0 {
		return report, nil
	}
	report.Undo = rewindPrefix + rand.Text()
	h.begin(report.Undo)
	defer h.evict() // last: the evicted contents may be needed for the restore
	for i := range plan {
		if err := h.keepNow(ctx, &plan[i]); err != nil {
			return Report{}, fmt.Errorf("saving the current %s: %w; nothing was changed", plan[i].path, err)
		}
	}
	if err := recordPlan(h, &pendingRewind{to: id, undo: report.Undo}, plan); err != nil {
		return Report{}, fmt.Errorf("saving the current files: %w; nothing was changed", err)
	}
	if err := applySteps(plan, h.put); err != nil {
		endRewind(h)
		return Report{}, err
	}
	for _, step := range plan {
		step.then.change = step.change
		h.leave(step.path, step.then)
	}
	endRewind(h)
	return report, nil
}

// recordPlan records the upcoming restores, so that they are known if the process is killed.
func recordPlan(h *History, r *pendingRewind, plan []step) error {
	records := []record{r.record()}
	for _, s := range plan {
		next := s.then
		next.change = s.change
		records = append(records, next.record("next", s.path, ""))
	}
	if err := h.store.append(records...); err != nil {
		return err
	}
	h.begun = r
	return h.store.sync()
}

// endRewind records the end of the rewind.
func endRewind(h *History) {
	h.begun = nil
	if err := h.store.append(record{Type: "rewound"}); err != nil {
		h.log.Warn("the file history cannot be written", "error", err)
	}
}

// Interrupted reports, once, that the last rewind was interrupted when its process was killed:
// some files may be restored and others not. A rewind to the same message completes it, a
// rewind to undo reverts it.
func (h *History) Interrupted() (to, undo string, ok bool) {
	if h == nil {
		return "", "", false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.begun == nil {
		return "", "", false
	}
	to, undo = h.begun.to, h.begun.undo
	endRewind(h)
	return to, undo, true
}

// keepNow saves a file's current state before it is restored.
func (h *History) keepNow(ctx context.Context, s *step) error {
	s.info, _ = os.Lstat(s.path) // ok: may not exist
	now, err := h.store.keep(ctx, s.path)
	if err != nil {
		return err
	}
	if s.change, err = h.note(s.path, now, Author{ID: userID}); err != nil {
		return err
	}
	if s.fresh != nil {
		if err := h.store.put(s.then.hash, s.fresh); err != nil {
			return err
		}
	}
	if now.draft != "" {
		h.drafts = h.drafts[:len(h.drafts)-1]
		if now.hash, err = h.finish(now.draft); err != nil {
			return err
		}
	}
	if now.hash != s.now.hash {
		return errors.New("it was changed just now")
	}
	return nil
}

// A step restores one file.
type step struct {
	path      string
	now, then version
	data      []byte      // current content
	fresh     []byte      // target content, if it is not stored yet
	foreign   bool        // changed outside the tools
	change    int64       // number of the restoring change
	info      fs.FileInfo // file info when it was saved; nil if the file did not exist
}

// changed reports whether a file has changed since it was saved: an agent's tool may be
// running.
func (s *step) changed() bool {
	info, err := os.Lstat(s.path)
	if err != nil || s.info == nil {
		return !(errors.Is(err, fs.ErrNotExist) && s.info == nil)
	}
	return !os.SameFile(info, s.info) || info.Size() != s.info.Size() || !info.ModTime().Equal(s.info.ModTime())
}

// plan returns the steps to restore the snapshot at index from, except for some files. It has
// verified all contents to restore.
func (h *History) plan(from int, except []string) ([]step, error) {
	var steps []step
	then := h.at(from)
	for _, path := range slices.Sorted(maps.Keys(then)) {
		if slices.Contains(except, path) {
			continue
		}
		now, data, err := currentVersion(path)
		if err != nil {
			return nil, fmt.Errorf("looking at %s: %w; nothing was changed", path, err)
		}
		step := step{path: path, now: now, data: data, then: then[path]}
		if now.hash == step.then.hash && (now.absent() || now.mode == step.then.mode) {
			continue
		}
		if !step.then.absent() {
			if _, err := h.store.content(step.then); err != nil {
				return nil, fmt.Errorf("the earlier version of %s is missing (%w); nothing was changed", path, err)
			}
		}
		step.foreign = !own(&h.timeline, path, now)
		steps = append(steps, step)
	}
	return steps, nil
}

// applySteps restores the files one by one. If one fails, it reverts the previous ones. Put gives
// a file the content and mode of a version.
func applySteps(steps []step, put func(path string, v version) error) error {
	for i, s := range steps {
		err := errors.New("it was changed just now")
		if !s.changed() {
			err = put(s.path, s.then)
		}
		if err == nil {
			continue
		}
		err = fmt.Errorf("restoring %s: %w", s.path, err)
		for _, done := range slices.Backward(steps[:i]) {
			if back := put(done.path, done.now); back != nil {
				err = fmt.Errorf("%w; and putting %s back: %w", err, done.path, back)
			}
		}
		return err
	}
	return nil
}

// put gives the file at path the content and mode of v.
func (h *History) put(path string, v version) error {
	if v.absent() {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	data, err := h.store.content(v)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("it is not a regular file any more (%s)", info.Mode().Type())
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return h.write(path, data, v.mode)
}
