package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/app/setup"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/gitinfo"
	"adze/internal/platform/scope"
	"adze/internal/platform/task"
	"adze/internal/session/archive"
	"adze/internal/session/store"
)

// A transcript is what a conversation keeps on disk, and what an earlier process left there.
type transcript struct {
	id      string
	log     *store.Log      // nil if nothing is kept
	earlier *store.Contents // of the session that is resumed; nil for a new one
	lost    []task.Notice   // of tasks that ended with the earlier process
}

// path returns where the transcript is, or "" if none is kept.
func (t *transcript) path() string {
	if t.log == nil {
		return ""
	}
	return t.log.Path()
}

// folder returns the directory for what is kept beside the transcript, or "".
func (t *transcript) folder() string { return strings.TrimSuffix(t.path(), ".jsonl") }

// keeps reports whether a session is kept on disk.
func (w *Workspace) keeps(s SessionSpec) bool { return !s.Ephemeral && !w.values().Transcript.Never }

// openTranscript begins a transcript, or loads the one that the spec names and takes up what the session
// chose. Nothing is written before the first message.
func (c *Conversation) openTranscript(ctx context.Context) error {
	w, spec := c.ws, c.spec.Session
	t := &transcript{id: cmp.Or(spec.ID, msg.NewID())}
	c.record = t
	if w.Project.HomeErr != nil && (spec.Resumes() || w.keeps(spec)) {
		return setup.Errorf("%v", w.Project.HomeErr)
	}
	var err error
	if spec.Resumes() {
		err = w.resume(ctx, spec, t)
	} else if w.keeps(spec) {
		err = w.begin(spec, t)
	}
	if err != nil {
		return err
	}
	if t.earlier != nil {
		t.lost = lostTasks(t.earlier)
		c.restore(ctx, t.earlier)
	}
	if t.log == nil {
		return nil
	}
	c.closers.add(func() {
		if err := t.log.Close(); err != nil {
			w.Say(fmt.Sprintf("the transcript is not complete: %v", err))
		}
	})
	if len(c.spec.Access.Dirs) > 0 {
		if err := t.log.Note(store.Dirs(c.spec.Access.Dirs)); err != nil {
			w.Say(err.Error())
		}
	}
	w.cleanUp(&c.closers)
	return nil
}

// restore takes up what the session chose, unless the spec says otherwise, and tells the user what is not as
// it was.
func (c *Conversation) restore(ctx context.Context, earlier *store.Contents) {
	for _, notice := range earlier.Notices {
		c.ws.Say(notice)
	}
	state := earlier.State
	if state.Model != "" && c.spec.Model.Name == "" && !strings.HasPrefix(state.Model, replayPrefix) {
		if _, err := c.ws.Models.table.Resolve(state.Model); err == nil {
			c.spec.Model.Name = state.Model
		} else {
			c.ws.Say(fmt.Sprintf("the session used the model %s, which is not known any more; the default is used", state.Model))
		}
	}
	a := c.spec.Access
	if mode := permission.Mode(state.Mode); mode != "" && a.Mode == "" && !a.Skip && mode != permission.Bypass {
		if _, err := c.setMode(state.Mode); err != nil {
			c.ws.Say(fmt.Sprintf("the session's permission mode cannot be restored: %v", err))
		}
	}
	var dirs []string
	for _, dir := range state.Dirs {
		if !isDir(dir) {
			c.ws.Say(fmt.Sprintf("the directory %s of the session does not exist any more", dir))
			continue
		}
		dirs = append(dirs, dir)
	}
	if len(dirs) == 0 {
		return
	}
	add := permission.Update{Type: permission.AddDirectories, Directories: dirs, Destination: scope.Session}
	if err := c.Gate.Apply(ctx, []permission.Update{add}); err != nil {
		c.ws.Say(fmt.Sprintf("the session's directories cannot be restored: %v", err))
	}
}

func (w *Workspace) logOptions(id string) store.Options {
	branch, _ := gitinfo.Branch(w.Dir)
	return store.Options{
		Home: w.Project.Home, Dir: w.Dir, Session: id, Version: w.Version, Branch: branch,
		NoSync: w.values().Transcript.NoSync,
	}
}

