package keys

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// finals maps the final letter of a sequence to its key.
var finals = map[byte]string{
	'A': "up", 'B': "down", 'C': "right", 'D': "left", 'H': "home", 'F': "end", 'P': "f1", 'Q': "f2", 'R': "f3", 'S': "f4", 'M': "enter",
}

// numbers maps the number of a sequence that ends in ~ to its key.
var numbers = map[int]string{
	1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pageup", 6: "pagedown", 7: "home", 8: "end",
	11: "f1", 12: "f2", 13: "f3", 14: "f4", 15: "f5", 17: "f6", 18: "f7", 19: "f8", 20: "f9", 21: "f10", 23: "f11", 24: "f12",
	25: "f13", 26: "f14", 28: "f15", 29: "f16", 31: "f17", 32: "f18", 33: "f19", 34: "f20",
}

// The first codes of keypad keys and of f13 and up, as newer terminals send them.
const (
	firstKeypad = 57399
	firstHigh   = 57376
)

// keypad lists the keypad keys in the order of their codes.
var keypad = []string{
	"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", ".", "/", "*", "-", "+", "enter", "=", ",",
	"left", "right", "up", "down", "pageup", "pagedown", "home", "end", "insert", "delete",
}

// single returns the key sent as ESC O (SS3).
func single(data []byte, at int) (Event, int) {
	digits := at
	for ; digits < len(data) && (data[digits] >= '0' && data[digits] <= '9' || data[digits] == ';'); digits++ {
	}
	switch {
	case digits-at > maxSequence:
		return Event{}, digits
	case digits == len(data):
		return Event{}, 0
	case data[digits] < 0x20 || data[digits] > 0x7e: // cut off; another key follows
		return Event{}, digits
	}
	c := data[digits]
	params := string(data[at:digits])
	_, held, _ := modifiers(params[strings.LastIndexByte(params, ';')+1:])
	if name, ok := finals[c]; ok {
		return named(name, held), digits + 1
	}
	if c >= 'j' && c <= 'y' { // the keypad
		return character(rune(c-'j')+'*', held), digits + 1
	}
	return Event{}, digits + 1
}

// sequence returns the event that begins with ESC [ (CSI).
func (d *Decoder) sequence(data []byte, at int) (Event, int) {
	if len(data) > at && data[at] == '[' { // the function keys of the Linux console
		if len(data) == at+1 {
			return Event{}, 0
		}
		if c := data[at+1]; c >= 'A' && c <= 'E' {
			return named(fmt.Sprintf("f%d", c-'A'+1), 0), at + 2
		}
		return Event{}, at + 1
	}
	for i := at; i < len(data); i++ {
		switch c := data[i]; {
		case c < 0x20 || c > 0x7e || i-at > maxSequence: // cut off; another key follows
			return Event{}, i
		case c >= 0x40 || c == '$' && shifted(data[at:i]):
			return d.meaning(data[at:i], c), i + 1
		}
	}
	return Event{}, 0
}

// shifted reports whether a sequence so far is a number alone, which some terminals terminate
// with $.
func shifted(params []byte) bool {
	return len(params) > 0 && len(bytes.Trim(params, "0123456789")) == 0
}

