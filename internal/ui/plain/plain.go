// Package plain is the line-by-line front end for a user at a terminal. What is complete is written once and never again.
// Where the terminal delivers keys, a few rows at the end show what goes on and what is typed; elsewhere it only appends,
// so that it works in every terminal and with a screen reader. Opening sessions and files is left to the caller.
package plain

import (
	"context"
	"io"
	"os"
	"time"

	"adze/internal/agent"
	"adze/internal/desk"
	"adze/internal/desk/jobs"
	"adze/internal/platform/term"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A Config is what the front end needs. In, Out and Open are required.
type Config struct {
	In  io.Reader
	Out io.Writer
	// Keys reports whether In delivers single keys, and Out can rewrite lines; otherwise In delivers lines, which the
	// terminal edits.
	Keys bool
	// Interrupts receives a value for each Ctrl-C that In does not deliver; it may be nil.
	Interrupts <-chan struct{}
	// Suspend stops the program until the user resumes it; it may be nil.
	Suspend func()
	// Resume takes the terminal again after something else has stopped the program and it is resumed.
	Resume func()
	// Width and Height return the size of the terminal; 0 means unknown. Changes receives the signals of the terminal, see
	// [term.Changes]; it may be nil. Reflows says that the terminal breaks lines again when it becomes narrower.
	Width, Height func() int
	Changes       <-chan os.Signal
	Reflows       bool
	Palette       draw.Palette
	// Verbose shows all that commands print.
	Verbose bool
	// Dir is the working directory: paths in it are shown relative to it.
	Dir string
	// Open opens the named session, or a new one if the name is empty. It closes the previous one.
	Open func(ctx context.Context, resume string) (*Conversation, error)
	// First is the prompt on the command line; it may be empty.
	First  string
	Typing Typing
	// Suggest looks for something to suggest to the user, while the first prompt waits; it returns nil if there is
	// nothing. It may be nil.
	Suggest  func(ctx context.Context) *Suggestion
	Programs Programs
}

// Programs are other programs that the front end can use. Each may be nil. Nothing is read from In while one runs.
type Programs struct {
	// Copy puts a text on the clipboard, and reports false if there is no program for it.
	Copy func(text string) (done bool, err error)
	// Edit lets the user edit a file.
	Edit func(path string) error
	// Start starts this program again with arguments, and waits for it to end. It reports false if it failed; it has told
	// the user why.
	Start func(args []string) (done bool, err error)
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
	followed *follower // of the task that the user follows; may be nil
	typed    *typed    // the command that the user typed and that runs; may be nil
	slash    slash     // the command of adze that runs
	watched  *watch    // the background tasks
	offer    *offer    // the list that the user may choose from; may be nil
	leave    bool      // the next Ctrl-C exits
	warned   bool      // the user knows which tasks would end
	escaped  time.Time // when Esc was pressed
	ended    bool      // the input has ended: the running turn is the last
	next     *string   // the session to continue

	suggestions suggestions
	inquiry
	*told
}

// New returns a front end.
func New(cfg Config) *Front {
	if cfg.Width == nil {
		cfg.Width = func() int { return 0 }
	}
	if cfg.Height == nil {
		cfg.Height = func() int { return 0 }
	}
	f := &Front{cfg: cfg, keyboard: newKeyboard(cfg), out: newPrinter(cfg), told: &told{more: make(chan struct{}, 1)}}
	f.keyboard.Complete = f.complete
	return f
}

// Run runs conversations until the user leaves or ctx is done.
func (f *Front) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer f.out.leave()
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
			if f.keyboard.drop() {
				f.out.say("What was typed for it is dropped.")
			}
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
	f.watched = newWatch(ctx)
	if begins {
		jobs.Attend(talk.Desk, true)
		f.keyboard.loadDraft(talk)
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
	defer func() { cancel(); <-followed; f.slash.abandon(); f.typed.abandon(); f.typed = nil }()
	view{f}.catchUp(ctx)
	f.loop(ctx, entries)
}

// loop handles what happens, one thing after the other. What is typed and not sent at its end is kept.
func (f *Front) loop(ctx context.Context, entries <-chan session.Entry) {
	talk := f.talk // the user may leave it
	defer func() { f.keyboard.saveDraft(talk) }()
	var second, due <-chan time.Time // when to look at the clock, and to show what has arrived
	var framed time.Time
	flows := false // more of the same is likely to come at once
	for f.next == nil && !f.gone(ctx) {
		switch pause := frameTime - time.Since(framed); {
		case !flows || pause <= 0:
			view{f}.frame()
			framed, due = time.Now(), nil
		case due == nil:
			due = time.After(pause)
		}
		flows = false
		if second == nil && (f.busy() || f.followed != nil) { // nothing ticks while nothing goes on
			second = time.After(time.Second)
		}
		select {
		case e := <-entries:
			f.entry(e)
			flows = e.Live
		case t := <-f.keyboard.typed:
			f.take(ctx, f.keyboard.decode(t))
			f.keyboard.taken <- struct{}{}
		case <-f.keyboard.late:
			f.take(ctx, f.keyboard.flush())
		case <-f.keyboard.draft.due:
			f.keyboard.saveDraft(talk)
		case s := <-f.suggestible():
			f.suggestions.show(s, f.out)
			if s != nil {
				f.prompt()
			}
		case <-f.cfg.Interrupts:
			exit{f}.interrupt(ctx)
		case <-f.followed.done():
			f.followed.show(f.out)
			f.unfollow()
			f.prompt()
		case d := <-f.typed.printed():
			f.typed.call.display(d)
		case e := <-f.typed.ended():
			f.typed.over(ctx, f, e)
		case e := <-f.slash.done:
			runner{f}.over(ctx, e)
		case t := <-f.watched.ended:
			if f.followed == nil || f.followed.task != t { // or it is told there
				f.out.taskEnded(t)
				f.resume()
			}
		case <-second:
			second = nil
			view{f}.tick()
		case s := <-f.cfg.Changes:
			if term.Resumes(s) {
				f.cfg.Resume()
				f.out.terminal.Forget()
			}
		case <-f.effect:
			f.effect = nil
			view{f}.open()
		case <-f.more:
			view{f}.news()
		case <-due:
		case <-ctx.Done():
		}
	}
	view{f}.frame()
}

// busy reports whether the user waits for the session or for a command.
func (f *Front) busy() bool { return f.working || f.awaited || f.typed != nil || f.slash.call != nil }

// gone reports whether the conversation is over.
func (f *Front) gone(ctx context.Context) bool { return ctx.Err() != nil || f.talk == nil }

// begin shows the greeting and the end of an earlier conversation, and enters the prompt of the command line.
func (f *Front) begin(ctx context.Context) {
	f.out.say(f.talk.Greeting)
	said := f.talk.Conversation()
	f.out.recall(said[max(0, len(said)-f.talk.Shown):])
	f.working, f.asked, f.held, f.offer, f.warned = false, nil, false, nil, false
	if first := f.cfg.First; first != "" {
		f.cfg.First = ""
		f.out.say("> " + first)
		f.enter(ctx, first)
		return
	}
	f.prompt()
}

// entry handles an entry of the session.
func (f *Front) entry(e session.Entry) {
	f.out.count(e.Seq)
	switch ev := e.Event.(type) {
	case session.Started:
		f.working = true
		f.out.begin()
		f.out.phase("working")
	case session.Loop:
		f.out.event(ev.Event)
		if _, ok := ev.Event.(agent.ToolDone); ok {
			f.watched.look(f.talk.Tasks)
		}
	case session.Beside:
		return
	case session.Task:
		f.out.crew.note(ev)
		return
	case session.Asked:
		f.asked = append(f.asked, question{ev.ID, dialogFor(ev.Question)})
		if len(f.asked) == 1 {
			f.held = true
			view{f}.open()
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
	f.resume()
}

// resume prompts, unless something is waited for.
func (f *Front) resume() {
	if !f.out.prompted && f.talk != nil && f.next == nil && (!f.busy() || f.asking()) {
		f.prompt()
	}
}

// prompt writes the prompt. Where there are live rows, it is always among them; see [view.frame].
func (f *Front) prompt() {
	f.out.fresh()
	if !f.cfg.Keys {
		f.out.prompt(view{f}.promptText())
	}
}

// say starts a turn, or steers the running one.
func (f *Front) say(ctx context.Context, p session.Prompt) {
	var op session.Op = p
	if f.working {
		op = session.Steer(p)
	}
	if err := f.talk.Submit(ctx, op); err != nil {
		f.out.fail(err)
		return
	}
	f.working, f.warned = true, false
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
