// Package transcript opens a conversation's transcript: new, resumed or forked. It restores the
// session's cost so far and finds background commands that ended with an earlier process.
package transcript

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/git/gitinfo"
	"adze/internal/platform/proc/task"
	"adze/internal/platform/text/amount"
	"adze/internal/session/archive"
	"adze/internal/session/store"
	"adze/internal/setup"
)

// Config configures a workspace's transcripts.
type Config struct {
	// Home is the state directory. If it is empty, HomeErr gives the reason. Dir is the working
	// directory.
	Home    string
	HomeErr error
	Dir     string
	Version string
	// Never stores nothing on disk, NoSync skips fsync, and sessions older than Cleanup days
	// are removed; 0 means never.
	Never, NoSync bool
	Cleanup       int

	// Facts returns a model's prices.
	Facts func(modelID string) cost.Facts
	// Inherit copies the original's other files to a fork, and Belongings returns the files
	// removed with a session.
	Inherit    func(ctx context.Context, from *archive.Info, fork string) error
	Belongings func(id string) []string
	Say        func(string)
	Now        func() time.Time
}

// A Spec selects the session to start or resume. Resume and Latest are mutually exclusive.
type Spec struct {
	ID        string // ID of a new session; empty generates one
	Resume    string // ID, title or file of the session to resume
	Latest    bool   // resume the most recent session
	Fork      bool   // resume in a copy
	At        string // message to resume after; empty means the last
	Ephemeral bool   // store nothing on disk
	Whole     bool   // load all of a resumed session, to be shown; see [Turns]
	// Side makes it an agent's conversation in the session ID; nil for a main conversation.
	Side *Side
}

// A Side is an agent's conversation. If it was stored before, it is continued.
type Side struct {
	// Agent is its ID, and Folder the session directory; empty stores nothing.
	Agent, Folder string
	// Seed is the initial content of the conversation; may be nil.
	Seed *store.Contents
	// OnSaveError is called with the reason if the conversation cannot be stored.
	OnSaveError func(error)
}

// SidePath returns the path of an agent's transcript in a session directory.
func SidePath(folder, agent string) string {
	return filepath.Join(folder, "subagents", "agent-"+agent+".jsonl")
}

// MetaPath returns the path of an agent's metadata in a session directory.
func MetaPath(folder, agent string) string {
	return strings.TrimSuffix(SidePath(folder, agent), ".jsonl") + metaSuffix
}

const metaSuffix = ".meta.json"

// KeptAgents returns the IDs of the agents with metadata in a session directory.
func KeptAgents(folder string) []string {
	kept, _ := filepath.Glob(MetaPath(folder, "*")) // ok: a directory named like a pattern has none
	for i, file := range kept {
		kept[i] = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "agent-"), metaSuffix)
	}
	return kept
}

// Resumes reports whether an earlier session is continued.
func (s Spec) Resumes() bool { return s.Resume != "" || s.Latest }

// A Transcript is a conversation's stored state, including an earlier process's.
type Transcript struct {
	ID      string
	Log     *store.Log      // nil if nothing is stored
	Earlier *store.Contents // resumed session; nil for a new one
	Lost    []LostTask      // tasks that ended with the earlier process

	cfg     Config
	ledger  func() *cost.Ledger
	saving  sync.Mutex      // held while the session's cost is read and stored
	parent  *Transcript     // parent conversation's transcript; nil unless an agent's
	cleaned <-chan struct{} // closed when the cleanup is done; may be nil
}

