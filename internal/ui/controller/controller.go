// Package controller implements UI-independent conversation control. It turns input into prompts,
// adze commands and shell commands, queues questions, watches tasks and switches sessions. A
// [View] shows the results.
package controller

import (
	"context"
	"iter"
	"time"

	"adze/internal/agent"
	"adze/internal/commands"
	"adze/internal/commands/schedule"
	"adze/internal/session"
)

// Config configures a Driver. Open is required.
type Config struct {
	// Open opens the named session, or a new one if the name is empty. It closes the previous
	// one.
	Open func(ctx context.Context, resume string) (*Conversation, error)
	// First is the prompt on the command line; it may be empty.
	First string
	// Suggest looks for a suggestion while the first prompt waits; it returns nil if it finds
	// none. It may be nil.
	Suggest func(ctx context.Context) *Suggestion
	// Tip returns a tip by name, unless the user has seen it or has disabled tips; it may be
	// nil. Home is the user's home directory; it may be empty.
	Tip  func(ctx context.Context, name string) string
	Home string
	// Beat is called on user activity and on events; it may be nil.
	Beat func()
	// Ended is called after a turn. It returns a text to show, which may be empty, and reports
	// whether to leave unless another turn follows. It may be nil; otherwise it also replaces the
	// summary of the session.
	Ended func(session.Finished) (text string, leave bool)
	// Follow returns the entries of a session as they are to be shown; nil shows them unchanged.
	Follow   func(iter.Seq[session.Entry]) iter.Seq[session.Entry]
	Programs Programs
}

// Programs are external programs. Each may be nil. Nothing is read from the terminal while one
// runs.
type Programs struct {
	// Copy copies a text to the clipboard. It reports false if no program for it is available.
	Copy func(text string) (done bool, err error)
	// Edit opens a file in the user's editor.
	Edit func(path string) error
	// Start starts this program again with arguments, and waits for it to end. It reports false
	// if it failed, in which case it has shown the user why.
	Start func(args []string) (done bool, err error)
}

// A Conversation is an open session.
type Conversation struct {
	*session.Session
	*commands.Registry
	Greeting commands.Greeting // shown first
	// Earlier holds the last turns of the continued session, as events.
	Earlier []agent.Event
	// Explain returns a user-facing explanation of an error from the given model; it may be
	// nil.
	Explain func(err error, model string) string
	// PlanFile is the file of the session's plan; it may be empty.
	PlanFile string
	// WarnUSD is the session cost at which the user is warned, once; 0 means never.
	WarnUSD float64
	// Unsaved is true if the session cannot be resumed.
	Unsaved bool
}

// A Driver runs conversations on behalf of a View. All methods except [Driver.Post],
// [Driver.Tell] and [Driver.Unshown] must be called from the goroutine of [Driver.Run], which
// also calls the view and posted functions.
type Driver struct {
	cfg   Config
	view  View
	talk  *Conversation // open conversation; nil when the user has left
	left  *Conversation // last conversation, after the user has left it
	posts chan func(context.Context)
	ctx   context.Context // context of Run, for delayed functions

	work
	watched *watch                  // the background tasks
	pending []func(context.Context) // input made while switching conversations; see Defer
	next    *string                 // session to continue
	seen    session.Seq             // last entry shown
	exitState

	found <-chan *Suggestion // nil without a search
	tips  *tipAdvisor
	questions
	*messageQueue
}

// New returns a driver. [Driver.Run] sets its view.
func New(cfg Config) *Driver {
	if cfg.Beat == nil {
		cfg.Beat = func() {}
	}
	return &Driver{cfg: cfg, posts: make(chan func(context.Context)), messageQueue: &messageQueue{more: make(chan struct{}, 1)}}
}

// Run runs conversations until the user quits or ctx is done.
func (d *Driver) Run(ctx context.Context, view View) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.view, d.ctx = view, ctx
	d.reset()
	resume := ""
	d.next = &resume
	d.lookForSuggestion(ctx, d.cfg.Suggest)
	for d.next != nil {
		conv, err := d.openConversation(ctx, *d.next)
		d.next = nil
		if err != nil {
			if d.talk == nil {
				return err
			}
			view.Fail(err)
			if len(d.pending) > 0 {
				view.Say("Unsent input was discarded.")
			}
			d.pending = nil
			view.Ready()
			conv = d.talk
		}
		d.talk = conv
		d.converse(ctx, err == nil)
	}
	if d.left != nil && d.cfg.Ended == nil {
		farewell(view, d.left)
	}
	return nil
}

// openConversation opens a conversation and shows notices in the meantime: a local model can
// take minutes to load.
func (d *Driver) openConversation(ctx context.Context, resume string) (*Conversation, error) {
	type opened struct {
		conv *Conversation
		err  error
	}
	done := make(chan opened, 1)
	go func() {
		conv, err := d.cfg.Open(ctx, resume)
		done <- opened{conv, err}
	}()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	defer d.view.Over(openCall)
	for waits := false; ; {
		select {
		case o := <-done:
			return o.conv, o.err
		case <-d.more:
			for _, text := range d.Unshown() {
				d.view.Say(text)
			}
			d.view.Frame()
		case <-second.C:
			if !waits {
				waits = true
				d.view.Began(openCall, "Starting")
			}
			d.view.Tick()
			d.view.Frame()
		}
	}
}

// openCall identifies the opening of a conversation among the running calls.
const openCall = "open"

