package tui

import (
	"context"
	"slices"
	"time"

	"adze/internal/agent"
	"adze/internal/commands"
	"adze/internal/session"
	"adze/internal/ui/controller"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
	"adze/internal/ui/tui/attention"
	"adze/internal/ui/tui/status"
)

// A footer holds the status row and the state for notifying an absent user.
type footer struct {
	bar     status.Bar
	session lookup            // looks up the session's state
	custom  lookup            // runs the user's status line command
	due     *controller.Timer // fires when that is looked up again
	request lookup            // looks up the pull request
	asked   time.Time         // time of the last pull request lookup

	watch attention.Watch
	call  *controller.Timer // fires when the user is to be notified
	began time.Time         // start of the running or last turn
}

// A lookup runs a background query, one at a time.
type lookup struct{ runs, stale bool }

// lookUp runs find in the background and shows its result. If another lookup was requested in
// the meantime, it calls again afterwards.
func (f *Front) lookUp(l *lookup, find func(ctx context.Context) (show func()), again func()) {
	if l.stale = l.runs; l.runs {
		return
	}
	l.runs = true
	f.Background(func(ctx context.Context) func() {
		show := find(ctx)
		return func() {
			l.runs = false
			show()
			if l.stale {
				again()
			}
		}
	})
}

// debounce is how long the state must be unchanged before the user's status line command runs.
const debounce = 300 * time.Millisecond

// refresh looks up the state shown in the status row.
func (f *Front) refresh() {
	c := f.Conversation()
	if c == nil {
		return
	}
	f.lookUp(&f.footer.session, func(context.Context) func() {
		now := c.Glance()
		return func() { f.footer.bar.Session = now }
	}, f.refresh)
	if c.Env.StatusLine != nil {
		f.footer.due.Stop()
		f.footer.due = f.After(debounce, func(context.Context) { f.runLine() })
	}
}

// runLine runs the user's status line command. If it fails, the default row is shown;
// /statusline explains the failure.
func (f *Front) runLine() {
	c := f.Conversation()
	if c == nil {
		return
	}
	f.lookUp(&f.footer.custom, func(ctx context.Context) func() {
		line, err := c.Env.StatusLine(ctx, c.Registry)
		if err != nil {
			line = ""
		}
		return func() { f.footer.bar.Custom = line }
	}, f.runLine)
}

// requestPause is the minimum interval between pull request lookups.
const requestPause = time.Minute

// lookForRequest looks up the state of the pull request.
func (f *Front) lookForRequest() {
	c := f.Conversation()
	if c == nil || c.Env.Request == nil || time.Since(f.footer.asked) < requestPause {
		return
	}
	f.footer.asked = time.Now()
	f.lookUp(&f.footer.request, func(ctx context.Context) func() {
		now, wanted := c.Env.Request(ctx)
		return func() {
			if f.footer.bar.Request = now; !wanted {
				f.footer.bar.Request = commands.Request{}
			}
		}
	}, func() {})
}

// status returns the status row.
func (f *Front) status(width int) []draw.Row {
	b := &f.footer.bar
	b.Glyphs, b.Typing = f.cfg.Glyphs, f.keyboard.Pending()
	b.Hint = ""
	if f.keyboard.Empty() && f.asked.dialog == nil {
		b.Hint = "? keys"
	}
	if mode := f.keyboard.Mode(); mode != "" {
		b.Typing = mode + " " + b.Typing
	}
	if c := f.Conversation(); c != nil && b.Session.Mode != "" {
		b.Session.Mode = c.Permission.Mode() // the mode may just have changed
	}
	rows, _ := b.Rows(width, 1)
	return rows
}

// heed updates the status row and the notification state for an entry.
func (f *Front) heed(e session.Entry) {
	switch ev := e.Event.(type) {
	case session.Started:
		f.footer.began = time.Now()
		f.await(attention.Nothing)
	case session.Finished:
		f.lookForRequest()
		if time.Since(f.footer.began) >= attention.Long {
			f.await(attention.TurnEnd)
		}
	case session.Changed:
	case session.Loop:
		if _, ok := ev.Event.(agent.Appended); !ok {
			return
		}
	default:
		return
	}
	f.refresh()
}

// await records the reason the user is needed.
func (f *Front) await(what attention.Cause) {
	f.footer.watch.Wait(what, time.Now())
	f.attend()
}

// attend notifies the user when it is time to.
func (f *Front) attend() {
	f.footer.call.Stop()
	in, ok := f.footer.watch.Due(time.Now())
	if !ok || f.cfg.Notify == nil {
		return
	}
	f.footer.call = f.After(in, func(context.Context) {
		if what := f.footer.watch.Call(time.Now()); what != attention.Nothing {
			f.screen.Send(f.cfg.Notify(what))
		}
	})
}

// signs records user activity, and reports whether a key was pressed.
func (f *Front) signs(events []keys.Event) (pressed bool) {
	for _, ev := range events {
		if away := f.footer.watch.Sign(ev); away > 0 {
			f.remarks.back(away)
		}
	}
	f.attend()
	return slices.ContainsFunc(events, func(ev keys.Event) bool { return ev.Kind == keys.Press || ev.Kind == keys.Paste })
}
