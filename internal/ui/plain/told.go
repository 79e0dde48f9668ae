package plain

import "sync"

// told is what the program tells the user while the front end has the terminal. It is safe for concurrent use.
type told struct {
	more chan struct{}

	mu    sync.Mutex
	texts []string
}

// Tell has a text written between what the front end writes itself. It does not wait for that.
func (t *told) Tell(text string) {
	t.mu.Lock()
	t.texts = append(t.texts, text)
	t.mu.Unlock()
	select {
	case t.more <- struct{}{}:
	default: // the front end knows that there is something
	}
}

// Untold returns what was told and is not written.
func (t *told) Untold() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	texts := t.texts
	t.texts = nil
	return texts
}

// news writes what was told.
func (f view) news() {
	for _, text := range f.Untold() {
		f.out.say(text)
	}
	f.resume()
}
