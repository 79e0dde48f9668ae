package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// An Op is something for a session to do: one of the types below, and nothing else.
type Op interface{ op() }

type (
	// Prompt asks for a turn with what the person says. While another turn runs it waits. One without
	// content is ignored.
	Prompt struct {
		// ID becomes the id of the entry; empty, or one that the conversation has already, makes another.
		ID    string
		Parts []msg.Part
	}

	// FollowUp adds to the turn that runs, when its calls are done. Without a turn it is a prompt.
	FollowUp Prompt

	// Steer is like FollowUp, but stops calls that give way to a new message.
	Steer Prompt

	// Note adds to the conversation without asking the model, after the turn that runs.
	Note Prompt

	// Compact replaces the conversation by a summary, after the turn that runs.
	Compact struct {
		// ID is what it can be withdrawn by while it waits; it may be empty.
		ID string
		// Focus is what the summary should dwell on; it may be empty.
		Focus string
		// UpTo and From are the id of something the person said, see [Session.Turns]: only what was before it
		// is summed up, or only that message and what follows. The other side stays as it is.
		UpTo, From string
	}

	// Snip cuts out of what is sent, with the next request, what the model has called stale.
	Snip struct{}

	// Notes brings the session notes up to date, after the turn that runs, and shows them.
	Notes struct{}

	// Local does something without the model in place of a turn, when what was submitted before is done.
	Local struct {
		// ID is what it can be withdrawn by while it waits; it may be empty.
		ID string
		// Do returns what to tell the user; it may submit operations that need no turn.
		Do func(ctx context.Context) (string, error)
	}

	// Interrupt stops the turn that runs.
	Interrupt struct {
		// Queued takes back the prompts that wait for their turns, too.
		Queued bool
		// Cause is told to what is stopped; empty means that the person wants it.
		Cause tool.Abort
	}

	// Detach lets the command that the turn waits for go on in the background.
	Detach struct{}

	// Withdraw takes back a prompt that waits for its turn.
	Withdraw struct{ ID string }

	// Answer settles a question of [Asked].
	Answer struct {
		ID string
		Reply
	}

	// Notify tells the model something at the next pause of the turn that runs, or in the next turn.
	Notify struct {
		Text string
		// Wake starts a turn if none runs.
		Wake bool
	}

	// SetModel chooses the model of the following turns. The history stays as it is.
	SetModel struct{ Name string }

	// SetMode chooses the permission mode, at once.
	SetMode struct{ Mode string }

	// SetEffort chooses how hard the model tries in the following turns; empty leaves it to the model.
	SetEffort struct{ model.Effort }

	// SetThinking chooses how the model thinks in the following turns.
	SetThinking struct{ model.Thinking }
)

func (Prompt) op()      {}
func (FollowUp) op()    {}
func (Steer) op()       {}
func (Note) op()        {}
func (Compact) op()     {}
func (Notes) op()       {}
func (Snip) op()        {}
func (Local) op()       {}
func (Interrupt) op()   {}
func (Detach) op()      {}
func (Withdraw) op()    {}
func (Answer) op()      {}
func (Notify) op()      {}
func (SetModel) op()    {}
func (SetMode) op()     {}
func (SetEffort) op()   {}
func (SetThinking) op() {}

// An Event is what an entry tells: one of the types below, and nothing else.
type Event interface{ event() }

type (
	// Started says that a turn begins, or that a note is taken. Its prompt is in the next entries.
	Started struct {
		Prompt string
		// Note says that the model is not asked.
		Note bool
		// Chore says that there is no prompt: something else is done, such as [Compact].
		Chore bool
	}

	// Loop is an event of the loop; see [agent.Agent.Run].
	Loop struct{ agent.Event }

	// Finished says how a turn ended. It is its last entry.
	Finished struct {
		agent.Ended
		// Before and After are the session's totals at both ends of the turn.
		Before, After cost.Totals
		// Denials are those of the session so far.
		Denials []Denial
		Took    time.Duration
		// Local is what came of a [Local] operation; nil for anything else.
		Local *Outcome
	}

	// Asked says that the user has to answer something; see [Answer].
	Asked struct {
		ID string
		Question
	}

	// Settled says that a question is answered, or withdrawn if there is no reply.
	Settled struct {
		ID    string
		Reply Reply
	}

	// Changed says what the session uses from now on; empty means that it did not change.
	Changed struct{ Model, Mode string }
)

