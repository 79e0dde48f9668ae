package keys

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"
)

// A Decoder decodes terminal input into events. The zero value is ready to use. It is not safe
// for concurrent use.
type Decoder struct {
	// Remote is true if the terminal is on another machine, where the bytes of one key may
	// arrive further apart.
	Remote bool
	// Reply is called with the terminal's replies to queries, as in ESC ] reply ESC \; it may be
	// nil.
	Reply func(text string)

	rest     []byte // bytes of an incomplete key
	skips    bool   // inside a control string sent by the terminal
	replies  bool   // it is an operating system command
	reply    []byte // its beginning
	pasting  bool
	pasted   []byte
	searched int       // length of the prefix of pasted known not to contain the end marker
	last     time.Time // time of the last input
	codes    bool      // the terminal sends Escape as a code, so a lone escape begins a sequence
}

const (
	// escapeWait is how long to wait for the rest of a sequence before an escape counts as a
	// key. remoteWait is the same over a network.
	escapeWait = 25 * time.Millisecond
	remoteWait = 50 * time.Millisecond
	// sequenceWait is how long the rest of a sequence may take. A partial sequence is never
	// typed.
	sequenceWait = 2 * time.Second
	// silence is the idle time after which Ctrl-C ends a paste with a lost end marker.
	silence = time.Second
	// maxReply is the maximum length of a terminal's reply, in bytes; longer ones are dropped.
	maxReply = 64
	// maxPaste is the maximum size of a paste before it is passed on, in bytes.
	maxPaste = 10 << 20
	// maxSequence is the maximum length of a sequence, in bytes; anything longer is not a
	// sequence.
	maxSequence = 64
)

var pasteStart, pasteEnd = []byte("\x1b[200~"), []byte("\x1b[201~")

// Decode returns the events completed by data, which was read at the given time. It does not
// retain data.
func (d *Decoder) Decode(data []byte, at time.Time) []Event {
	if d.pasting && len(data) == 1 && data[0] == 3 && at.Sub(d.last) > silence {
		return append(d.endPaste(d.pasted, at), d.keep(nil, at)...) // the end marker was lost, and the user wants out
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
		case len(data) > 1 && data[0] == 0x1b && strings.IndexByte("]P_^X", data[1]) >= 0:
			d.skips, d.replies = true, data[1] == ']'
			data = data[2:]
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

// keep stores the bytes of an incomplete key.
func (d *Decoder) keep(data []byte, at time.Time) []Event {
	d.rest, d.last = bytes.Clone(data), at
	return nil
}

// Wait returns how long to wait for the rest of a key before calling [Decoder.Flush], or 0 if
// no key is incomplete.
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

// Flush returns the remaining events if the rest of a key does not arrive: escapes were keys.
// Any other partial sequence is dropped.
func (d *Decoder) Flush(at time.Time) []Event {
	rest, skipped := d.rest, d.skips
	d.endSkip()
	d.rest, d.codes = nil, false
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

// paste collects pasted text up to its end marker and returns the input after it.
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

// endPaste returns the pasted text as an event.
func (d *Decoder) endPaste(text []byte, at time.Time) []Event {
	d.pasting, d.pasted, d.searched = false, nil, 0
	return []Event{{Kind: Paste, Text: string(bytes.ToValidUTF8(text, []byte("\uFFFD"))), At: at}}
}

// skip drops the rest of a control string and returns the input after it. A reply is passed on.
// Any other control character is a key: the end of the string was lost.
func (d *Decoder) skip(data []byte) []byte {
	i := bytes.IndexFunc(data, func(r rune) bool { return r < 0x20 })
	if i < 0 {
		d.read(data)
		return nil
	}
	d.read(data[:i])
	switch {
	case data[i] == '\a':
		d.answer()
		return data[i+1:]
	case data[i] == 0x18 || data[i] == 0x1a:
		d.endSkip()
		return data[i+1:]
	case data[i] == 0x1b && i+1 == len(data):
		d.rest = []byte{0x1b} // the terminator may follow
		return nil
	case data[i] == 0x1b && data[i+1] == '\\':
		d.answer()
		return data[i+2:]
	}
	d.endSkip() // string was cut off; something else begins
	return data[i:]
}

// read keeps part of a control string if it may be a reply.
func (d *Decoder) read(data []byte) {
	if d.replies = d.replies && len(d.reply)+len(data) <= maxReply; d.replies {
		d.reply = append(d.reply, data...)
	}
}

// answer passes on a complete reply.
func (d *Decoder) answer() {
	text, ok := string(d.reply), d.replies
	d.endSkip()
	if ok && d.Reply != nil {
		d.Reply(text)
	}
}

// endSkip ends a control string.
func (d *Decoder) endSkip() { d.skips, d.replies, d.reply = false, false, nil }

// next returns the event that data begins with and its length in bytes, or 0 if more bytes are
// needed. An event without a key is to be ignored.
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

// isC1 reports whether r is a C1 control character, which no key types.
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

// escape returns the event that begins with an escape.
func (d *Decoder) escape(data []byte) (Event, int) {
	if len(data) == 1 {
		return Event{}, 0
	}
	switch c := data[1]; c {
	case '[':
		return d.sequence(data, 2)
	case 'O':
		return single(data, 2)
	case 0x1b:
		return d.doubled(data)
	case '\n':
		return named("enter", Alt), 2
	default:
		if c < 0x20 && c != '\r' && c != 8 { // Escape and then Ctrl-C is not an Alt combination
			return named("escape", 0), 1
		}
		ev, n := d.next(data[1:])
		if n == 0 {
			return Event{}, 0
		}
		return withAlt(ev), n + 1
	}
}

// doubled returns the event that begins with two escapes: either Alt with the key that the
// second one begins, or the Escape key itself.
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
