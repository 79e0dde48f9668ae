// Package transcript opens what a conversation keeps on disk: a new transcript, one that is resumed, or a copy of one. It
// knows what the session has cost so far and which background commands ended with an earlier process. The format is
// left to the package store.
package transcript

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

// A Config is what transcripts of a workspace are opened with.
type Config struct {
	// Home is the state directory, or HomeErr why there is none. Dir is the working directory.
	Home    string
	HomeErr error
	Dir     string
	Version string
	// Never keeps nothing on disk, NoSync does not wait for the disk, and sessions older than Cleanup days are
	// removed; 0 removes none.
	Never, NoSync bool
	Cleanup       int

	// Facts returns what a model costs.
	Facts func(modelID string) cost.Facts
	// Inherit gives a fork what its original has beside the transcript, and Belongings returns what is removed with a
	// session.
	Inherit    func(ctx context.Context, from *archive.Info, fork string) error
	Belongings func(id string) []string
	Say        func(string)
	Now        func() time.Time
}

// A Spec says which session is begun or resumed. Resume and Latest exclude each other.
type Spec struct {
	ID        string // of a new session; empty makes one
	Resume    string // id, title or file of the session to resume
	Latest    bool   // resume the most recent one
	Fork      bool   // resume in a copy
	At        string // the message to resume after; empty means the last
	Ephemeral bool   // keep nothing on disk
	// Side makes it the conversation of an agent beside the session with the given ID; nil for one of its own.
	Side *Side
}

// A Side is the conversation of an agent. If it was kept before it is continued.
type Side struct {
	// Agent is its id, and Folder where what belongs to the session is kept; empty keeps nothing.
	Agent, Folder string
	// Seed is what the conversation begins with before anything of its own; nil means nothing.
	Seed *store.Contents
	// Unkept is told why the conversation is not kept.
	Unkept func(error)
}

// SidePath returns where the conversation of an agent is kept, in what belongs to a session.
func SidePath(folder, agent string) string {
	return filepath.Join(folder, "subagents", "agent-"+agent+".jsonl")
}

// MetaPath returns where what is known of an agent is kept, in what belongs to a session.
func MetaPath(folder, agent string) string {
	return strings.TrimSuffix(SidePath(folder, agent), ".jsonl") + metaSuffix
}

const metaSuffix = ".meta.json"

// KeptAgents returns the agents of which something is kept in what belongs to a session.
func KeptAgents(folder string) []string {
	kept, _ := filepath.Glob(MetaPath(folder, "*")) // ok: a folder with a name like a pattern has none
	for i, file := range kept {
		kept[i] = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "agent-"), metaSuffix)
	}
	return kept
}

// Resumes reports whether an earlier session is continued.
func (s Spec) Resumes() bool { return s.Resume != "" || s.Latest }

// A Transcript is what a conversation keeps on disk, and what an earlier process left there.
type Transcript struct {
	ID      string
	Log     *store.Log      // nil if nothing is kept
	Earlier *store.Contents // of the session that is resumed; nil for a new one
	Lost    []Lost          // what ended with the earlier process

	cfg     Config
	ledger  func() *cost.Ledger
	parent  *Transcript     // of the conversation that started the agent; nil if it is none
	cleaned <-chan struct{} // closed when old sessions were removed; nil if none are
}

// Open begins a transcript, or loads the one that the spec names. Nothing is written before the
// first message.
func Open(ctx context.Context, cfg Config, spec Spec) (*Transcript, error) {
	t := &Transcript{ID: cmp.Or(spec.ID, msg.NewID()), cfg: cfg}
	t.ledger = sync.OnceValue(t.openLedger)
	kept := !spec.Ephemeral && !cfg.Never
	if cfg.HomeErr != nil && (spec.Resumes() || kept) {
		return nil, setup.Errorf("%v", cfg.HomeErr)
	}
	var err error
	if spec.Side != nil {
		t.beside(*spec.Side, kept)
		return t, nil
	}
	if spec.Resumes() {
		err = t.resume(ctx, spec, kept)
	} else if kept {
		err = t.begin(spec.ID != "")
	}
	if err != nil {
		return nil, err
	}
	if t.Earlier != nil {
		t.Lost = append(lostTasks(t.Earlier, t.Folder()), lostAgents(t.Earlier, t.Folder())...)
		if t.Log != nil && spec.At == "" {
			sweepOutputs(t.Folder(), t.Earlier)
		}
		for _, notice := range t.Earlier.Notices {
			cfg.Say(notice)
		}
	}
	if t.Log != nil && cfg.Cleanup > 0 {
		t.cleanUp()
	}
	return t, nil
}