// An Outcome is what came of a [Local] operation, for the user.
type Outcome struct {
	Text string
	Err  error
}

func (Started) event()  {}
func (Loop) event()     {}
func (Finished) event() {}
func (Asked) event()    {}
func (Settled) event()  {}
func (Changed) event()  {}

// live reports whether what ev tells is told again by a later event.
func live(ev agent.Event) bool {
	switch ev := ev.(type) {
	case agent.Delta, agent.ToolProgress, agent.Requesting:
		return true
	case agent.Nested:
		return live(ev.Event)
	}
	return false
}

// ErrClosed says that a session takes no more operations.
var ErrClosed = errors.New("the session is closed")

// Submit hands the session something to do and returns when it is under way; what comes of it is in
// the entries.
func (s *Session) Submit(ctx context.Context, op Op) error {
	switch op := op.(type) {
	case Prompt:
		return s.enqueue(job{Prompt: op})
	case Note:
		return s.enqueue(job{Prompt: Prompt(op), note: true})
	case Compact:
		return s.enqueue(job{Prompt: Prompt{ID: op.ID}, note: true, chore: s.compact(op)})
	case Snip:
		return s.enqueue(job{note: true, chore: s.snip})
	case Notes:
		return s.enqueue(job{note: true, chore: s.writeNotes})
	case Local:
		return s.enqueue(job{Prompt: Prompt{ID: op.ID}, note: true, local: op.Do})
	case FollowUp:
		return s.hear(Prompt(op), s.inbox.Say)
	case Steer:
		return s.hear(Prompt(op), s.inbox.Steer)
	case Interrupt:
		s.Interrupt(op)
		return nil
	case Detach:
		if s.cfg.Controls.Detach == nil || !s.cfg.Controls.Detach() {
			return errors.New("nothing runs that could go on in the background")
		}
		return nil
	case Withdraw:
		return s.withdraw(op.ID)
	case Answer:
		return s.questions.settle(op.ID, op.Reply)
	case Notify:
		return s.notify(op)
	case SetModel:
		return s.setModel(ctx, op.Name)
	case SetMode:
		return s.setMode(ctx, op.Mode)
	case SetEffort:
		s.setLoop(func(o *agent.Options) { o.Effort = op.Effort })
		return nil
	case SetThinking:
		s.setLoop(func(o *agent.Options) { o.Thinking = op.Thinking })
		return nil
	}
	panic(fmt.Sprintf("session: unknown operation %T", op))
}

// A job waits for its turn.
type job struct {
	Prompt
	note  bool // the model is not asked
	heard bool // already
	// chore, if not nil, is what to do instead of a turn.
	chore chore
	// local, if not nil, is what to do without the model.
	local func(ctx context.Context) (string, error)
	// stopped is why it was interrupted before it began.
	stopped tool.Abort
	// kept is what the log has of it while it waits.
	kept string
}

// tells reports whether something comes of the job although it has no prompt.
func (j *job) tells() bool { return j.chore != nil || j.local != nil }

// enqueue takes a job, unless there is nothing to do.
func (s *Session) enqueue(j job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enqueueLocked(j)
}

func (s *Session) enqueueLocked(j job) error {
	switch {
	case s.closed:
		return ErrClosed
	case empty(j.Parts) && !j.tells():
		return nil
	}
	if s.busy && !j.tells() {
		// It may wait for long: it is kept, in case that the program does not live to take it up.
		j.kept = msg.PlainText(j.Parts)
		s.note(store.Queue{Op: store.Enqueue, Content: j.kept})
	}
	s.start(j)
	return nil
}

// start lets a job wait, and sees to it that somebody does the jobs.
func (s *Session) start(j job) {
	s.jobs = append(s.jobs, j)
	if !s.busy {
		s.busy = true
		s.idle = make(chan struct{})
		s.worker.Go(s.work)
	}
}

