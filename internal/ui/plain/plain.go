// Package plain is the front end for a user at a terminal, line by line. It only ever adds to what is
// on the screen, so it works in every terminal and with a screen reader. Which session to talk to, and
// where files go, is left to the caller.
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
	// Keys says that In delivers every key at once; otherwise it delivers lines, which the terminal edits.
	Keys bool
	// Interrupts tells of Ctrl-C where In does not; nil means that it does.
	Interrupts <-chan struct{}
	// Suspend stops the program until the user brings it back; nil means that it cannot.
	Suspend func()
	// Width returns the width of the terminal.
	Width   func() int
	Palette draw.Palette
	// Dir is the working directory: what lies in it is named from there.
	Dir string
	// Open starts a conversation: the session that is named, or a new one. The one before is closed.
	Open func(ctx context.Context, resume string) (*Conversation, error)
	// First is what the user gave on the command line.
	First string
	// History is what was entered before, oldest first, and Remember keeps another entry; nil forgets it.
	History  []string
	Remember func(text string)
	// Edit lets the user edit a file. Nothing is read from In meanwhile.
	Edit func(path string) error
}

// A Conversation is a session with what is to be said about it at its start.
type Conversation struct {
	*session.Session
	*desk.Desk
	// Greeting says what is there: the model, the mode, how to get help.
	Greeting string
	// Shown is how many entries at the end of an earlier conversation are shown.
	Shown int
	// Explain says what an error means for the user, in the words of the given model; it may be nil.
	Explain func(err error, model string) string
	// WarnUSD is the cost of a session at which the user is told, once; 0 means never.
	WarnUSD float64
}

// A Front is the front end.
type Front struct {
	cfg      Config
	keyboard *keyboard
	out      *printer
	talk     *Conversation
	left     *Conversation // the last one, after it was left

	working  bool      // a turn runs
	awaited  bool      // what was entered will be answered by an entry: the prompt waits for it
	asked    questions // that wait for an answer
	followed *follower // the task that the user waits for, or nil
	offer    *offer    // what a number stands for, or nil
	leave    bool      // the next Ctrl-C leaves
	ended    bool      // nothing more will be typed: the turn that runs is the last
	next     *string   // the session to continue
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

// Run talks with the user until they leave. Ctx ends it.
func (f *Front) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resume := ""
	f.next = &resume
	go f.keyboard.read(ctx)
	for f.next != nil {
		resume, f.next = *f.next, nil
		talk, err := f.cfg.Open(ctx, resume)
		if err != nil {
			if f.talk == nil {
				return err
			}
			f.out.say(err.Error())
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

// converse talks in one session, until the user leaves it.
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
			// What is being typed is not written over, and no question comes between a list and the number
			// that is chosen from it; the session keeps the rest.
			news = nil
		}
		select {
		case e := <-news:
			f.entry(e)
		case t := <-f.keyboard.typed:
			f.take(ctx, t)
			f.keyboard.taken <- struct{}{}
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

// busy reports whether the session does something that the user waits for.
func (f *Front) busy() bool { return f.working || f.awaited }

// gone reports whether the conversation is over.
func (f *Front) gone(ctx context.Context) bool { return ctx.Err() != nil || f.talk == nil }

// begin greets the user, shows the end of what was said before, and says what they came to say.
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

// entry takes news of the session.
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
	if f.ended && (!f.busy() || len(f.asked) > 0) { // no user is left to answer
		f.quit()
		return
	}
	if !f.out.prompted && (!f.busy() || len(f.asked) > 0) {
		f.prompt()
	}
}

// prompt invites the user to type. What was typed already stands behind it.
func (f *Front) prompt() {
	f.out.fresh()
	text := f.asked.prompt()
	if f.cfg.Keys {
		f.keyboard.Prompt = text
		text = f.keyboard.Open()
	}
	f.out.edit(text)
}

// say starts a turn, or steers the one that runs.
func (f *Front) say(ctx context.Context, text string) {
	parts := []msg.Part{&msg.Text{Text: text}}
	var op session.Op = session.Prompt{Parts: parts}
	if f.working {
		op = session.Steer{Parts: parts}
	}
	if err := f.talk.Submit(ctx, op); err != nil {
		f.out.say(err.Error())
		return
	}
	f.working = true
}

// interrupt stops the turn; what is asked then is answered by it. A second time it leaves.
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

// quit leaves. The turn that runs is interrupted.
func (f *Front) quit() {
	if f.talk != nil {
		// The context of the call is done for: what matters is that the turn hears of it.
		f.talk.Submit(context.Background(), session.Interrupt{Queued: true, Cause: tool.AbortUser}) // ok: interrupts are always taken
	}
	f.left, f.talk = f.talk, nil
}

func (f *Front) submit(ctx context.Context, op session.Op) bool {
	err := f.talk.Submit(ctx, op)
	if err != nil {
		f.out.say(err.Error())
	}
	return err == nil
}

// unfollow goes back from a task to the conversation. The task goes on.
func (f *Front) unfollow() {
	if f.followed != nil {
		f.followed, f.awaited = nil, false
	}
}