// begin opens the transcript of a new session.
func (w *Workspace) begin(s SessionSpec, t *transcript) (err error) {
	if t.log, err = store.Open(w.logOptions(t.id)); err != nil {
		return setup.Errorf("%v", err)
	}
	if s.ID == "" {
		return nil
	}
	if _, err := os.Stat(t.log.Path()); err == nil {
		t.log.Close() // ok: nothing was written
		return setup.Errorf("--session-id: session %s exists already; continue it with --resume %s, or give another id", t.id, t.id)
	}
	return nil
}

// resume finds the session that the spec names and loads it.
func (w *Workspace) resume(ctx context.Context, s SessionSpec, t *transcript) error {
	info, err := w.find(s)
	if err != nil {
		return err
	}
	original, fork := info.ID, t.id // a fork has the id of a new session
	at := store.LoadOptions{At: s.At, Structured: true}
	opt := w.logOptions(original)
	opt.Path = info.Path
	t.id = original
	switch {
	case !w.keeps(s): // nothing is written, so nothing has to be locked
		if t.earlier, err = store.Load(info.Path, at); s.Fork {
			t.id = fork
		}
	case s.Fork:
		t.id = fork
		opt.Session, opt.Path = fork, ""
		if _, err = store.Fork(info.Path, opt, s.At); err == nil {
			if err := Inherit(ctx, w.Project, info, fork, w.Dir); err != nil {
				w.Say(err.Error())
			}
			t.log, t.earlier, err = store.Resume(opt, store.LoadOptions{Structured: true})
		}
	default:
		t.log, t.earlier, err = store.Resume(opt, at)
	}
	switch {
	case errors.Is(err, store.ErrLocked):
		return fmt.Errorf("%w; end it there, or continue in a copy with --fork-session", err)
	case err != nil:
		return fmt.Errorf("resuming session %s: %w", info.ID, err)
	}
	return nil
}

// find returns the session that a spec names.
func (w *Workspace) find(s SessionSpec) (*archive.Info, error) {
	if s.Latest {
		return archive.Latest(w.Project.Home, w.Dir)
	}
	return archive.Find(w.Project.Home, w.Dir, s.Resume)
}

// cleanUp removes old sessions in the background, when the settings ask for it, and says how many.
func (w *Workspace) cleanUp(parts *closers) {
	days := w.values().Transcript.Cleanup
	if days <= 0 {
		return
	}
	home, before := w.Project.Home, w.Now().AddDate(0, 0, -days)
	done, finished := context.WithCancel(context.Background())
	parts.add(func() { <-done.Done() })
	go func() {
		defer finished()
		removed, err := store.Cleanup(store.Projects(home), before, func(id string) []string { return Belongings(home, id) })
		if err != nil {
			w.Say(err.Error())
		}
		if removed > 0 {
			w.Say(fmt.Sprintf("%d sessions older than %d days were removed (cleanupPeriodDays)", removed, days))
		}
	}()
}

// ledger returns a ledger that continues from what the session has cost.
func (w *Workspace) ledger(t *transcript) *cost.Ledger {
	ledger := cost.New(w.Models.facts)
	if t.earlier == nil {
		return ledger
	}
	total := t.earlier.State.Cost
	if total == nil {
		last, err := store.LastCost(w.Project.Home, w.Dir, t.id)
		if err != nil {
			w.Say(err.Error())
		}
		total = last
	}
	if total != nil {
		ledger.Restore(*total)
		return ledger
	}
	for _, e := range t.earlier.Entries {
		if e.Usage != nil {
			ledger.Book(e.Model, *e.Usage, cost.Times{})
		}
	}
	return ledger
}

// saveCost returns what keeps the cost of a session with the project, and reports a failure once.
func (w *Workspace) saveCost(t *transcript) func(cost.Totals) {
	told := false
	return func(total cost.Totals) {
		if t.log == nil {
			return
		}
		if err := store.SaveCost(w.Project.Home, w.Dir, t.id, total); err != nil && !told {
			told = true
			w.Say(fmt.Sprintf("what the session costs is not kept with the project: %v", err))
		}
	}
}

// temporary returns a directory for what a conversation without a transcript puts down while it lasts.
func temporary(parts *closers) (string, error) {
	dir, err := os.MkdirTemp("", "adze-session-")
	if err != nil {
		return "", setup.Errorf("making a folder for the output of commands: %v", err)
	}
	parts.add(func() { os.RemoveAll(dir) }) // ok: it is the system's to clean up then
	return filepath.Clean(dir), nil
}