// hear hands what the person said to the turn that runs, by way of to, once it was heard.
func (s *Session) hear(p Prompt, to func(...msg.Part)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrClosed
	case empty(p.Parts):
		return nil
	case !s.busy:
		return s.enqueueLocked(job{Prompt: p})
	case len(s.cfg.Hearers) == 0:
		to(p.Parts...)
		return nil
	}
	s.worker.Go(func() { // hearing it may take a while
		h := s.heard(s.life, p)
		if h.Blocked != "" {
			s.feed.add(s.life, Loop{agent.Notice{Text: h.Blocked}}, false)
			return
		}
		s.add(Prompt{ID: p.ID, Parts: slices.Concat(p.Parts, h.Context)}, to)
	})
	return nil
}

// heard lets the hearers hear p, until one of them blocks it.
func (s *Session) heard(ctx context.Context, p Prompt) Hearing {
	var all Hearing
	for _, h := range s.cfg.Hearers {
		one := h.Hear(ctx, p)
		all.Context = append(all.Context, one.Context...)
		if all.Blocked = one.Blocked; all.Blocked != "" {
			break
		}
	}
	return all
}

// add hands over what was heard. If the turn has ended meanwhile it makes one of its own.
func (s *Session) add(p Prompt, to func(...msg.Part)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy {
		to(p.Parts...)
		return
	}
	s.start(job{Prompt: p, heard: true})
}

func (s *Session) notify(op Notify) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if op.Wake && !s.busy {
		return s.enqueueLocked(job{Prompt: Prompt{Parts: []msg.Part{msg.Reminder(op.Text)}}, heard: true})
	}
	s.inbox.Notify(op.Text)
	s.wake = s.wake || op.Wake
	return nil
}

// Interrupt does what the operation says, and returns the ids of the prompts that waited for their turns
// at that very moment: they wait on, or were taken back if op says so. One that was about to begin is
// stopped, so that it is not among those that wait on.
func (s *Session) Interrupt(op Interrupt) (waiting []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if op.Queued && len(s.jobs) > 0 {
		waiting = prompts(s.jobs)
		s.jobs = nil
		s.note(store.Queue{Op: store.Clear})
	}
	if op.Cause == "" {
		op.Cause = tool.AbortUser
	}
	rest := s.jobs
	switch {
	case s.stop != nil:
		s.stop(op.Cause)
	case len(s.jobs) > 0: // it is about to begin
		s.jobs[0].stopped = op.Cause
		rest = s.jobs[1:]
	}
	return append(waiting, prompts(rest)...)
}

// prompts returns the ids of the jobs that something comes of: all but notes.
func prompts(jobs []job) []string {
	var ids []string
	for _, j := range jobs {
		if !j.note || j.tells() {
			ids = append(ids, j.ID)
		}
	}
	return ids
}

func (s *Session) withdraw(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.jobs, func(j job) bool { return id != "" && j.ID == id })
	if i < 0 {
		return fmt.Errorf("no prompt %q waits", id)
	}
	if kept := s.jobs[i].kept; kept != "" {
		s.note(store.Queue{Op: store.Discard, Content: kept})
	}
	s.jobs = slices.Delete(s.jobs, i, i+1)
	return nil
}

// setLoop changes the options of the turns to come.
func (s *Session) setLoop(change func(*agent.Options)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.options)
}

func (s *Session) setModel(ctx context.Context, name string) error {
	if _, err := s.cfg.Models.Resolve(name); err != nil {
		return err
	}
	s.mu.Lock()
	s.model = name
	s.mu.Unlock()
	s.note(store.Model(name))
	s.feed.add(ctx, Changed{Model: name}, false)
	return nil
}

func (s *Session) setMode(ctx context.Context, mode string) error {
	if s.cfg.Controls.SetMode == nil {
		return errors.New("the permission mode of this session cannot be changed")
	}
	mode, err := s.cfg.Controls.SetMode(mode)
	if err != nil {
		return err
	}
	s.note(store.Mode(mode))
	s.feed.add(ctx, Changed{Mode: mode}, false)
	return nil
}

// note keeps something about the session. A log that fails is told of with the next message.
func (s *Session) note(n store.Note) {
	if s.cfg.Records.Log == nil {
		return
	}
	if err := s.cfg.Records.Log.Note(n); err != nil && s.cfg.Debug != nil {
		s.cfg.Debug.Error("a note about the session was not saved", "err", err)
	}
}
