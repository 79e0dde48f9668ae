package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/app/setup"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/platform/amount"
	"adze/internal/platform/gitinfo"
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

	ws *Workspace
}

// openTranscript begins a transcript, or loads the one that the spec names. Nothing is written before the
// first message.
func (w *Workspace) openTranscript(ctx context.Context, spec SessionSpec, parts *closers) (*transcript, error) {
	t := &transcript{id: cmp.Or(spec.ID, msg.NewID()), ws: w}
	kept := !spec.Ephemeral && !w.values().Transcript.Never
	if w.Project.HomeErr != nil && (spec.Resumes() || kept) {
		return nil, setup.Errorf("%v", w.Project.HomeErr)
	}
	var err error
	if spec.Resumes() {
		err = t.resume(ctx, spec, kept)
	} else if kept {
		err = t.begin(spec.ID != "")
	}
	if err != nil {
		return nil, err
	}
	if t.earlier != nil {
		t.lost = lostTasks(t.earlier)
		if t.log != nil && spec.At == "" {
			sweepOutputs(t.folder(), t.earlier)
		}
		for _, notice := range t.earlier.Notices {
			w.Say(notice)
		}
	}
	if t.log != nil {
		parts.add(func() {
			if err := t.log.Close(); err != nil {
				w.Say(fmt.Sprintf("the transcript is incomplete: %v", err))
			}
		})
		w.cleanUp(parts)
	}
	return t, nil
}

func (t *transcript) options(id string) store.Options {
	branch, _ := gitinfo.Branch(t.ws.Dir)
	return store.Options{
		Home: t.ws.Project.Home, Dir: t.ws.Dir, Session: id, Version: t.ws.Version, Branch: branch,
		NoSync: t.ws.values().Transcript.NoSync,
	}
}

// begin opens the transcript of a new session. An id that the user has named must be free.
func (t *transcript) begin(named bool) (err error) {
	if t.log, err = store.Open(t.options(t.id)); err != nil {
		return setup.Errorf("%v", err)
	}
	if !named {
		return nil
	}
	if _, err := os.Stat(t.log.Path()); err == nil {
		t.log.Close() // ok: nothing was written
		return setup.Errorf("--session-id: session %s already exists; continue it with --resume %s, or choose another id", t.id, t.id)
	}
	return nil
}

// resume finds the session that the spec names and loads it.
func (t *transcript) resume(ctx context.Context, s SessionSpec, kept bool) error {
	info, err := t.find(s)
	if err != nil {
		return setup.Wrap(err)
	}
	if s.At, err = messageAt(info.Path, s.At); err != nil {
		return err
	}
	fork := t.id // a fork has the id of a new session
	at := store.LoadOptions{At: s.At, Structured: true}
	opt := t.options(info.ID)
	opt.Path = info.Path
	t.id = info.ID
	switch {
	case !kept: // nothing is written, so nothing has to be locked
		if t.earlier, err = store.Load(info.Path, at); s.Fork {
			t.id = fork
		}
	case s.Fork:
		t.id = fork
		opt.Session, opt.Path = fork, ""
		if _, err = store.Fork(info.Path, opt, s.At); err == nil {
			if err := Inherit(ctx, t.ws.Project, info, fork, t.ws.Dir); err != nil {
				t.ws.Say(err.Error())
			}
			t.log, t.earlier, err = store.Resume(opt, store.LoadOptions{Structured: true})
		}
	default:
		t.log, t.earlier, err = store.Resume(opt, at)
	}
	switch {
	case errors.Is(err, store.ErrLocked):
		return setup.Wrap(fmt.Errorf("%w; end it there, or continue in a copy with --fork-session", err))
	case err != nil:
		return setup.Wrap(fmt.Errorf("resuming session %s: %w", info.ID, err))
	}
	return nil
}

// messageAt returns the id of the only message of a transcript that begins with a given one, or else that one.
func messageAt(path, begins string) (string, error) {
	const whole, least = 36, 4 // characters of an id, and of the beginning of one
	if len(begins) < least || len(begins) >= whole {
		return begins, nil
	}
	c, err := store.Load(path, store.LoadOptions{})
	if err != nil {
		return begins, nil // it is loaded again, and says why not
	}
	found := begins
	for _, e := range c.Entries {
		if !strings.HasPrefix(e.ID, begins) {
			continue
		}
		if found != begins {
			return "", setup.Errorf("--resume-session-at: several messages have an id that begins with %s; give more of it", begins)
		}
		found = e.ID
	}
	return found, nil
}

// find returns the session that a spec names.
func (t *transcript) find(s SessionSpec) (*archive.Info, error) {
	if s.Latest {
		return archive.Latest(t.ws.Project.Home, t.ws.Dir)
	}
	return archive.Find(t.ws.Project.Home, t.ws.Dir, s.Resume)
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

// state returns what the earlier process left beside the messages, or nothing.
func (t *transcript) state() store.State {
	if t.earlier == nil {
		return store.State{}
	}
	return t.earlier.State
}

// ledger returns a ledger that continues from what the session has cost.
func (t *transcript) ledger() *cost.Ledger {
	ledger := cost.New(t.ws.Models.facts)
	if t.earlier == nil {
		return ledger
	}
	total := t.earlier.State.Cost
	if total == nil {
		last, err := store.LastCost(t.ws.Project.Home, t.ws.Dir, t.id)
		if err != nil {
			t.ws.Say(err.Error())
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

// saveCost returns what keeps the cost of the session with the project, and reports a failure once.
func (t *transcript) saveCost() func(cost.Totals) {
	told := false
	return func(total cost.Totals) {
		if t.log == nil {
			return
		}
		if err := store.SaveCost(t.ws.Project.Home, t.ws.Dir, t.id, total); err != nil && !told {
			told = true
			t.ws.Say(fmt.Sprintf("the cost of the session cannot be saved: %v", err))
		}
	}
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
		task.RemoveOutputs(filepath.Join(store.Projects(home), "*", "*", "tasks"), func(_ string, at time.Time) bool { return !at.Before(before) })
		if err != nil {
			w.Say(err.Error())
		}
		if removed > 0 {
			w.Say(fmt.Sprintf("removed %s, older than %s (cleanupPeriodDays)", amount.Of(removed, "session", "sessions"), amount.Of(days, "day", "days")))
		}
	}()
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
