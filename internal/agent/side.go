package agent

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"adze/internal/msg"
)

// sideGrace is how long side work may take to notice that the turn is over.
const sideGrace = time.Second

// sideWork runs beside a turn and ends with it.
type sideWork struct {
	work  sync.WaitGroup
	ready chan []msg.Part
	log   *slog.Logger
}

// startSideWork starts the lookups of a turn. A function that panics counts as having found nothing.
func startSideWork(ctx context.Context, lookups []func(context.Context) []msg.Part, log *slog.Logger) *sideWork {
	w := &sideWork{ready: make(chan []msg.Part, len(lookups)), log: log}
	for _, f := range lookups {
		w.work.Go(func() {
			parts, err := protect(func() ([]msg.Part, error) { return f(ctx), nil })
			switch {
			case err != nil:
				log.Warn("side work failed", "err", err)
			case len(parts) > 0:
				w.ready <- parts
			}
		})
	}
	return w
}

// take returns the results that are ready; it never waits.
func (w *sideWork) take() []msg.Part {
	var parts []msg.Part
	for {
		select {
		case p := <-w.ready:
			parts = append(parts, p...)
		default:
			return parts
		}
	}
}

// wait waits for the end of work whose context is done. Work that does not stop in time is abandoned and
// logged.
func (w *sideWork) wait() {
	done := make(chan struct{})
	go func() { w.work.Wait(); close(done) }()
	t := time.NewTimer(sideGrace)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		w.log.Error("side work ignored the end of the turn and was left behind")
	}
}
