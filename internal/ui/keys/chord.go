package keys

import (
	"slices"
	"time"
)

// chordTime is the maximum time between two keys of a chord.
const chordTime = time.Second

// A Chord tracks a sequence of key presses. The zero value is ready to use.
type Chord struct {
	strokes []Key
	last    time.Time
}

// Press handles a key and returns its action in the contexts, the narrowest first. Taken
// reports whether the key was consumed by an action or a chord. Any other key may type text.
func (c *Chord) Press(m *Map, ev Event, contexts ...Context) (action Action, taken bool) {
	if ev.Kind != Press {
		c.strokes = nil
		return "", false
	}
	if ev.At.Sub(c.last) > chordTime {
		c.strokes = nil
	}
	c.last = ev.At
	if len(c.strokes) > 0 {
		if ev.Key.Name == "escape" {
			c.strokes = nil
			return "", true
		}
		strokes := append(slices.Clone(c.strokes), ev.Key)
		if action, more := m.lookup(strokes, contexts); more || action != "" {
			return c.follow(strokes, action, more)
		}
		c.strokes = nil // the chord failed; start over with this key
	}
	strokes := []Key{ev.Key}
	action, more := m.lookup(strokes, contexts)
	return c.follow(strokes, action, more)
}

// follow stores an incomplete chord, or returns the action of a complete one.
func (c *Chord) follow(strokes []Key, action Action, more bool) (Action, bool) {
	c.strokes = nil
	if more {
		c.strokes = strokes
		return "", true
	}
	return action, action != ""
}

// Pending returns the keys of an incomplete chord, or "".
func (c *Chord) Pending() string { return spell(c.strokes) }

// lookup returns the action of a chord in the first context that has one, and whether longer
// chords begin with it.
func (m *Map) lookup(strokes []Key, contexts []Context) (action Action, more bool) {
	for _, context := range contexts {
		for _, b := range m.list {
			if b.Context != context || len(b.Chord) < len(strokes) || !slices.Equal(b.Chord[:len(strokes)], strokes) {
				continue
			}
			if len(b.Chord) > len(strokes) {
				return "", true
			}
			if action == "" {
				action = b.Action
			}
		}
		if action != "" {
			return action, false
		}
	}
	return "", false
}
