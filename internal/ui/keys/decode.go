package keys

import (
	"bytes"
	"time"
	"unicode/utf8"
)

// A Decoder makes events of the bytes that a terminal sends. The zero value is ready. It belongs to one goroutine.
type Decoder struct {
	// Remote says that the terminal is on another machine, where the bytes of one key arrive further apart.
	Remote bool

	rest     []byte // of a key that is not complete
	skips    bool   // in a string that the terminal sent, up to its end
	pasting  bool
	pasted   []byte
	searched int       // how much of pasted does not hold the beginning of its end
	last     time.Time // when bytes came last
	codes    bool      // the terminal sends Escape as a code, so that an escape alone begins something
}

const (
	// escapeWait is how long an escape waits for the rest of a sequence before it is a key, and remoteWait the same over
	// a network.
	escapeWait = 25 * time.Millisecond
	remoteWait = 50 * time.Millisecond
	// sequenceWait is how long the rest of a sequence may take. A part of one is never typed.
	sequenceWait = 2 * time.Second
	// silence is after which a paste whose end was lost is ended by Ctrl-C.
	silence = time.Second
	// maxPaste is how much of a paste is kept before it is handed on, in bytes.
	maxPaste = 10 << 20
	// maxSequence bounds a sequence, in bytes; what is longer is not one.
	maxSequence = 64
)

var pasteStart, pasteEnd = []byte("\x1b[200~"), []byte("\x1b[201~")

// Decode returns the events that data completes, which was read at the given time. It keeps nothing of data.
func (d *Decoder) Decode(data []byte, at time.Time) []Event {
	if d.pasting && len(data) == 1 && data[0] == 3 && at.Sub(d.last) > silence {
		return append(d.endPaste(d.pasted, at), d.keep(nil, at)...) // its end was lost, and the user wants out
	}
	if len(data) > 0 {
		d.last = at
	}
	if len(d.rest) > 0 {
		data = append(d.rest, data...)
		d.rest = nil
	}
	var events []Event
	for len(data) > 0 {
		switch {
		case d.pasting:
			var some []Event
			some, data = d.paste(data, at)
			events = append(events, some...)
		case d.skips:
			data = d.skip(data)
		case bytes.HasPrefix(data, pasteStart):
			data, d.pasting = data[len(pasteStart):], true
		default:
			ev, n := d.next(data)
			if n == 0 {
				return append(events, d.keep(data, at)...)
			}
			data = data[n:]
			if ev.Key.Name != "" || ev.Kind != Press {
				ev.At = at
				events = append(events, ev)
			}
		}
	}
	return events
}

// keep keeps the part of a key that has come.
func (d *Decoder) keep(data []byte, at time.Time) []Event {
	d.rest, d.last = bytes.Clone(data), at
	return nil
}

// Wait returns how long to wait for the rest of a key before [Decoder.Flush] is called, or 0 if there is none.
func (d *Decoder) Wait() time.Duration {
	switch {
	case d.skips:
		return sequenceWait
	case len(d.rest) == 0:
		return 0
	case d.codes || !onlyEscapes(d.rest):
		return sequenceWait
	case d.Remote:
		return remoteWait
	}
	return escapeWait
}

func onlyEscapes(data []byte) bool { return len(bytes.Trim(data, "\x1b")) == 0 }

// Flush returns the events that are left when the rest of a key does not come: escapes were keys. Any other part of a
// sequence is dropped.
func (d *Decoder) Flush(at time.Time) []Event {
	rest, skipped := d.rest, d.skips
	d.rest, d.skips, d.codes = nil, false, false
	if skipped || !onlyEscapes(rest) {
		return nil
	}
	var events []Event
	for range rest {
		ev := named("escape", 0)
		ev.At = at
		events = append(events, ev)
	}
	return events
}

