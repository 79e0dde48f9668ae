package agent

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"adze/internal/msg"
	"adze/internal/tool"
)

// sideGrace is how long side work may take to notice that the turn has ended.
const sideGrace = time.Second

// sideWork runs in the background of a turn and ends with it.
type sideWork struct {
	work  sync.WaitGroup
	ready chan []msg.Part
	// labels delivers the descriptions of batches.
	labels chan Labelled
	log    *slog.Logger
}

// startSideWork starts a turn's lookups. A function that panics counts as having found nothing.
func startSideWork(ctx context.Context, lookups []func(context.Context) []msg.Part, log *slog.Logger) *sideWork {
	w := &sideWork{ready: make(chan []msg.Part, len(lookups)), labels: make(chan Labelled, 8), log: log}
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

// maxLabel is the maximum length of a label, in characters.
const maxLabel = 80

// label starts labeling calls. If the channel is full, the label is dropped.
func (w *sideWork) label(ctx context.Context, f func(context.Context, []*msg.ToolUse) string, uses []*msg.ToolUse) {
	w.work.Go(func() {
		text, err := protect(func() (string, error) { return f(ctx, uses), nil })
		if err != nil {
			w.log.Warn("labelling calls failed", "err", err)
		}
		if text == "" || ctx.Err() != nil {
			return
		}
		l := Labelled{Text: tool.OneLine(text, maxLabel)}
		for _, u := range uses {
			l.IDs = append(l.IDs, u.ID)
		}
		select {
		case w.labels <- l:
		default:
		}
	})
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

// wait waits for work whose context is done. Work that does not stop in time is abandoned and
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
