// Package plain is the line-by-line front end for a user at a terminal. It only appends to the screen, so it works in
// every terminal and with a screen reader. Opening sessions and files is left to the caller.
package plain

import (
	"context"
	"io"
	"time"

	"adze/internal/desk"
	"adze/internal/msg"
	"adze/internal/platform/term"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A Config is what the front end needs. In, Out and Open are required.
type Config struct {
	In  io.Reader
	Out io.Writer
	// Keys reports whether In delivers single keys; otherwise it delivers lines, which the terminal edits.
	Keys bool
	// Interrupts receives a value for each Ctrl-C that In does not deliver; it may be nil.
	Interrupts <-chan struct{}
	// Suspend stops the program until the user resumes it; it may be nil.
	Suspend func()
	// Width returns the width of the terminal.
	Width   func() int
	Palette draw.Palette
	// Dir is the working directory: paths in it are shown relative to it.
	Dir string
	// Open opens the named session, or a new one if the name is empty. It closes the previous one.
	Open func(ctx context.Context, resume string) (*Conversation, error)
	// First is the prompt on the command line; it may be empty.
	First string
	// History is what was entered in earlier sessions, oldest first. Remember stores an entry; it may be nil.
	History  []string
	Remember func(text string)
	// Suggest looks for something to suggest to the user, while the first prompt waits; it returns nil if there is
	// nothing. It may be nil.
	Suggest func(ctx context.Context) *Suggestion
	// Edit lets the user edit a file. Nothing is read from In meanwhile.
	Edit func(path string) error
}

// A Conversation is an open session.
type Conversation struct {
	*session.Session
	*desk.Desk
	// Greeting is shown first: the model, the mode, how to get help.
	Greeting string
	// Shown is how many entries at the end of an earlier conversation are shown.
	Shown int
	// Explain returns what an error of the given model means to the user; it may be nil.
	Explain func(err error, model string) string
	// WarnUSD is the cost of a session at which the user is warned, once; 0 means never.
	WarnUSD float64
}

// A Front is the front end.
type Front struct {
	cfg      Config
	keyboard *keyboard
	out      *printer
	talk     *Conversation
	left     *Conversation // the last one, after the user has left it

	working  bool      // a turn runs
	awaited  bool      // an entry will answer what was entered: prompt after it
	asked    questions // without an answer yet
	followed *follower // of the task that the user follows; may be nil
	offer    *offer    // the list that the user may choose from; may be nil
	leave    bool      // the next Ctrl-C exits
	ended    bool      // the input has ended: the running turn is the last
	next     *string   // the session to continue

	suggestions suggestions
}

// New returns a front end.
func New(cfg Config) *Front {
	if cfg.Width == nil {
		cfg.Width = func() int { return 0 }
	}
	f := &Front{cfg: cfg, keyboard: newKeyboard(cfg), out: newPrinter(cfg)}
	f.keyboard.Complete = f.complete
	return f
}

// Run runs conversations until the user leaves or ctx is done.
func (f *Front) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resume := ""
	f.next = &resume
	go f.keyboard.read(ctx)
	f.suggestions.look(ctx, f.cfg.Suggest)
	for f.next != nil {
		resume, f.next = *f.next, nil
		talk, err := f.cfg.Open(ctx, resume)
		if err != nil {
			if f.talk == nil {
				return err
			}
			f.out.fail(err)
			f.prompt()
			talk = f.talk
		}
		f.talk, f.out.talk = talk, talk
		f.converse(ctx, err == nil)
	}
	if f.left != nil {
		f.out.farewell(f.left)
	}
	return nil
}

