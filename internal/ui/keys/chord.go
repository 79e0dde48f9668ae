package keys

import (
	"slices"
	"time"
)

// chordTime is the time that may pass between two keys of a chord.
const chordTime = time.Second

// A Chord follows the keys that are pressed, one after the other. The zero value is ready.
type Chord struct {
	strokes []Key
	last    time.Time
}

// Press takes a key and returns the action that it has in the contexts, the narrowest first. Taken says that the key is
// used up: it has an action, or belongs to a chord. Any other key may type something.
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
		c.strokes = nil // it was none, and this key is another one
	}
	strokes := []Key{ev.Key}
	action, more := m.lookup(strokes, contexts)
	return c.follow(strokes, action, more)
}

// follow keeps the beginning of a chord, or returns the action of a whole one.
func (c *Chord) follow(strokes []Key, action Action, more bool) (Action, bool) {
	c.strokes = nil
	if more {
		c.strokes = strokes
		return "", true
	}
	return action, action != ""
}

// Pending returns the keys of a chord that has begun, or "".
func (c *Chord) Pending() string { return spell(c.strokes) }

// lookup returns the action of a chord in the first context that has one, and whether longer chords begin with it.
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