// Open starts a transcript, or loads the session named by the spec. Nothing is written before
// the first message.
func Open(ctx context.Context, cfg Config, spec Spec) (*Transcript, error) {
	t := &Transcript{ID: cmp.Or(spec.ID, msg.NewID()), cfg: cfg}
	t.ledger = sync.OnceValue(t.openLedger)
	kept := !spec.Ephemeral && !cfg.Never
	if cfg.HomeErr != nil && (spec.Resumes() || kept) {
		return nil, setup.Errorf("%v", cfg.HomeErr)
	}
	var err error
	if spec.Side != nil {
		t.openSide(*spec.Side, kept)
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

// openSide opens an agent's transcript. If it cannot be stored, the agent works without one.
func (t *Transcript) openSide(s Side, kept bool) {
	t.Earlier = s.Seed
	if !kept || s.Folder == "" {
		return
	}
	opt := t.options(t.ID)
	opt.Path, opt.With, opt.Agent = SidePath(s.Folder, s.Agent), MetaPath(s.Folder, s.Agent), s.Agent
	own, err := t.open(opt)
	switch {
	case err != nil:
		s.OnSaveError(err)
	case own != nil && s.Seed != nil:
		all := *own
		all.Entries = append(slices.Clip(s.Seed.Entries), own.Entries...)
		t.Earlier = &all
	case own != nil:
		t.Earlier = own
	}
}

// open opens a log that may already exist, and returns its content.
func (t *Transcript) open(opt store.Options) (earlier *store.Contents, err error) {
	if err = fsys.MkdirPrivate(filepath.Dir(opt.Path)); err != nil {
		return nil, err
	}
	if _, missing := os.Stat(opt.Path); missing == nil {
		t.Log, earlier, err = store.Resume(opt, store.LoadOptions{Structured: true})
		return earlier, err
	}
	t.Log, err = store.Open(opt)
	return nil, err
}

// begin opens the transcript of a new session. An ID given by the user must be unused.
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

// resume finds and loads the session named by the spec.
func (t *Transcript) resume(ctx context.Context, s Spec, kept bool) error {
	info, err := t.find(s)
	if err != nil {
		return setup.Wrap(err)
	}
	if s.At, err = messageAt(info.Path, s.At); err != nil {
		return err
	}
	fork := t.ID // a fork gets the new session's ID
	older := shownEntries
	if s.Whole {
		older = math.MaxInt
	}
	at := store.LoadOptions{At: s.At, Structured: true, Older: older, Home: t.cfg.Home}
	opt := t.options(info.ID)
	opt.Path = info.Path
	t.ID = info.ID
	switch {
	case !kept: // nothing is written, so no lock is needed
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
			t.Log, t.Earlier, err = store.Resume(opt, store.LoadOptions{Structured: true, Older: older})
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

// messageAt returns the ID of the only message in a transcript that begins with the given
// prefix, or else the prefix.
func messageAt(path, begins string) (string, error) {
	const whole, least = 36, 4 // lengths of an ID, and of its shortest prefix
	if len(begins) < least || len(begins) >= whole {
		return begins, nil
	}
	c, err := store.Load(path, store.LoadOptions{})
	if err != nil {
		return begins, nil // loading it again reports the error
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

// find returns the session named by a spec.
func (t *Transcript) find(s Spec) (*archive.Info, error) {
	if s.Latest {
		return archive.Latest(t.cfg.Home, t.cfg.Dir)
	}
	return archive.Find(t.cfg.Home, t.cfg.Dir, s.Resume)
}

// Path returns the transcript's path, or "" if none is stored.
func (t *Transcript) Path() string {
	if t.Log == nil {
		return ""
	}
	return t.Log.Path()
}

// Folder returns the session directory next to the transcript, or "".
func (t *Transcript) Folder() string { return strings.TrimSuffix(t.Path(), ".jsonl") }

// Readable returns the session's files that its model may read: the transcript and its
// directory, or nil if they are not in the state home.
func (t *Transcript) Readable() []string {
	path := t.Path()
	if path == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		real = filepath.Dir(path) // created with the first record
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

// State returns the earlier process's state other than messages; zero for a new session.
func (t *Transcript) State() store.State {
	if t.Earlier == nil {
		return store.State{}
	}
	return t.Earlier.State
}

// Ledger returns the session's ledger, which continues from its cost so far.
func (t *Transcript) Ledger() *cost.Ledger { return t.ledger() }

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

// SaveCost returns a function that stores the session's cost with the project. It reports a
// failure once. The cost is read and stored under one lock: the turns of a session's
// conversations end independently, and an older sum must not replace a newer one.
func (t *Transcript) SaveCost() func() {
	told := false
	return func() {
		if t.Log == nil {
			return
		}
		t.saving.Lock()
		defer t.saving.Unlock()
		if err := store.SaveCost(t.cfg.Home, t.cfg.Dir, t.ID, t.Ledger().Sum()); err != nil && !told {
			told = true
			t.cfg.Say(fmt.Sprintf("the cost of the session cannot be saved: %v", err))
		}
	}
}

// BookUnder replaces the ledger with a child of the parent conversation's ledger. It returns a
// function that stores the session's cost after each turn of the agent, because the parent may
// be waiting for its user at that time and its process be killed.
func (t *Transcript) BookUnder(parent *Transcript, agent, title string) func() {
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
	return func() {
		save()
		if session.Log != nil {
			session.Log.Note(store.Cost{Ledger: session.Ledger()}) // ok: the conversation's next turn stores it again
		}
	}
}

// Close closes the transcript.
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

// cleanUp removes old sessions in the background and reports how many.
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

// sweepOutputs removes command output left behind by a killed process. Output mentioned in the
// conversation is kept; if the conversation is not completely known, everything is.
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
