package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync"
)

// AnnouncementLog records announcements made after a conversation's opening, keyed by subject. Texts are
// stored as hashes. The zero value is ready to use; it is safe for concurrent use.
type AnnouncementLog struct {
	mu      sync.Mutex
	said    map[string]string
	changed bool
}

// Restore sets the announcements of an earlier process.
func (t *AnnouncementLog) Restore(said map[string]string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said, t.changed = maps.Clone(said), false
}

// Changes returns all announcements if there are new ones since the last call.
func (t *AnnouncementLog) Changes() (said map[string]string, changed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	changed, t.changed = t.changed, false
	return maps.Clone(t.said), changed
}

// news reports whether text differs from the last announcement about a subject, and records it.
// first is the text in the prefix.
func (t *AnnouncementLog) news(about, first, text string) bool {
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

// known returns the subjects with that prefix, which it removes, whose last announcement was
// not a removal.
func (t *AnnouncementLog) known(prefix string) []string {
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

// forget drops all announcements with that prefix, because the request prefix was rewritten.
func (t *AnnouncementLog) forget(prefix string) {
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