func (t *Transcript) options(id string) store.Options {
	branch, _ := gitinfo.Branch(t.cfg.Dir)
	return store.Options{
		Home: t.cfg.Home, Dir: t.cfg.Dir, Session: id, Version: t.cfg.Version, Branch: branch,
		NoSync: t.cfg.NoSync,
	}
}

// beside opens the transcript of an agent. An agent whose transcript cannot be kept works without one.
func (t *Transcript) beside(s Side, kept bool) {
	t.Earlier = s.Seed
	if !kept || s.Folder == "" {
		return
	}
	opt := t.options(t.ID)
	opt.Path, opt.With, opt.Agent = SidePath(s.Folder, s.Agent), MetaPath(s.Folder, s.Agent), s.Agent
	own, err := t.open(opt)
	switch {
	case err != nil:
		s.Unkept(err)
	case own != nil && s.Seed != nil:
		all := *own
		all.Entries = append(slices.Clip(s.Seed.Entries), own.Entries...)
		t.Earlier = &all
	case own != nil:
		t.Earlier = own
	}
}

// open opens a log that may have been kept before, and returns what it holds then.
func (t *Transcript) open(opt store.Options) (earlier *store.Contents, err error) {
	if err = os.MkdirAll(filepath.Dir(opt.Path), 0o700); err != nil {
		return nil, err
	}
	if _, missing := os.Stat(opt.Path); missing == nil {
		t.Log, earlier, err = store.Resume(opt, store.LoadOptions{Structured: true})
		return earlier, err
	}
	t.Log, err = store.Open(opt)
	return nil, err
}

// begin opens the transcript of a new session. An id that the user has named must be free.
func (t *Transcript) begin(named bool) (err error) {
	if t.Log, err = store.Open(t.options(t.ID)); err != nil {
		return setup.Errorf("%v", err)
	}
	if !named {
		return nil
	}
	if _, err := os.Stat(t.Log.Path()); err == nil {
		t.Log.Close() // ok: nothing was written
		return setup.Errorf("--session-id: session %s already exists; continue it with --resume %s, or choose another id", t.ID, t.ID)
	}
	return nil
}

