package controller

import "sync"

// A told queues messages for the user while the view owns the terminal. It is safe for
// concurrent use.
type told struct {
	more chan struct{}

	mu    sync.Mutex
	texts []string
}

// Tell queues a text to be shown by the view. It does not wait.
func (t *told) Tell(text string) {
	t.mu.Lock()
	t.texts = append(t.texts, text)
	t.mu.Unlock()
	select {
	case t.more <- struct{}{}:
	default: // the driver has already been notified
	}
}

// Untold returns the queued texts that have not been shown.
func (t *told) Untold() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	texts := t.texts
	t.texts = nil
	return texts
}

// news shows the queued texts.
func (d course) news() {
	for _, text := range d.Untold() {
		d.view.Say(text)
	}
	d.resume()
}