// paste collects what is pasted up to its end, and returns what follows it.
func (d *Decoder) paste(data []byte, at time.Time) (events []Event, rest []byte) {
	d.pasted = append(d.pasted, data...)
	i := bytes.Index(d.pasted[d.searched:], pasteEnd)
	if i >= 0 {
		end := d.searched + i
		rest = d.pasted[end+len(pasteEnd):]
		return d.endPaste(d.pasted[:end], at), rest
	}
	d.searched = max(0, len(d.pasted)-len(pasteEnd)+1)
	if len(d.pasted) < maxPaste {
		return nil, nil
	}
	cut := d.searched
	for cut > 0 && !utf8.RuneStart(d.pasted[cut]) {
		cut--
	}
	tail := bytes.Clone(d.pasted[cut:])
	events = d.endPaste(d.pasted[:cut], at)
	d.pasting, d.pasted = true, tail
	return events, nil
}

// endPaste returns what was pasted.
func (d *Decoder) endPaste(text []byte, at time.Time) []Event {
	d.pasting, d.pasted, d.searched = false, nil, 0
	return []Event{{Kind: Paste, Text: string(bytes.ToValidUTF8(text, []byte("\uFFFD"))), At: at}}
}

// skip drops what belongs to a string of the terminal, and returns what follows.
func (d *Decoder) skip(data []byte) []byte {
	i := bytes.IndexAny(data, "\a\x18\x1a\x1b")
	switch {
	case i < 0:
		return nil
	case data[i] != 0x1b:
		d.skips = false
		return data[i+1:]
	case i+1 == len(data):
		d.rest = []byte{0x1b} // the end may follow
		return nil
	case data[i+1] == '\\':
		d.skips = false
		return data[i+2:]
	}
	d.skips = false // it was cut off, and something else begins
	return data[i:]
}

// next returns the event that data begins with and how many bytes it takes: 0 if more has to come. An event without a key
// is none.
func (d *Decoder) next(data []byte) (Event, int) {
	switch c := data[0]; {
	case c == 0x1b:
		return d.escape(data)
	case c < 0x20 || c == 0x7f:
		return control(c), 1
	case !utf8.FullRune(data):
		return Event{}, 0
	}
	r, n := utf8.DecodeRune(data)
	if isC1(r) {
		return Event{}, n
	}
	return character(r, 0), n
}

// isC1 reports whether r is a control character that no key types.
func isC1(r rune) bool { return r >= 0x80 && r < 0xa0 }

// control returns the key that sends a control character.
func control(c byte) Event {
	switch c {
	case 0:
		return named("space", Ctrl)
	case '\t':
		return named("tab", 0)
	case '\r':
		return named("enter", 0)
	case 0x1b:
		return named("escape", 0)
	case 8, 0x7f:
		return named("backspace", 0)
	}
	if c <= 26 {
		return named(string('a'+rune(c)-1), Ctrl)
	}
	return named(string('@'+rune(c)), Ctrl)
}

// escape returns what begins with an escape.
func (d *Decoder) escape(data []byte) (Event, int) {
	if len(data) == 1 {
		return Event{}, 0
	}
	switch c := data[1]; c {
	case '[':
		return d.sequence(data, 2)
	case 'O':
		return single(data, 2)
	case ']', 'P', '_', '^', 'X':
		d.skips = true
		return Event{}, 2
	case 0x1b:
		return d.doubled(data)
	case '\n':
		return named("enter", Alt), 2
	default:
		if c < 0x20 && c != '\r' && c != 8 { // Ctrl-C after Escape is no other key
			return named("escape", 0), 1
		}
		ev, n := d.next(data[1:])
		if n == 0 {
			return Event{}, 0
		}
		return withAlt(ev), n + 1
	}
}

// doubled returns what begins with two escapes: the second one and what follows may be a key with Alt, or else the first
// was a key.
func (d *Decoder) doubled(data []byte) (Event, int) {
	if len(data) == 2 {
		return Event{}, 0
	}
	if data[2] != '[' && data[2] != 'O' {
		return named("escape", 0), 1
	}
	ev, n := d.escape(data[1:])
	if n == 0 {
		return Event{}, 0
	}
	if ev.Kind != Press || bytes.HasPrefix(data[1:], pasteStart) {
		return named("escape", 0), 1
	}
	return withAlt(ev), n + 1
}

func withAlt(ev Event) Event {
	if ev.Kind == Press && ev.Key.Name != "" {
		ev.Key.Mod |= Alt
		ev.Text = ""
	}
	return ev
}
