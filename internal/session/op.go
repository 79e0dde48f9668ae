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

// An Op is an operation on a session. Only the types below implement it.
type Op interface{ op() }

type (
	// Prompt requests a turn with the user's input. It waits while another turn runs. A prompt
	// without content is ignored.
	Prompt struct {
		// Pasted holds the parts of the first text that the user pasted.
		Pasted []msg.Span
		// ID becomes the ID of the entry. If it is empty or already taken, a new one is
		// generated.
		ID    string
		Parts []msg.Part
		// Quoted is true if the user did not write the text; mentions in it are not resolved
		// then.
		Quoted bool
		// Words is the text in which file mentions are resolved; empty means the text of Parts.
		Words string
		// Make, if not nil, returns a replacement for the prompt when its turn starts. The
		// prompt then always gets its own turn. An error of Make ends the turn and is reported
		// like an error of a [Local] operation.
		Make func(ctx context.Context) (Prompt, error)
	}

	// FollowUp adds to the running turn when its calls are done. If no turn runs, it is a
	// prompt.
	FollowUp Prompt

	// Steer is like FollowUp, but ends calls that are only waiting.
	Steer Prompt

	// Note adds to the conversation after the running turn, without a request to the model.
	Note Prompt

	// Compact replaces the conversation with a summary, after the running turn.
	Compact struct {
		// ID identifies the queued operation for [Withdraw]; may be empty.
		ID string
		// Focus is an instruction for the summary; may be empty.
		Focus string
		// UpTo and From are IDs of user messages; see [Session.Turns]. With UpTo, only the
		// messages before it are summarized; with From, that message and everything after it.
		// The other part stays unchanged.
		UpTo, From string
	}

	// Clear starts the conversation over, after the running turn. Earlier messages are dropped
	// from requests, but stay in the transcript.
	Clear struct {
		// ID identifies the queued operation for [Withdraw]; may be empty.
		ID string
	}

	// Rewind goes back to before a user message, after the running turn. Its result comes with
	// [Finished], as for [Local].
	Rewind struct {
		// ID identifies the queued operation for [Withdraw]; may be empty.
		ID string
		// To is the ID of a user message, see [Session.Turns]: it and everything after it are
		// dropped from requests. If To is empty, the conversation is unchanged. Undo instead
		// restores the messages dropped by the last rewind.
		To   string
		Undo bool
		// Files, if not nil, is called first to restore files. It returns a message for the
		// user.
		Files func(ctx context.Context) (string, error)
	}

	// Snip removes messages that the model marked as stale from the next request.
	Snip struct{}

	// Notes updates the session notes, after the running turn, and shows them.
	Notes struct{}

	// Aside asks the model a question outside the conversation, after the running turn. Neither
	// the question nor the answer becomes part of the conversation.
	Aside struct {
		// ID identifies the queued operation for [Withdraw]; may be empty.
		ID   string
		Text string
	}

	// Local runs a function in place of a turn, without the model, when earlier operations are
	// done.
	Local struct {
		// ID identifies the queued operation for [Withdraw]; may be empty.
		ID string
		// Do returns a message for the user; it may submit operations that need no turn.
		Do func(ctx context.Context) (string, error)
	}

	// Later runs, in place of a turn, an operation that depends on the state of the
	// conversation at that time.
	Later struct {
		// ID identifies the queued operation for [Withdraw]; may be empty.
		ID string
		// Make returns the operation when its turn comes. It must be an operation that takes
		// the place of a turn, such as [Rewind] or [Local]. Its error is reported like an error
		// of a [Local] operation.
		Make func(ctx context.Context) (Op, error)
	}

	// Interrupt stops the running turn.
	Interrupt struct {
		// Queued also withdraws the queued prompts.
		Queued bool
		// Cause is the cause of cancellation; empty means the user.
		Cause tool.Abort
		// WithdrawPrompt is the ID of the turn's prompt if the user withdraws it; may be empty. The
		// prompt is removed from the conversation unless the model has started to answer. It
		// stays in the transcript.
		WithdrawPrompt string
	}

	// Detach moves the command that the turn is waiting for to the background.
	Detach struct{}

	// Withdraw removes a queued prompt, or input for the running turn that was not delivered to
	// the model yet. It fails if it is too late.
	Withdraw struct{ ID string }

	// Answer answers an [Asked] question.
	Answer struct {
		ID string
		Reply
	}

	// Notify notifies the model at the next pause of the running turn, or in the next turn.
	Notify struct {
		Text string
		// Wake starts a turn if none runs.
		Wake bool
	}

	// SubagentEvent reports an event of a sub-agent's loop. Use is the call that launched the
	// sub-agent, and Parent the sub-agent that made the call, or "".
	SubagentEvent struct {
		ID, Type, Title, Use, Parent string
		Event                        agent.Event
	}

	// Tell shows a message to the user immediately, independent of the running turn.
	Tell struct{ Text string }

	// SetModel sets the model of subsequent turns. The history is unchanged.
	SetModel struct{ Name string }

	// SetMode sets the permission mode immediately.
	SetMode struct{ Mode string }

	// SetEffort sets the reasoning effort of subsequent turns; empty means the model's default.
	SetEffort struct{ model.Effort }

	// SetThinking sets the thinking mode of subsequent turns.
	SetThinking struct{ model.Thinking }

	// Override sets the model and the effort for the rest of the running turn; empty fields
	// change nothing. A [Prompt.Make] may submit it for the turn that is starting.
	Override struct {
		Model  string
		Effort model.Effort
	}
)

