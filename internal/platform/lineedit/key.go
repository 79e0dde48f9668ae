// Package lineedit edits a line of text at a terminal, or several that belong together. It knows keys
// and what to write for them; it neither reads nor writes, and needs nothing of a terminal but that it
// goes back one place for \b and to the start of the line for \r.
package lineedit

import (
	"bytes"
	"unicode/utf8"
)

// A Key is one key that was pressed, or a text that was pasted.
type Key struct {
	Code Code
	Text string // of Rune and Paste
}

// A Code says which key it was.
type Code int

// The keys.
const (
	Rune Code = iota
	Paste
	Enter
	NewLine // Alt-Enter or Ctrl-J: the input goes on
	Backspace
	Delete
	Left
	Right
	Home
	End
	Up
	Down
	KillBack // Ctrl-U
	KillWord // Ctrl-W
	KillEnd  // Ctrl-K
	Tab
	Escape
	Interrupt // Ctrl-C
	EOF       // Ctrl-D
	Suspend   // Ctrl-Z
	Back      // Ctrl-B: to the left, or what else the reader of keys takes it for
	Unknown
)

// control gives the keys that are one byte.
var control = [...]Code{
	1: Home, 2: Back, 3: Interrupt, 4: EOF, 5: End, 6: Right, 8: Backspace, 9: Tab, 10: NewLine, 11: KillEnd,
	13: Enter, 14: Down, 16: Up, 21: KillBack, 23: KillWord, 26: Suspend, 27: Escape, 31: Unknown,
}

var pasteStart, pasteEnd = []byte("\x1b[200~"), []byte("\x1b[201~")

// maxPaste bounds a paste whose end does not come, in bytes.
const maxPaste = 10 << 20

// A Decoder makes keys of the bytes that a terminal sends. The zero value is ready.
type Decoder struct {
	rest    []byte // of a key that is not complete
	pasting bool
	pasted  []byte
}

// Decode returns the keys that data completes. An escape that ends data is the key of that name: what
// begins a sequence comes together with it.
func (d *Decoder) Decode(data []byte) []Key {
	data = append(d.rest, data...)
	d.rest = nil
	var keys []Key
	for len(data) > 0 {
		if d.pasting {
			var key Key
			var done bool
			if key, data, done = d.paste(data); !done {
				break
			}
			keys = append(keys, key)
			continue
		}
		if bytes.HasPrefix(data, pasteStart) {
			data, d.pasting = data[len(pasteStart):], true
			continue
		}
		key, n := decodeKey(data)
		if n == 0 {
			d.rest = bytes.Clone(data)
			break
		}
		data = data[n:]
		if key.Code != Unknown {
			keys = append(keys, key)
		}
	}
	return keys
}

// paste collects what is pasted, up to its end.
func (d *Decoder) paste(data []byte) (Key, []byte, bool) {
	d.pasted = append(d.pasted, data...)
	i := bytes.Index(d.pasted, pasteEnd)
	if i < 0 && len(d.pasted) < maxPaste {
		return Key{}, nil, false
	}
	text, rest := d.pasted, []byte(nil)
	if i >= 0 {
		text, rest = d.pasted[:i], d.pasted[i+len(pasteEnd):]
	}
	key := Key{Code: Paste, Text: string(bytes.ToValidUTF8(text, []byte("\uFFFD")))}
	d.pasting, d.pasted = false, nil
	return key, rest, true
}

// decodeKey returns the key that data begins with and its length, or 0 if more has to come.
func decodeKey(data []byte) (Key, int) {
	switch c := data[0]; {
	case c == 0x1b:
		return escape(data)
	case c == 0x7f:
		return Key{Code: Backspace}, 1
	case c < 0x20:
		code := Unknown
		if c > 0 && control[c] != Rune {
			code = control[c]
		}
		return Key{Code: code}, 1
	case !utf8.FullRune(data):
		return Key{}, 0
	}
	r, n := utf8.DecodeRune(data)
	return Key{Code: Rune, Text: string(r)}, n
}

// sequences are what terminals send for keys, after the escape and [ or O.
var sequences = map[string]Code{
	"A": Up, "B": Down, "C": Right, "D": Left, "H": Home, "F": End,
	"1~": Home, "3~": Delete, "4~": End, "7~": Home, "8~": End, "13;2u": NewLine, "13;3u": NewLine,
}

// maxSequence bounds a sequence; what is longer is not one.
const maxSequence = 32

func escape(data []byte) (Key, int) {
	if len(data) == 1 {
		return Key{Code: Escape}, 1
	}
	switch data[1] {
	case '\r', '\n':
		return Key{Code: NewLine}, 2
	case '[', 'O':
	default:
		return Key{Code: Unknown}, 2
	}
	for i := 2; i < len(data); i++ {
		if c := data[i]; c >= 0x40 && c <= 0x7e {
			if code, ok := sequences[string(data[2:i+1])]; ok {
				return Key{Code: code}, i + 1
			}
			return Key{Code: Unknown}, i + 1
		}
		if i > maxSequence {
			return Key{Code: Unknown}, i
		}
	}
	return Key{}, 0
}