// converse runs one conversation until the user leaves it. Begins is true if it was just
// opened.
func (d *Driver) converse(ctx context.Context, begins bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conv := d.talk // the user may leave before its entries are followed
	after := conv.Last()
	d.seen = after
	d.watched = newWatch(ctx)
	if begins {
		schedule.Attend(conv.Registry, true)
		d.beginConversation(ctx)
	}
	entries := make(chan session.Entry)
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		follow := conv.Entries(ctx, after, session.Latest)
		if d.cfg.Follow != nil {
			follow = d.cfg.Follow(follow)
		}
		for e := range follow {
			select {
			case entries <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer func() { cancel(); <-followed; d.slash.abandon(); d.typed.abandon(); d.typed = nil }()
	d.replay(ctx)
	d.loop(ctx, entries)
	d.view.Left(conv)
}

// frameTime is the minimum time between two frames while text arrives.
const frameTime = 33 * time.Millisecond

// loop handles events, one after the other.
func (d *Driver) loop(ctx context.Context, entries <-chan session.Entry) {
	var second, due <-chan time.Time // time of the next tick, and of the next frame
	var room <-chan struct{}         // receives when the terminal accepts more; nil if it does
	var framed time.Time
	flows := false // more of the same is likely to follow immediately
	for d.Open(ctx) {
		d.cfg.Beat()
		switch pause := frameTime - time.Since(framed); {
		case !flows || pause <= 0:
			room = d.frame()
			framed, due = time.Now(), nil
		case due == nil:
			due = time.After(pause)
		}
		flows = false
		if second == nil && (d.Busy() || d.followed != nil) { // no ticks while idle
			second = time.After(time.Second)
		}
		feed := entries
		if room != nil {
			feed = nil
		}
		select {
		case e := <-feed:
			d.handleEntry(e)
			flows = e.Live
		case <-room:
		case do := <-d.posts:
			do(ctx)
		case s := <-d.suggestible():
			d.found = nil
			if s != nil {
				d.questions.suggest(s)
			}
		case <-d.followed.done():
			d.followed.show(d.view)
			d.unfollow()
			d.view.Ready()
		case shown := <-d.typed.printed():
			d.view.Progress(typedCall, shown)
		case e := <-d.typed.ended():
			d.shellDone(ctx, e)
		case e := <-d.slash.done:
			d.commandDone(ctx, e)
		case t := <-d.watched.ended:
			if d.followed == nil || d.followed.task != t { // otherwise shown by the follower
				d.view.TaskEnded(t)
				d.resume()
			}
		case <-second:
			second = nil
			d.tick()
		case <-d.questions.effect:
			d.questions.effective()
		case <-d.more:
			d.showMessages()
		case <-due:
		case <-ctx.Done():
		}
	}
	d.view.Frame()
}

// frame updates the view.
func (d *Driver) frame() (room <-chan struct{}) {
	if d.talk != nil {
		d.questions.show()
	}
	return d.view.Frame()
}

// tick is called each second during activity.
func (d *Driver) tick() {
	if d.followed != nil && !d.view.Typing() && !d.followed.show(d.view) {
		d.unfollow()
	}
	d.view.Tick()
}

// Conversation returns the open conversation, or nil when the user has left.
func (d *Driver) Conversation() *Conversation { return d.talk }

// Open reports whether the conversation continues: the user has neither left nor chosen another
// one.
func (d *Driver) Open(ctx context.Context) bool { return ctx.Err() == nil && !d.Closed() }

// Closed reports whether the user has left or chosen another conversation.
func (d *Driver) Closed() bool { return d.next != nil || d.talk == nil }

// reset forgets the questions and tips of the last conversation.
func (d *Driver) reset() {
	d.questions = questions{screen: d.view}
	d.tips = d.newTipAdvisor()
}

// beginConversation shows the conversation, and enters the prompt of the command line.
func (d *Driver) beginConversation(ctx context.Context) {
	d.working, d.warned = false, false
	d.reset()
	first := d.cfg.First
	d.cfg.First = ""
	d.view.Begin(d.talk, first)
	if first == "" {
		d.view.Ready()
		return
	}
	d.Enter(ctx, Input{Text: first})
}

// handleEntry handles an entry of the session.
func (d *Driver) handleEntry(e session.Entry) {
	switch ev := e.Event.(type) {
	case session.Started:
		d.working = true
	case session.Finished:
		d.working, d.leaving, d.awaited = false, false, false
		d.showTip()
		d.view.Over(stopCall)
	case session.Changed:
		d.awaited = false
	case session.Asked:
		d.questions.add(ev)
	case session.Settled:
		d.questions.settle(ev)
	}
	d.seen = e.Seq
	d.view.Entry(e)
	switch ev := e.Event.(type) {
	case session.SubagentEvent, session.Task:
		return
	case session.Loop:
		if _, ok := ev.Event.(agent.ToolDone); ok {
			d.watched.look(d.talk.Tasks)
		}
	}
	if ev, ok := e.Event.(session.Finished); ok && d.cfg.Ended != nil {
		d.turnEnded(ev)
	}
	if d.ended && (!d.Busy() || len(d.questions.asked) > 0) { // a question can no longer be answered
		d.Quit()
		return
	}
	d.resume()
}

// turnEnded lets the program leave after a turn.
func (d *Driver) turnEnded(ev session.Finished) {
	text, leave := d.cfg.Ended(ev)
	if text != "" {
		d.view.Say(text)
	}
	if !leave {
		return
	}
	conv := d.talk
	d.Background(func(ctx context.Context) func() {
		err := conv.Idle(ctx)
		return func() {
			if err == nil && d.talk == conv && !d.Busy() && d.seen >= conv.Last() { // otherwise another turn follows
				d.Quit()
			}
		}
	})
}

// resume lets the view prompt, unless something is pending.
func (d *Driver) resume() {
	if d.talk != nil && d.next == nil && (!d.Busy() || d.Asking()) {
		d.view.Resume()
	}
}