// resume finds the session that the spec names and loads it.
func (t *Transcript) resume(ctx context.Context, s Spec, kept bool) error {
	info, err := t.find(s)
	if err != nil {
		return setup.Wrap(err)
	}
	if s.At, err = messageAt(info.Path, s.At); err != nil {
		return err
	}
	fork := t.ID // a fork has the id of a new session
	at := store.LoadOptions{At: s.At, Structured: true, Home: t.cfg.Home}
	opt := t.options(info.ID)
	opt.Path = info.Path
	t.ID = info.ID
	switch {
	case !kept: // nothing is written, so nothing has to be locked
		at.Partial = s.At == ""
		if t.Earlier, err = store.Load(info.Path, at); s.Fork {
			t.ID = fork
		}
	case s.Fork:
		t.ID = fork
		opt.Session, opt.Path = fork, ""
		if _, err = store.Fork(info.Path, opt, s.At); err == nil {
			if err := t.cfg.Inherit(ctx, info, fork); err != nil {
				t.cfg.Say(err.Error())
			}
			t.Log, t.Earlier, err = store.Resume(opt, store.LoadOptions{Structured: true})
		}
	default:
		t.Log, t.Earlier, err = store.Resume(opt, at)
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
func (t *Transcript) find(s Spec) (*archive.Info, error) {
	if s.Latest {
		return archive.Latest(t.cfg.Home, t.cfg.Dir)
	}
	return archive.Find(t.cfg.Home, t.cfg.Dir, s.Resume)
}

// Path returns where the transcript is, or "" if none is kept.
func (t *Transcript) Path() string {
	if t.Log == nil {
		return ""
	}
	return t.Log.Path()
}

// Folder returns the directory for what is kept beside the transcript, or "".
func (t *Transcript) Folder() string { return strings.TrimSuffix(t.Path(), ".jsonl") }

// Readable returns the files of the session that its model may read: the transcript and its folder, or nothing if they are
// not in the state home.
func (t *Transcript) Readable() []string {
	path := t.Path()
	if path == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		real = filepath.Dir(path) // it is made with the first record
	}
	home, err := filepath.EvalSymlinks(t.cfg.Home)
	if err != nil {
		home = t.cfg.Home
	}
	if !strings.HasPrefix(real, store.Projects(home)+string(filepath.Separator)) {
		return nil
	}
	return []string{path, t.Folder()}
}

// State returns what the earlier process left beside the messages, or nothing.
func (t *Transcript) State() store.State {
	if t.Earlier == nil {
		return store.State{}
	}
	return t.Earlier.State
}

// Ledger returns the ledger of the session, which continues from what it has cost.
func (t *Transcript) Ledger() *cost.Ledger { return t.ledger() }

// openLedger makes the ledger.
func (t *Transcript) openLedger() *cost.Ledger {
	ledger := cost.New(t.cfg.Facts)
	if t.Earlier == nil {
		return ledger
	}
	total := t.Earlier.State.Cost
	if total == nil {
		last, err := store.LastCost(t.cfg.Home, t.cfg.Dir, t.ID)
		if err != nil {
			t.cfg.Say(err.Error())
		}
		total = last
	}
	if total != nil {
		ledger.Restore(*total)
		return ledger
	}
	for _, e := range t.Earlier.Entries {
		if e.Usage != nil {
			ledger.Book(e.Model, *e.Usage, cost.Times{})
		}
	}
	return ledger
}

// SaveCost returns what keeps the cost of the session with the project, and reports a failure once.
func (t *Transcript) SaveCost() func(cost.Totals) {
	told := false
	return func(total cost.Totals) {
		if t.Log == nil {
			return
		}
		if err := store.SaveCost(t.cfg.Home, t.cfg.Dir, t.ID, total); err != nil && !told {
			told = true
			t.cfg.Say(fmt.Sprintf("the cost of the session cannot be saved: %v", err))
		}
	}
}

// BookUnder makes the ledger that of an agent, in the one of the conversation that started it. It returns what keeps the
// cost of the session after a turn of the agent: the conversation may wait for its user then, and its process be killed.
func (t *Transcript) BookUnder(parent *Transcript, agent, title string) func(cost.Totals) {
	ledger := parent.Ledger()
	if agent != "" {
		ledger = ledger.Child(agent, title)
	}
	t.ledger, t.parent = func() *cost.Ledger { return ledger }, parent
	session := parent
	for session.parent != nil {
		session = session.parent
	}
	save := session.SaveCost()
	return func(cost.Totals) {
		ledger := session.Ledger()
		save(ledger.Sum())
		if session.Log != nil {
			session.Log.Note(store.Cost{Ledger: ledger}) // ok: the next turn of the conversation keeps it again
		}
	}
}

// Close ends the transcript.
func (t *Transcript) Close() {
	if t.cleaned != nil {
		<-t.cleaned
	}
	if t.Log == nil {
		return
	}
	if err := t.Log.Close(); err != nil {
		t.cfg.Say(fmt.Sprintf("the transcript is incomplete: %v", err))
	}
}

// cleanUp removes old sessions in the background, and says how many.
func (t *Transcript) cleanUp() {
	home, days := t.cfg.Home, t.cfg.Cleanup
	before := t.cfg.Now().AddDate(0, 0, -days)
	done := make(chan struct{})
	t.cleaned = done
	go func() {
		defer close(done)
		removed, err := store.Cleanup(store.Projects(home), before, t.cfg.Belongings)
		task.RemoveOutputs(filepath.Join(store.Projects(home), "*", "*", "tasks"), func(_ string, at time.Time) bool { return !at.Before(before) })
		if err != nil {
			t.cfg.Say(err.Error())
		}
		if removed > 0 {
			t.cfg.Say(fmt.Sprintf("removed %s, older than %s (cleanupPeriodDays)", amount.Of(removed, "session", "sessions"), amount.Of(days, "day", "days")))
		}
	}()
}

// sweepOutputs removes what commands had printed when an earlier process was killed. What the conversation speaks of
// stays; if not all of the conversation is known, so does everything.
func sweepOutputs(folder string, earlier *store.Contents) {
	if earlier.Boundary != nil || earlier.Skipped > 0 || earlier.Bad > 0 {
		return
	}
	var named []string
	for _, e := range earlier.Entries {
		for _, value := range e.Structured {
			var r struct {
				File string `json:"outputFile"`
			}
			if json.Unmarshal(value, &r) == nil {
				named = append(named, filepath.Base(r.File))
			}
		}
	}
	task.RemoveOutputs(filepath.Join(folder, "tasks"), func(name string, _ time.Time) bool { return slices.Contains(named, name) })
}
