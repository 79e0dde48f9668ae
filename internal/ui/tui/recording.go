package tui

import (
	"context"
	"time"
)

// Drawn waits until the terminal shows the current state: all entries so far, the status, and a
// question that accepts keys. It reports false if ctx was done before. It is for recordings of the
// screen.
func (f *Front) Drawn(ctx context.Context) bool {
	for {
		complete := false
		frame := func(context.Context) {} // a frame precedes it
		if !f.hand(ctx, func(context.Context) { complete = f.complete() }) || !f.hand(ctx, frame) {
			return false
		}
		if complete && f.screen.Written() {
			return true
		}
		select {
		case <-time.After(written):
		case <-ctx.Done():
			return false
		}
	}
}

// complete reports whether nothing that the next frame depends on is still being looked up.
func (f *Front) complete() bool {
	if f.footer.session.runs || f.footer.custom.runs || f.footer.request.runs {
		return false
	}
	d := f.asked.dialog
	return d == nil || d.Active() && !d.Unseen()
}
