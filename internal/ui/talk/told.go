package talk

import "sync"

// told is what the program tells the user while the view has the terminal. It is safe for concurrent use.
type told struct {
	more chan struct{}

	mu    sync.Mutex
	texts []string
}

// Tell has a text shown between what the view shows itself. It does not wait for that.
func (t *told) Tell(text string) {
	t.mu.Lock()
	t.texts = append(t.texts, text)
	t.mu.Unlock()
	select {
	case t.more <- struct{}{}:
	default: // the driver knows that there is something
	}
}

// Untold returns what was told and is not shown.
func (t *told) Untold() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	texts := t.texts
	t.texts = nil
	return texts
}

// news shows what was told.
func (d course) news() {
	for _, text := range d.Untold() {
		d.view.Say(text)
	}
	d.resume()
}
