package controller

import (
	"context"
	"strings"

	"adze/internal/commands"
	"adze/internal/commands/memory"
	"adze/internal/session"
	"adze/internal/tool"
)

// Defer calls do when the next conversation is open. If that fails, the calls are dropped.
func (d *Driver) Defer(do func(context.Context)) { d.pending = append(d.pending, do) }

// replay handles input from before the conversation was open.
func (d *Driver) replay(ctx context.Context) {
	pending := d.pending
	d.pending = nil
	for i, do := range pending {
		if !d.Open(ctx) {
			d.pending = append(d.pending, pending[i:]...)
			return
		}
		do(ctx)
	}
}

// IsCommand reports whether text is a command.
func IsCommand(text string) bool {
	_, _, ok := commands.Parse(text)
	return ok
}

// An Input is an entry of the user.
type Input struct {
	Text string
	// Prompt is the message, if the text is one. If it has no parts, it is built from the text.
	Prompt session.Prompt
	// If Later is true, the message gets its own turn after the running one.
	Later bool
}

// IsMessage reports whether text is for the model: neither an adze command, a shell command nor
// a note.
func IsMessage(text string) bool {
	trimmed := strings.TrimSpace(text)
	return trimmed != "" && !IsCommand(trimmed) && !isExitWord(trimmed) && !strings.HasPrefix(trimmed, "!") && !isNote(text, trimmed)
}

// isExitWord reports whether text is a word that exits most programs. Such words are never sent to
// a model.
func isExitWord(text string) bool {
	switch strings.ToLower(text) {
	case "exit", "quit", ":q", ":q!", ":wq":
		return true
	}
	return false
}

// isNote reports whether text is a note to remember.
func isNote(text, trimmed string) bool {
	return strings.HasPrefix(text, "#") && !strings.Contains(trimmed, "\n")
}

// Enter handles an entry that does not answer a question. If a command is running, the entry is
// queued until it ends.
func (d *Driver) Enter(ctx context.Context, e Input) {
	if !d.slash.hold(e) {
		d.handle(ctx, e)
	}
}

// handle executes an entry.
func (d *Driver) handle(ctx context.Context, e Input) {
	trimmed := strings.TrimSpace(e.Text)
	d.Decline()
	d.unfollow()
	if trimmed == "" {
		if !d.working {
			d.view.Ready()
		}
		return
	}
	d.questions.postpone()
	switch {
	case isExitWord(trimmed):
		d.Exit()
	case IsCommand(trimmed):
		d.Command(ctx, trimmed)
	case strings.HasPrefix(trimmed, "!"):
		if err := d.startShell(ctx, strings.TrimSpace(trimmed[1:])); err != nil {
			d.view.Fail(err)
		}
	case isNote(e.Text, trimmed):
		answer, err := memory.Note(d.talk.Registry, strings.TrimSpace(trimmed[1:]))
		d.execute(ctx, commandResult{answer: answer, err: err})
	default:
		d.message(ctx, e)
	}
	if d.Open(ctx) && !d.Busy() {
		d.view.Resume()
	}
}

// message sends a message to the running turn, or in its own turn.
func (d *Driver) message(ctx context.Context, e Input) {
	d.tips.said(e.Text, d.talk)
	p := e.Prompt
	if len(p.Parts) == 0 {
		p = commands.Prompt{Text: e.Text}.Said()
	}
	if e.Later && d.working {
		d.Submit(ctx, p)
		return
	}
	d.Prompt(ctx, p)
}

// Prompt starts a turn, or steers the running one.
func (d *Driver) Prompt(ctx context.Context, p session.Prompt) {
	var op session.Op = p
	if d.working {
		op = session.Steer(p)
	}
	if d.Submit(ctx, op) {
		d.working, d.warned = true, false
	}
}

// Submit submits an operation to the session, and reports whether it was accepted. If not, the
// user is shown the error.
func (d *Driver) Submit(ctx context.Context, op session.Op) bool {
	err := d.talk.Submit(ctx, op)
	if err != nil {
		d.view.Fail(err)
	}
	return err == nil
}

// Quit leaves the conversation and interrupts the running turn.
func (d *Driver) Quit() {
	if d.talk != nil {
		// The caller's context may be done already, and the turn must be interrupted anyway.
		d.talk.Submit(context.Background(), session.Interrupt{Queued: true, Cause: tool.AbortUser}) // ok: interrupts are always accepted
	}
	d.left, d.talk = d.talk, nil
}
