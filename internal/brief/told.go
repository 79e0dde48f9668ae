package brief

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Told is what the model of a conversation was told after its beginning, by what it is about. Texts are kept as hashes.
// The zero value is ready; it is safe for concurrent use.
type Told struct {
	mu      sync.Mutex
	said    map[string]string
	changed bool
}

// Restore sets what an earlier process has told.
func (t *Told) Restore(said map[string]string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said, t.changed = maps.Clone(said), false
}

// Changes returns all that was told, if it has changed since it was last asked for.
func (t *Told) Changes() (said map[string]string, changed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	changed, t.changed = t.changed, false
	return maps.Clone(t.said), changed
}

// news reports whether a text is not what was told last of something, and takes note that it is told now. First is
// what the beginning says of it.
func (t *Told) news(about, first, text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, ok := t.said[about]
	if !ok {
		last = hash(first)
	}
	if last == hash(text) {
		return false
	}
	if t.said == nil {
		t.said = map[string]string{}
	}
	t.said[about], t.changed = hash(text), true
	return true
}

// known returns what is about something with that prefix and was told last to be there.
func (t *Told) known(prefix string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for about, is := range t.said {
		if name, ok := strings.CutPrefix(about, prefix); ok && is != hash("") {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// forget says that the beginning has been written again, and with it all that is about something with that prefix.
func (t *Told) forget(prefix string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := len(t.said)
	maps.DeleteFunc(t.said, func(about, _ string) bool { return strings.HasPrefix(about, prefix) })
	t.changed = t.changed || len(t.said) < before
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
