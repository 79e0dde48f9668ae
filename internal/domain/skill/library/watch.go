package library

import (
	"context"
	"time"
)

// pollEvery is the polling interval while a caller watches. The disk must be quiet for a while
// before a change is published, because programs write files in several steps.
const (
	pollEvery = time.Second
	quiet     = 300 * time.Millisecond
	maxQuiet  = 10 // times
)

// Watch calls changed when the set may have changed, until stop is called.
func (l *Library) Watch(changed func()) (stop func()) {
	l.watchMu.Lock()
	defer l.watchMu.Unlock()
	l.lastID++
	id := l.lastID
	l.watchers[id] = changed
	if l.polling == nil {
		l.polling = make(chan struct{})
		go l.poll(l.polling)
	}
	return func() {
		l.watchMu.Lock()
		defer l.watchMu.Unlock()
		delete(l.watchers, id)
		if len(l.watchers) == 0 && l.polling != nil {
			close(l.polling)
			l.polling = nil
		}
	}
}

// notify calls all watchers.
func (l *Library) notify() {
	l.watchMu.Lock()
	all := make([]func(), 0, len(l.watchers))
	for _, changed := range l.watchers {
		all = append(all, changed)
	}
	l.watchMu.Unlock()
	for _, changed := range all {
		changed()
	}
}

// poll rescans the disk periodically until stop is closed.
func (l *Library) poll(stop <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-stop:
		case <-l.done:
		case <-ctx.Done():
		}
		cancel()
	}()
	select {
	case <-l.ready:
	case <-stop:
		return
	case <-l.done:
		return
	}
	for l.cfg.Pulse.Wait(ctx, pollEvery) {
		if !l.lookAgain() {
			continue
		}
		for range maxQuiet {
			if !l.cfg.Pulse.Wait(ctx, quiet) {
				return
			}
			if !l.lookAgain() {
				break
			}
		}
		l.mu.Lock()
		changed := l.publish()
		l.mu.Unlock()
		if changed {
			l.notify()
		}
	}
}

// lookAgain rescans the disk without publishing.
func (l *Library) lookAgain() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.look(l.cfg.Roots())
}
