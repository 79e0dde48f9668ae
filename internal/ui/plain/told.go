package plain

import "sync"

// told is what the program tells the user while the front end has the terminal. It is safe for concurrent use.
type told struct {
	more chan struct{}

	mu    sync.Mutex
	texts []string
}

// Tell writes a text between what the front end writes itself. It does not wait.
func (f *Front) Tell(text string) {
	t := &f.told
	t.mu.Lock()
	t.texts = append(t.texts, text)
	t.mu.Unlock()
	select {
	case t.more <- struct{}{}:
	default: // it knows already
	}
}

// Untold returns what was told and not written.
func (f *Front) Untold() []string {
	f.told.mu.Lock()
	defer f.told.mu.Unlock()
	texts := f.told.texts
	f.told.texts = nil
	return texts
}

// news writes what was told.
func (f *Front) news() {
	for _, text := range f.Untold() {
		f.out.say(text)
	}
	f.resume()
}
