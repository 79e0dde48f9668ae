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

// Options say how to go back.
type Options struct {
	// Force also restores files that were changed by others than the tools, and in a damaged history those of
	// which it is sure.
	Force bool
	// Dry says what would change, and changes nothing.
	Dry bool
	// Later are the messages of the user after the one to go back to, oldest first. A message of which nothing was
	// recorded is then as good as the first of them of which something was; nil means that it must be known.
	Later []string
	// Back takes the rewind with the id back, and nothing that happened since.
	Back bool
}

// Conflict is the error of going back when files were changed by others than the tools. Nothing was
// changed.
type Conflict struct{ Paths []string }

// Error lists the files.
func (e *Conflict) Error() string {
	return "these files were changed by something else than adze's tools, and would lose that: " + strings.Join(e.Paths, ", ")
}

// Incomplete is the error of going back when records are missing of what happened since. Nothing was changed.
type Incomplete struct {
	// Paths are the files of which something else may be known than what they were.
	Paths []string
}

// Error lists the files.
func (e *Incomplete) Error() string {
	const text = "the file history is damaged: records since that message are missing, and "
	if len(e.Paths) == 0 {
		return text + "it may not know of every file that was changed"
	}
	return text + "it is not known for sure what these files were: " + strings.Join(e.Paths, ", ")
}

// rewindPrefix begins the id that takes a rewind back.
const rewindPrefix = "rewind-"

// A Report is what going back did.
type Report struct {
	Stats
	Paths []string // that changed
	// Changes are what is taken back, of each of the paths.
	Changes []FileChange
	Undo    string // the id that takes it back
	// Damaged says that records are missing of what happened since: files may have changed that are not known
	// of. Left are those, of the known ones, that were left as they are, since what they were is not sure.
	Damaged bool
	Left    []string
	// Later are files that were left as they are, since others changed them later.
	Later []LaterChange
}

// Rewind restores every file that tools changed since the message with this id, or one of its aliases,
// to what it was just before that message. It does so for all of them or, on an error, for none. What
// they are now is kept first: the report says under which id.
//
// With the id of an agent it takes back what that agent has changed, and nothing that others have: a file in which that
// is not possible is left as it is.
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
	case o.Back:
		plan, report.Later, err = planBack(h, from, report.Left)
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
	if o.Dry || len(plan) == 0 {
		return report, nil
	}
	report.Undo = rewindPrefix + rand.Text()
	h.begin(report.Undo)
	defer h.evict() // not before: what goes may be what is restored
	for i := range plan {
		if err := h.keepNow(ctx, &plan[i]); err != nil {
			return Report{}, fmt.Errorf("keeping what %s is now: %w; nothing was changed", plan[i].path, err)
		}
	}
	if err := announce(h, &rewinding{to: id, undo: report.Undo}, plan); err != nil {
		return Report{}, fmt.Errorf("keeping what the files are now: %w; nothing was changed", err)
	}
	if err := carryOut(plan, h.put); err != nil {
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

// announce records what is about to be restored, so that a process that is killed meanwhile leaves word of it.
func announce(h *History, r *rewinding, plan []step) error {
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

// endRewind records that no rewind is under way.
func endRewind(h *History) {
	h.begun = nil
	if err := h.store.append(record{Type: "rewound"}); err != nil {
		h.log.Warn("the file history cannot be written", "error", err)
	}
}

// Interrupted reports, once, that the last rewind was cut short when its process was killed: some files may be
// restored and others not. A rewind to the same message completes it, one to undo takes it back.
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

// keepNow keeps what a file is before it is restored.
func (h *History) keepNow(ctx context.Context, s *step) error {
	s.info, _ = os.Lstat(s.path) // ok: there may be none
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
	data      []byte      // what is there now
	fresh     []byte      // what is to be there, if no file was that yet
	foreign   bool        // others changed the file
	change    int64       // the number of the change that restores it
	info      fs.FileInfo // of what was kept; nil if there was no file
}

// changed reports whether a file is not what was kept of it: a tool of an agent may be at work.
func (s *step) changed() bool {
	info, err := os.Lstat(s.path)
	if err != nil || s.info == nil {
		return !(errors.Is(err, fs.ErrNotExist) && s.info == nil)
	}
	return !os.SameFile(info, s.info) || info.Size() != s.info.Size() || !info.ModTime().Equal(s.info.ModTime())
}

// plan returns what to restore to be at the snapshot with this place, except for some files. The contents to
// restore are all known to be whole.
func (h *History) plan(from int, except []string) ([]step, error) {
	var steps []step
	then := h.at(from)
	for _, path := range slices.Sorted(maps.Keys(then)) {
		if slices.Contains(except, path) {
			continue
		}
		now, data, err := look(path)
		if err != nil {
			return nil, fmt.Errorf("looking at %s: %w; nothing was changed", path, err)
		}
		step := step{path: path, now: now, data: data, then: then[path]}
		if now.hash == step.then.hash && (now.absent() || now.mode == step.then.mode) {
			continue
		}
		if !step.then.absent() {
			if _, err := h.store.content(step.then); err != nil {
				return nil, fmt.Errorf("what %s was is not there any more (%w); nothing was changed", path, err)
			}
		}
		step.foreign = !own(&h.timeline, path, now)
		steps = append(steps, step)
	}
	return steps, nil
}

// carryOut restores the files one by one. If one fails, those before it are put back. Put makes
// a file what a version says.
func carryOut(steps []step, put func(path string, v version) error) error {
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

// put makes the file at path what v says.
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
