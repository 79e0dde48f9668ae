package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
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
	// Prompt asks for a turn with what the user says. While another turn runs it waits. One without
	// content is ignored.
	Prompt struct {
		// ID becomes the id of the entry; empty, or one that the conversation has already, makes another.
		ID    string
		Parts []msg.Part
		// Quoted says that the words are not the user's own, so that nothing in them is looked up.
		Quoted bool
		// Words is the text in which mentions of files are looked up; empty means that of Parts.
		Words string
		// Make returns what takes the place of the prompt when its turn begins; it may be nil. Then the prompt always has
		// a turn of its own. An error of Make ends the turn, and its text is told as that of a [Local] operation.
		Make func(ctx context.Context) (Prompt, error)
	}

	// FollowUp adds to the turn that runs, when its calls are done. Without a turn it is a prompt.
	FollowUp Prompt

	// Steer is like FollowUp, but ends calls that only wait.
	Steer Prompt

	// Note adds to the conversation without asking the model, after the turn that runs.
	Note Prompt

	// Compact replaces the conversation by a summary, after the turn that runs.
	Compact struct {
		// ID is what it can be withdrawn by while it waits; it may be empty.
		ID string
		// Focus is what the summary should dwell on; it may be empty.
		Focus string
		// UpTo and From are the id of something the user said, see [Session.Turns]: only what was before it
		// is summarised, or only that message and what follows. The other side stays as it is.
		UpTo, From string
	}

	// Clear starts the conversation over, after the turn that runs: what was said before is no longer sent. The
	// transcript keeps it.
	Clear struct {
		// ID is what it can be withdrawn by while it waits; it may be empty.
		ID string
	}

	// Rewind goes back to before something that the user said, after the turn that runs. What is told of it comes
	// with [Finished], as for [Local].
	Rewind struct {
		// ID is what it can be withdrawn by while it waits; it may be empty.
		ID string
		// To is the id of what the user said, see [Session.Turns]: that and what follows is no longer sent. Empty
		// leaves the conversation as it is. Undo instead brings back what the last one left out.
		To   string
		Undo bool
		// Files does first what is to be done with files, and returns what to tell of it; it may be nil.
		Files func(ctx context.Context) (string, error)
	}

	// Snip cuts out of what is sent, with the next request, what the model has called stale.
	Snip struct{}

	// Notes brings the session notes up to date, after the turn that runs, and shows them.
	Notes struct{}

	// Aside asks the model something beside the conversation, after the turn that runs: neither the question nor the
	// answer becomes part of it.
	Aside struct {
		// ID is what it can be withdrawn by while it waits; it may be empty.
		ID   string
		Text string
	}

	// Local does something without the model in place of a turn, when what was submitted before is done.
	Local struct {
		// ID is what it can be withdrawn by while it waits; it may be empty.
		ID string
		// Do returns what to tell the user; it may submit operations that need no turn.
		Do func(ctx context.Context) (string, error)
	}

	// Later takes the place of a turn with an operation that depends on the conversation as it is then.
	Later struct {
		// ID is what it can be withdrawn by while it waits; it may be empty.
		ID string
		// Make returns the operation when its turn comes: one that takes the place of a turn, such as [Rewind] or [Local].
		// Its error is told as that of a [Local] operation.
		Make func(ctx context.Context) (Op, error)
	}

	// Interrupt stops the turn that runs.
	Interrupt struct {
		// Queued takes back the prompts that wait for their turns, too.
		Queued bool
		// Cause is told to what is stopped; empty means that the user wants it.
		Cause tool.Abort
		// Unsay is the id of the turn's prompt, if the user takes that back: it is left out of the conversation, unless the
		// model has begun to answer it. The transcript keeps it. It may be empty.
		Unsay string
	}

	// Detach lets the command that the turn waits for go on in the background.
	Detach struct{}

	// Withdraw takes back a prompt that waits for its turn, or what was said to the turn that runs and the model was not
	// told yet. It fails if that is too late.
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

	// Beside tells what a sub-agent does: an event of its loop. Use is the call that launched it, Parent the sub-agent
	// that did, or "".
	Beside struct {
		ID, Type, Title, Use, Parent string
		Event                        agent.Event
	}

	// Tell tells the user something, at once and beside what is under way.
	Tell struct{ Text string }

	// SetModel chooses the model of the following turns. The history stays as it is.
	SetModel struct{ Name string }

	// SetMode chooses the permission mode, at once.
	SetMode struct{ Mode string }

	// SetEffort chooses how hard the model tries in the following turns; empty leaves it to the model.
	SetEffort struct{ model.Effort }

	// SetThinking chooses how the model thinks in the following turns.
	SetThinking struct{ model.Thinking }

	// Override chooses the model and the effort for the rest of the turn that runs; empty leaves them as they are. A
	// [Prompt.Make] may submit it for the turn that begins.
	Override struct {
		Model  string
		Effort model.Effort
	}
)

