package controller

import (
	"context"
	"strings"

	"adze/internal/commands"
	"adze/internal/commands/memory"
	"adze/internal/session"
	"adze/internal/tool"
)

// catchUp handles input from before the conversation was open.
func (d conversationLoop) catchUp(ctx context.Context) {
	lines := d.lines
	d.lines = nil
	for i, line := range lines {
		if !d.Open(ctx) {
			d.lines = lines[i:]
			return
		}
		runner(d).handle(ctx, line)
	}
	if d.Open(ctx) {
		d.view.Replay(ctx)
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

// Enter handles text entered by the user; see [Driver.Hand].
func (d *Driver) Enter(ctx context.Context, text string) { d.Hand(ctx, Input{Text: text}) }

// Hand handles an entry that does not answer a question. If a command is running, the entry is
// queued until it ends.
func (d *Driver) Hand(ctx context.Context, e Input) {
	if strings.TrimSpace(e.Text) != "" {
		d.view.Keep(e.Text)
	}
	if !d.slash.hold(e) {
		runner{d}.handle(ctx, e)
	}
}

// handle handles an entry that may have been queued.
func (d runner) handle(ctx context.Context, e Input) {
	trimmed := strings.TrimSpace(e.Text)
	d.Decline()
	d.unfollow()
	if trimmed != "" {
		asker(d).postpone()
	}
	if trimmed == "" {
		if !d.working {
			d.view.Ready()
		}
		return
	}
	d.enter(ctx, e, trimmed)
	if d.Open(ctx) && !d.Busy() {
		d.view.Resume()
	}
}

// enter executes an entry.
func (d runner) enter(ctx context.Context, e Input, trimmed string) {
	switch {
	case isExitWord(trimmed):
		d.Exit()
	case IsCommand(trimmed):
		d.Command(ctx, trimmed)
	case strings.HasPrefix(trimmed, "!"):
		if err := d.startTyped(ctx, strings.TrimSpace(trimmed[1:])); err != nil {
			d.view.Fail(err)
		}
	case isNote(e.Text, trimmed):
		answer, err := memory.Note(d.talk.Registry, strings.TrimSpace(trimmed[1:]))
		d.carryOut(ctx, commandResult{answer: answer, err: err})
	default:
		d.message(ctx, e)
	}
}

// message sends a message to the running turn, or in its own turn.
func (d runner) message(ctx context.Context, e Input) {
	tipAdvisor(d).said(e.Text)
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
