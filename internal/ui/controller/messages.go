package controller

import "sync"

// A messageQueue queues messages for the user while the view owns the terminal. It is safe for
// concurrent use.
type messageQueue struct {
	more chan struct{}

	mu    sync.Mutex
	texts []string
}

// Tell queues a text to be shown by the view. It does not wait.
func (t *messageQueue) Tell(text string) {
	t.mu.Lock()
	t.texts = append(t.texts, text)
	t.mu.Unlock()
	select {
	case t.more <- struct{}{}:
	default: // the driver has already been notified
	}
}

// Unshown returns the queued texts that have not been shown.
func (t *messageQueue) Unshown() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	texts := t.texts
	t.texts = nil
	return texts
}

// showMessages shows the queued texts.
func (d *Driver) showMessages() {
	for _, text := range d.Unshown() {
		d.view.Say(text)
	}
	d.resume()
}
