package lifecycle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/hook"
	"adze/internal/platform/fs/filestate"
)

// maxWatched is the maximum number of watched files.
const maxWatched = 256

// A watch polls files and fires hooks when they change.
type watch struct {
	mu     sync.Mutex
	named  []string                    // paths from hooks, as written
	marks  map[string]*filestate.Stamp // file states at the last poll, by path; nil for a missing file
	twice  map[string]bool             // files that changed while hooks ran for a change; see settle
	many   bool                        // the warning about too many files was shown
	begun  bool
	closed bool
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// Moved fires the event of a changed working directory.
func (h *Hooks) Moved(ctx context.Context, from, to string) {
	out := h.Fire(ctx, hook.OnCwdChanged(from, to))
	if h.began.Load() {
		h.watch(out.Watch)
	}
}

// watch starts polling the files that hooks name, and the files in the working directory that
// FileChanged matchers name. A nil list means that the hooks' list is unchanged.
func (h *Hooks) watch(named []string) {
	if h.cfg.Pace == nil {
		return
	}
	w := &h.files
	w.mu.Lock()
	defer w.mu.Unlock()
	if named != nil {
		w.named = named
	}
	paths := h.watched()
	if len(paths) > maxWatched {
		if !w.many {
			h.cfg.Say(fmt.Sprintf("hooks want %d files to be watched; only the first %d are", len(paths), maxWatched))
		}
		w.many, paths = true, paths[:maxWatched]
	}
	marks := make(map[string]*filestate.Stamp, len(paths))
	for _, path := range paths {
		mark, known := w.marks[path]
		if !known {
			mark = look(path)
		}
		marks[path] = mark
	}
	w.marks = marks
	if len(marks) == 0 || w.begun || w.closed {
		return
	}
	w.begun, w.twice = true, map[string]bool{}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	w.done.Go(func() {
		for h.cfg.Pace(ctx) {
			h.tell(ctx)
		}
	})
}

// watched returns the files to watch.
func (h *Hooks) watched() []string {
	var paths []string
	dir := h.cfg.Runner.Common().Dir
	add := func(path string) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if path = filepath.Clean(path); path != filepath.Clean(dir) && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	if !h.Has(hook.FileChanged) {
		return nil
	}
	for _, path := range h.files.named {
		add(path)
	}
	for _, l := range h.List() {
		if l.Event != hook.FileChanged || l.Idle != "" {
			continue
		}
		for name := range strings.FieldsFuncSeq(l.Matcher, func(r rune) bool { return r == '|' || r == ',' }) {
			if name = strings.TrimSpace(name); name != "" && !strings.ContainsAny(name, `\^$*+?()[]{}/`) { // skip patterns: they do not name a file
				add(name)
			}
		}
	}
	return paths
}

// tell fires hooks for the files that changed since the last poll.
func (h *Hooks) tell(ctx context.Context) {
	type change struct{ path, what string }
	var changes []change
	w := &h.files
	w.mu.Lock()
	for path, was := range w.marks {
		is := look(path)
		switch {
		case same(was, is):
			continue
		case was == nil:
			changes = append(changes, change{path, "add"})
		case is == nil:
			changes = append(changes, change{path, "unlink"})
		default:
			changes = append(changes, change{path, "change"})
		}
		w.marks[path] = is
	}
	w.mu.Unlock()
	slices.SortFunc(changes, func(a, b change) int { return strings.Compare(a.path, b.path) })
	for _, c := range changes {
		out := h.Fire(ctx, hook.OnFileChanged(c.path, c.what))
		w.settle(c.path)
		if out.Watch != nil {
			h.watch(out.Watch)
		}
	}
}

// settle is called after hooks ran for a change. If the file changed again in the meantime, by
// the user or the hook itself, the hooks run once more. A change during that second run is
// ignored; otherwise a hook that writes its watched file would run forever.
func (w *watch) settle(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was, watched := w.marks[path]
	switch is := look(path); {
	case !watched || same(was, is):
		delete(w.twice, path)
	case w.twice[path]:
		delete(w.twice, path)
		w.marks[path] = is
	default:
		w.twice[path] = true
	}
}

// same reports whether two states of a file are equal.
func same(a, b *filestate.Stamp) bool { return a == b || a != nil && b != nil && *a == *b }

// look returns the state of a file, or nil if it does not exist.
func look(path string) *filestate.Stamp {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	s := filestate.StampOf(info)
	return &s
}

// stop ends polling.
func (w *watch) stop() {
	w.mu.Lock()
	w.closed = true
	if w.cancel != nil {
		w.cancel()
	}
	w.mu.Unlock()
	w.done.Wait()
}
