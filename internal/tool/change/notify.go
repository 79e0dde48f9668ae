package change

import (
	"context"
	"log/slog"
	"time"
)

// notifyWait limits how long a call waits for all its listeners.
const notifyWait = 100 * time.Millisecond

// notify notifies the listeners sequentially, with a short time limit.
func (t *Target) notify(ctx context.Context) {
	if len(t.files.Listeners) == 0 {
		return
	}
	log := t.files.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, l := range t.files.Listeners {
			if err := l.Changed(ctx, t.Path); err != nil {
				log.Warn("telling about a changed file", "path", t.Path, "error", err)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(notifyWait):
		log.Warn("telling about a changed file takes too long", "path", t.Path)
	}
}