func (Prompt) op()        {}
func (FollowUp) op()      {}
func (Steer) op()         {}
func (Note) op()          {}
func (Compact) op()       {}
func (Notes) op()         {}
func (Aside) op()         {}
func (Clear) op()         {}
func (Rewind) op()        {}
func (Snip) op()          {}
func (Local) op()         {}
func (Later) op()         {}
func (Interrupt) op()     {}
func (Detach) op()        {}
func (Withdraw) op()      {}
func (Answer) op()        {}
func (Notify) op()        {}
func (Tell) op()          {}
func (SubagentEvent) op() {}
func (SetModel) op()      {}
func (SetMode) op()       {}
func (SetEffort) op()     {}
func (SetThinking) op()   {}
func (Override) op()      {}

// An Event is the content of an entry. Only the types below implement it.
type Event interface{ event() }

type (
	// Started reports the start of a turn, or that a note is added. Its prompt is in the next
	// entries.
	Started struct {
		Prompt string
		// Note is true if no request goes to the model.
		Note bool
		// Chore is true if the turn has no prompt but runs an operation such as [Compact].
		Chore bool
	}

	// Loop is an event of the loop; see [agent.Agent.Run].
	Loop struct{ agent.Event }

	// Finished reports the outcome of a turn. It is the turn's last entry.
	Finished struct {
		agent.Ended
		// Before and After are the session's totals at the start and end of the turn, without
		// the agents' share.
		Before, After cost.Totals
		// Denials holds the session's denials so far.
		Denials []Denial
		Took    time.Duration
		// Local is the outcome of a [Local] or [Rewind] operation; nil otherwise.
		Local *Outcome
		// Withdrawn is true if the prompt was removed from the conversation; see [Interrupt].
		Withdrawn bool
	}

	// Asked reports a question that the user has to answer; see [Answer].
	Asked struct {
		ID string
		Question
	}

	// Settled reports that a question was answered, or withdrawn if Reply is nil.
	Settled struct {
		ID    string
		Reply Reply
		// Cause is why the question was withdrawn: a [tool.Withdrawal], a [tool.Abort], or
		// another error that is not shown to the user.
		Cause error
	}

	// Changed reports a new model or mode; empty fields did not change.
	Changed struct{ Model, Mode string }
)

// An Outcome is the result of a [Local] operation, for the user.
type Outcome struct {
	Text string
	Err  error
	// Markdown is true if the text is an answer from the model.
	Markdown bool
}

func (Started) event()       {}
func (Loop) event()          {}
func (Finished) event()      {}
func (SubagentEvent) event() {}
func (Asked) event()         {}
func (Settled) event()       {}
func (Changed) event()       {}

// live reports whether a later event repeats the content of ev.
func live(ev agent.Event) bool {
	switch ev.(type) {
	case agent.Delta, agent.ToolProgress, agent.Requesting:
		return true
	}
	return false
}

// Submit hands an operation to the session and returns when it is queued or started. Results
// are in the entries.
func (s *Session) Submit(ctx context.Context, op Op) error {
	if j, ok := s.jobOf(op); ok {
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
	case SubagentEvent:
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
		return s.override(op)
	}
	panic(fmt.Sprintf("session: unknown operation %T", op))
}

// jobOf returns the job for an operation that waits for its turn, and reports whether op is
// such an operation.
func (s *Session) jobOf(op Op) (job, bool) {
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
		return job{Prompt: Prompt{ID: op.ID}, note: true, local: s.rewind(op)}, true
	case Snip:
		return job{note: true, chore: s.snip}, true
	case Notes:
		return job{note: true, chore: s.writeNotes}, true
	case Aside:
		return job{Prompt: Prompt{ID: op.ID}, note: true, markdown: true, local: s.askAside(op.Text)}, true
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
	if strings.Contains(m.ID, "/") { // an ID with an explicit provider
		kept = m.ID
	}
	s.log.note(store.Model(kept))
	s.feed.add(ctx, Changed{Model: name}, false)
	return nil
}

func (s *Session) override(op Override) error {
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

// KeepMode records a permission mode chosen in an answer, for resuming the session.
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