// meaning returns the event of a sequence. Sequences other than keys, such as terminal replies,
// return an empty event.
func (d *Decoder) meaning(params []byte, final byte) Event {
	if len(params) > 0 && params[0] >= '<' { // private: a reply
		return Event{}
	}
	fields := strings.Split(string(params), ";")
	field := func(i int) string {
		if i < len(fields) {
			return fields[i]
		}
		return ""
	}
	if len(fields) > 1 {
		if _, _, ok := modifiers(fields[1]); !ok && final != 'R' && !(final == '~' && fields[0] == "27") {
			return Event{}
		}
	}
	switch {
	case final == 'u':
		return d.code(field(0), field(1), field(2))
	case final == '~' && field(0) == "27" && len(fields) == 3:
		return d.code(field(2), field(1), "")
	case final == '~' || final == '$':
		return tilde(field(0), field(1), final)
	case final == 'Z':
		return named("tab", Shift)
	case len(params) == 0 && final == 'I':
		return Event{Kind: FocusIn}
	case len(params) == 0 && final == 'O':
		return Event{Kind: FocusOut}
	case final == 'R' || final == 'M' || final == 'P' && len(params) == 0: // replies and other sequences that are not keys
		return Event{}
	}
	name, ok := finals[final]
	pressed, mod, _ := modifiers(field(1))
	if !ok || !pressed || len(fields) > 2 {
		return Event{}
	}
	return named(name, mod)
}

// tilde returns the key of a number.
func tilde(number, mods string, final byte) Event {
	n, err := strconv.Atoi(number)
	name, ok := numbers[n]
	pressed, mod, _ := modifiers(mods)
	if err != nil || !ok || !pressed {
		return Event{}
	}
	if final == '$' {
		mod |= Shift
	}
	return named(name, mod)
}

// code returns the key with the given character code, modifiers and text.
func (d *Decoder) code(code, mods, text string) Event {
	code, other, _ := strings.Cut(code, ":")
	c, err := strconv.Atoi(code)
	pressed, mod, ok := modifiers(mods)
	if err != nil || !ok || !pressed || c < 0 || c > unicode.MaxRune || isC1(rune(c)) {
		return Event{}
	}
	if c == 27 {
		d.codes = true
	}
	if c < 0x20 || c == 0x7f {
		ev := control(byte(c))
		ev.Key.Mod |= mod
		return ev
	}
	if name, ok := functional(c); ok {
		if len(name) > 1 || name == "" {
			return named(name, mod)
		}
		return character(rune(name[0]), mod)
	}
	r := rune(c)
	if mod&^Shift == 0 && mod&Shift != 0 { // the shifted character
		if s, err := strconv.Atoi(firstOf(other)); err == nil && s >= 0x20 && s != 0x7f && s <= unicode.MaxRune {
			r = rune(s)
		} else {
			r = unicode.ToUpper(r)
		}
	}
	ev := character(r, mod)
	if typed := decodeText(text); typed != "" && mod&^Shift == 0 {
		ev.Text = typed
	}
	return ev
}

func firstOf(list string) string {
	first, _, _ := strings.Cut(list, ":")
	return first
}

// functional returns the name of a key without a character. It is empty for keys that do
// nothing by themselves.
func functional(c int) (name string, ok bool) {
	switch {
	case c >= firstKeypad && c < firstKeypad+len(keypad):
		return keypad[c-firstKeypad], true
	case c >= firstHigh && c < firstKeypad:
		return fmt.Sprintf("f%d", 13+c-firstHigh), true
	case c >= 57344 && c <= 63743:
		return "", true
	}
	return "", false
}

// decodeText returns the text of colon-separated code points.
func decodeText(list string) string {
	if list == "" {
		return ""
	}
	var b strings.Builder
	for one := range strings.SplitSeq(list, ":") {
		r, err := strconv.Atoi(one)
		if err != nil || r < 0x20 || r >= 0x7f && r < 0xa0 || r > unicode.MaxRune {
			return ""
		}
		b.WriteRune(rune(r))
	}
	return b.String()
}

// modifiers decodes the modifier parameter of a sequence. Pressed is false for a key release.
func modifiers(text string) (pressed bool, mod Mod, ok bool) {
	if text == "" {
		return true, 0, true
	}
	number, event, _ := strings.Cut(text, ":")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > 256 {
		return false, 0, false
	}
	n--
	for bit, m := range []Mod{Shift, Alt, Ctrl, Super, 0, Alt} { // the sixth is Meta
		if n&(1<<bit) != 0 {
			mod |= m
		}
	}
	return event != "3", mod, true
}