func (Prompt) op()      {}
func (FollowUp) op()    {}
func (Steer) op()       {}
func (Note) op()        {}
func (Compact) op()     {}
func (Notes) op()       {}
func (Aside) op()       {}
func (Clear) op()       {}
func (Rewind) op()      {}
func (Snip) op()        {}
func (Local) op()       {}
func (Later) op()       {}
func (Interrupt) op()   {}
func (Detach) op()      {}
func (Withdraw) op()    {}
func (Answer) op()      {}
func (Notify) op()      {}
func (Tell) op()        {}
func (Beside) op()      {}
func (SetModel) op()    {}
func (SetMode) op()     {}
func (SetEffort) op()   {}
func (SetThinking) op() {}
func (Override) op()    {}

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
		// Before and After are the session's totals at both ends of the turn, without the parts of agents.
		Before, After cost.Totals
		// Denials are those of the session so far.
		Denials []Denial
		Took    time.Duration
		// Local is what came of a [Local] or [Rewind] operation; nil for anything else.
		Local *Outcome
		// Unsaid says that the prompt is no longer part of the conversation; see [Interrupt].
		Unsaid bool
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
		// Cause is why it was withdrawn: a [tool.Withdrawn], a [tool.Abort], or another error that says nothing to the user.
		Cause error
	}

	// Changed says what the session uses from now on; empty means that it did not change.
	Changed struct{ Model, Mode string }
)

// An Outcome is what came of a [Local] operation, for the user.
type Outcome struct {
	Text string
	Err  error
	// Markdown says that the text is an answer of the model.
	Markdown bool
}

func (Started) event()  {}
func (Loop) event()     {}
func (Finished) event() {}
func (Beside) event()   {}
func (Asked) event()    {}
func (Settled) event()  {}
func (Changed) event()  {}

// live reports whether what ev tells is told again by a later event.
func live(ev agent.Event) bool {
	switch ev.(type) {
	case agent.Delta, agent.ToolProgress, agent.Requesting:
		return true
	}
	return false
}

// Submit hands the session something to do and returns when it is under way; what comes of it is in
// the entries.
func (s *Session) Submit(ctx context.Context, op Op) error {
	if j, ok := jobOf(s, op); ok {
		return s.queue.add(j)
	}
	switch op := op.(type) {
	case FollowUp:
		return s.queue.say(Prompt(op), s.queue.inbox.Say)
	case Steer:
		return s.queue.say(Prompt(op), s.queue.inbox.Steer)
	case Interrupt:
		s.Interrupt(op)
		return nil
	case Detach:
		if s.cfg.Controls.Detach == nil || !s.cfg.Controls.Detach() {
			return errors.New("nothing runs that could go on in the background")
		}
		return nil
	case Withdraw:
		return s.queue.withdraw(op.ID)
	case Answer:
		return s.questions.settle(op.ID, op.Reply)
	case Notify:
		return s.queue.notify(op)
	case Beside:
		s.feed.add(ctx, op, true)
		return nil
	case Task:
		s.feed.add(ctx, op, op.News == TaskWorks)
		return nil
	case Tell:
		s.queue.tell(agent.Notice{Text: op.Text})
		return nil
	case SetModel:
		return s.setModel(ctx, op.Name)
	case SetMode:
		return s.setMode(ctx, op.Mode)
	case SetEffort:
		s.prefs.set(func(p *preferences) { p.loop.Effort = op.Effort })
		return nil
	case SetThinking:
		s.prefs.set(func(p *preferences) { p.loop.Thinking = op.Thinking })
		return nil
	case Override:
		return override(s, op)
	}
	panic(fmt.Sprintf("session: unknown operation %T", op))
}

// jobOf returns the job of an operation that waits for its turn, and reports whether op is one.
func jobOf(s *Session, op Op) (job, bool) {
	switch op := op.(type) {
	case Prompt:
		return job{Prompt: op}, true
	case Note:
		return job{Prompt: Prompt(op), note: true}, true
	case Compact:
		return job{Prompt: Prompt{ID: op.ID}, note: true, chore: s.compact(op)}, true
	case Clear:
		return job{Prompt: Prompt{ID: op.ID}, note: true, chore: s.clear}, true
	case Rewind:
		return job{Prompt: Prompt{ID: op.ID}, note: true, local: rewind(s, op)}, true
	case Snip:
		return job{note: true, chore: s.snip}, true
	case Notes:
		return job{note: true, chore: s.writeNotes}, true
	case Aside:
		return job{Prompt: Prompt{ID: op.ID}, note: true, markdown: true, local: askAside(s, op.Text)}, true
	case Local:
		return job{Prompt: Prompt{ID: op.ID}, note: true, local: op.Do}, true
	case Later:
		return job{Prompt: Prompt{ID: op.ID}, note: true, later: op.Make}, true
	}
	return job{}, false
}

func (s *Session) setModel(ctx context.Context, name string) error {
	m, err := s.cfg.Models.Resolve(name)
	if err != nil {
		return err
	}
	s.prefs.set(func(p *preferences) { p.model = name })
	kept := name
	if strings.Contains(m.ID, "/") { // an id that says which provider is asked, also where another one is usual
		kept = m.ID
	}
	s.log.note(store.Model(kept))
	s.feed.add(ctx, Changed{Model: name}, false)
	return nil
}

func override(s *Session, op Override) error {
	if op.Model != "" {
		if _, err := s.cfg.Models.Resolve(op.Model); err != nil {
			return err
		}
	}
	s.prefs.set(func(p *preferences) {
		p.turn.Model, p.turn.Effort = cmp.Or(op.Model, p.turn.Model), cmp.Or(op.Effort, p.turn.Effort)
	})
	return nil
}

// KeepMode records a permission mode that an answer chose, for when the session is resumed.
func (s *Session) KeepMode(mode string) { s.log.note(store.Mode(mode)) }

func (s *Session) setMode(ctx context.Context, mode string) error {
	if s.cfg.Controls.SetMode == nil {
		return errors.New("the permission mode of this session cannot be changed")
	}
	mode, err := s.cfg.Controls.SetMode(mode)
	if err != nil {
		return err
	}
	s.log.note(store.Mode(mode))
	s.feed.add(ctx, Changed{Mode: mode}, false)
	return nil
}