// converse runs one conversation until the user leaves it. Begins reports whether it was just opened.
func (f *Front) converse(ctx context.Context, begins bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	talk := f.talk // the user may leave before its entries are followed
	after := talk.Last()
	if begins {
		f.begin(ctx)
	}
	entries := make(chan session.Entry)
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		for e := range talk.Entries(ctx, after, session.Latest) {
			select {
			case entries <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer func() { cancel(); <-followed }()

	slow := time.NewTicker(time.Second)
	defer slow.Stop()
	for f.next == nil && !f.gone(ctx) {
		news := entries
		if (!f.keyboard.Empty() || f.offer != nil) && (f.working || len(f.asked) > 0) {
			// Nothing is written into what the user types, and no question comes between a list and the choice
			// from it. The session keeps the entries until then.
			news = nil
		}
		select {
		case e := <-news:
			f.entry(e)
		case t := <-f.keyboard.typed:
			f.take(ctx, t)
			f.keyboard.taken <- struct{}{}
		case s := <-f.suggestible():
			f.suggestions.show(s, f.out)
			if s != nil {
				f.prompt()
			}
		case <-f.cfg.Interrupts:
			f.interrupt(ctx)
		case <-f.followed.done():
			f.followed.show(f.out)
			f.unfollow()
			f.prompt()
		case <-slow.C:
			if f.followed != nil && f.keyboard.Empty() && !f.followed.show(f.out) {
				f.unfollow()
			}
			if f.keyboard.Empty() && len(f.asked) == 0 && f.offer == nil {
				f.out.waiting()
			}
		case <-ctx.Done():
		}
	}
}

// busy reports whether the user waits for the session.
func (f *Front) busy() bool { return f.working || f.awaited }

// gone reports whether the conversation is over.
func (f *Front) gone(ctx context.Context) bool { return ctx.Err() != nil || f.talk == nil }

// begin shows the greeting and the end of an earlier conversation, and enters the prompt of the command line.
func (f *Front) begin(ctx context.Context) {
	f.out.say(f.talk.Greeting)
	said := f.talk.Conversation()
	f.out.recall(said[max(0, len(said)-f.talk.Shown):])
	f.working, f.asked, f.offer = false, nil, nil
	if first := f.cfg.First; first != "" {
		f.cfg.First = ""
		f.out.line(f.keyboard.Prompt + term.Sanitize(first))
		f.enter(ctx, first)
		return
	}
	f.prompt()
}

// entry handles an entry of the session.
func (f *Front) entry(e session.Entry) {
	switch ev := e.Event.(type) {
	case session.Started:
		f.working = true
		f.out.begin()
	case session.Loop:
		f.out.event(e.Seq, ev.Event)
	case session.Asked:
		f.asked = append(f.asked, question{ev.ID, dialogFor(ev.Question)})
		if len(f.asked) == 1 {
			f.askNext()
		}
	case session.Settled:
		f.settled(ev)
	case session.Finished:
		f.working, f.leave, f.awaited = false, false, false
		f.out.finished(ev)
	case session.Changed:
		f.awaited = false
		f.out.changed(ev)
	}
	if f.ended && (!f.busy() || len(f.asked) > 0) { // a question cannot be answered any more
		f.quit()
		return
	}
	if !f.out.prompted && (!f.busy() || len(f.asked) > 0) {
		f.prompt()
	}
}

// prompt writes the prompt, with what has been typed already.
func (f *Front) prompt() {
	f.out.fresh()
	text := f.asked.prompt()
	if f.cfg.Keys {
		f.keyboard.Prompt = text
		text = f.keyboard.Open()
	}
	f.out.edit(text)
}

// say starts a turn, or steers the running one.
func (f *Front) say(ctx context.Context, text string) {
	parts := []msg.Part{&msg.Text{Text: text}}
	var op session.Op = session.Prompt{Parts: parts}
	if f.working {
		op = session.Steer{Parts: parts}
	}
	if err := f.talk.Submit(ctx, op); err != nil {
		f.out.fail(err)
		return
	}
	f.working = true
}

// interrupt interrupts the turn and its questions. The second time in a row it exits.
func (f *Front) interrupt(ctx context.Context) {
	typing := f.keyboard.forget() || f.followed != nil
	f.offer = nil
	f.unfollow()
	switch {
	case f.leave:
		f.quit()
	case f.working:
		f.leave = true
		f.out.say("Interrupting. Press Ctrl-C again to exit.")
		f.submit(ctx, session.Interrupt{Queued: true})
	case typing:
		f.prompt()
	default:
		f.leave = true
		f.out.say("Press Ctrl-C again to exit, or use Ctrl-D or /exit.")
		f.prompt()
	}
}

// quit leaves the conversation and interrupts the running turn.
func (f *Front) quit() {
	if f.talk != nil {
		// The caller's context may be done already, and the turn must be interrupted all the same.
		f.talk.Submit(context.Background(), session.Interrupt{Queued: true, Cause: tool.AbortUser}) // ok: interrupts are always taken
	}
	f.left, f.talk = f.talk, nil
}

func (f *Front) submit(ctx context.Context, op session.Op) bool {
	err := f.talk.Submit(ctx, op)
	if err != nil {
		f.out.fail(err)
	}
	return err == nil
}

// unfollow stops following a task, which continues to run.
func (f *Front) unfollow() {
	if f.followed != nil {
		f.followed, f.awaited = nil, false
	}
}
