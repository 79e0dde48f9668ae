// Package lineedit edits the text that a user types at a terminal. It turns bytes into keys and keys into text, and says
// how the text is shown; it neither reads nor writes.
package lineedit

import (
	"bytes"
	"strconv"
	"strings"
	"time"
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
	WordLeft  // Alt-B or Ctrl-Left
	WordRight // Alt-F or Ctrl-Right
	Home
	End
	Up
	Down
	KillBack     // Ctrl-U
	KillWord     // Ctrl-W or Alt-Backspace
	KillNextWord // Alt-D
	KillEnd      // Ctrl-K
	Yank         // Ctrl-Y
	Undo         // Ctrl-_
	Search       // Ctrl-R
	Tab
	BackTab // Shift-Tab
	Escape
	Interrupt // Ctrl-C
	EOF       // Ctrl-D
	Suspend   // Ctrl-Z
	Back      // Ctrl-B: to the left, or what else the reader of keys takes it for
	Clear     // Ctrl-L
	Whole     // Ctrl-O
	Abandon   // Ctrl-G
	Unknown
)

// control gives the keys that are one byte.
var control = [...]Code{
	1: Home, 2: Back, 3: Interrupt, 4: EOF, 5: End, 6: Right, 7: Abandon, 8: Backspace, 9: Tab, 10: NewLine, 11: KillEnd, 12: Clear,
	13: Enter, 14: Down, 15: Whole, 16: Up, 18: Search, 21: KillBack, 23: KillWord, 25: Yank, 26: Suspend, 27: Escape, 31: Undo,
}

var pasteStart, pasteEnd = []byte("\x1b[200~"), []byte("\x1b[201~")

// maxPaste bounds a paste whose end does not come, in bytes.
const maxPaste = 10 << 20

// A Decoder makes keys of the bytes that a terminal sends. The zero value is ready.
type Decoder struct {
	rest     []byte // of a key that is not complete
	pasting  bool
	pasted   []byte
	searched int // how much of pasted does not hold the beginning of its end
}

// How long the rest of a key may take to arrive. An escape alone is a key; it also begins the sequences of others, which
// a slow line may cut in two.
const (
	escapeWait   = 50 * time.Millisecond
	sequenceWait = 2 * time.Second
)

// Decode returns the keys that data completes.
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

// Wait returns how long to wait for the rest of a key before [Decoder.Flush] is called, or 0 if there is none.
func (d *Decoder) Wait() time.Duration {
	switch {
	case len(d.rest) == 0:
		return 0
	case len(d.rest) == 1 && d.rest[0] == 0x1b:
		return escapeWait
	}
	return sequenceWait
}

// Flush gives up waiting for the rest of a key: an escape was one, and part of a sequence is dropped.
func (d *Decoder) Flush() []Key {
	alone := len(d.rest) == 1 && d.rest[0] == 0x1b
	d.rest = nil
	if alone {
		return []Key{{Code: Escape}}
	}
	return nil
}

// paste collects what is pasted, up to its end.
func (d *Decoder) paste(data []byte) (Key, []byte, bool) {
	d.pasted = append(d.pasted, data...)
	i := bytes.Index(d.pasted[d.searched:], pasteEnd)
	if i < 0 && len(d.pasted) < maxPaste {
		d.searched = max(0, len(d.pasted)-len(pasteEnd))
		return Key{}, nil, false
	}
	text, rest := d.pasted, []byte(nil)
	if i >= 0 {
		text, rest = d.pasted[:d.searched+i], d.pasted[d.searched+i+len(pasteEnd):]
	}
	key := Key{Code: Paste, Text: string(bytes.ToValidUTF8(text, []byte("\uFFFD")))}
	d.pasting, d.pasted, d.searched = false, nil, 0
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
		return Key{Code: controlKey(c)}, 1
	case !utf8.FullRune(data):
		return Key{}, 0
	}
	r, n := utf8.DecodeRune(data)
	return Key{Code: Rune, Text: string(r)}, n
}

func controlKey(c byte) Code {
	if c == 0 || int(c) >= len(control) || control[c] == Rune {
		return Unknown
	}
	return control[c]
}

// sequences are what terminals send for keys, after the escape and [ or O.
var sequences = map[string]Code{
	"A": Up, "B": Down, "C": Right, "D": Left, "H": Home, "F": End, "Z": BackTab,
	"1~": Home, "3~": Delete, "4~": End, "7~": Home, "8~": End,
	"1;5C": WordRight, "1;5D": WordLeft, "1;3C": WordRight, "1;3D": WordLeft, "5C": WordRight, "5D": WordLeft, "c": WordRight, "d": WordLeft,
	"3;5~": KillNextWord, "3;3~": KillNextWord,
}

// altKeys are the keys after an escape.
var altKeys = map[byte]Code{
	'\r': NewLine, '\n': NewLine, 'b': WordLeft, 'f': WordRight, 'd': KillNextWord, 0x7f: KillWord, 8: KillWord,
}

// maxSequence bounds a sequence; what is longer is not one.
const maxSequence = 32

func escape(data []byte) (Key, int) {
	if len(data) == 1 {
		return Key{}, 0
	}
	switch c := data[1]; c {
	case 0x1b: // twice: the first was a key, and the second may begin something
		return Key{Code: Escape}, 1
	case '[', 'O':
	default:
		if code, ok := altKeys[c]; ok {
			return Key{Code: code}, 2
		}
		return Key{Code: Unknown}, 2
	}
	for i := 2; i < len(data); i++ {
		if c := data[i]; c >= 0x40 && c <= 0x7e {
			return Key{Code: sequenceKey(string(data[2 : i+1]))}, i + 1
		}
		if data[i] < 0x20 || data[i] > 0x7e { // it was cut off, and another key follows
			return Key{Code: Unknown}, i
		}
		if i > maxSequence {
			return Key{Code: Unknown}, i
		}
	}
	return Key{}, 0
}

// sequenceKey returns the key of a sequence: one of the table, or a character with modifiers as newer terminals
// send it, 99;5u or 27;5;99~.
func sequenceKey(s string) Code {
	if code, ok := sequences[s]; ok {
		return code
	}
	var char, modifiers string
	if body, ok := strings.CutSuffix(s, "u"); ok {
		char, modifiers, _ = strings.Cut(body, ";")
	} else if body, ok := strings.CutPrefix(s, "27;"); ok {
		modifiers, char, _ = strings.Cut(strings.TrimSuffix(body, "~"), ";")
	}
	c, err := strconv.Atoi(char)
	if err != nil {
		return Unknown
	}
	m, err := strconv.Atoi(modifiers)
	if err != nil {
		m = 1
	}
	shift, alt, ctrl := (m-1)&1 != 0, (m-1)&2 != 0, (m-1)&4 != 0
	switch {
	case c == '\r' && (shift || alt || ctrl):
		return NewLine
	case c == '\t' && shift:
		return BackTab
	case ctrl && c >= 'a' && c <= 'z' || ctrl && c == '_':
		return controlKey(byte(c) & 0x1f)
	case alt && c < 0x80 && altKeys[byte(c)] != Rune:
		return altKeys[byte(c)]
	case c == 0x7f && !ctrl && !alt:
		return Backspace
	case c < 0x20 && !ctrl && !alt:
		return controlKey(byte(c))
	}
	return Unknown
}
