// Package keys turns the bytes that a terminal sends into keys, and keys into what the user means by them: the actions
// that are bound to keys, by default or by the user's own file. It neither reads from the terminal nor writes to it, and
// what an action does is left to the front ends.
package keys

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Mod is a set of keys that are held while another one is pressed.
type Mod uint8

// The keys that are held.
const (
	Ctrl Mod = 1 << iota
	Alt
	Shift
	Super
)

// modNames are the names of the keys that are held, in the order in which they are written.
var modNames = []struct {
	mod  Mod
	name string
}{{Ctrl, "ctrl"}, {Alt, "alt"}, {Shift, "shift"}, {Super, "super"}}

// A Key is a key with those that are held with it. Keys can be compared.
type Key struct {
	Mod Mod
	// Name is the name of the key, such as "enter" or "f1", or else its character; that of a letter is the small one.
	Name string
}

// String returns the key as it is written in keybindings.json, such as "ctrl+x".
func (k Key) String() string {
	var b strings.Builder
	for _, m := range modNames {
		if k.Mod&m.mod != 0 {
			b.WriteString(m.name + "+")
		}
	}
	return b.String() + k.Name
}

// Spoken returns the key as users are told of it, such as Ctrl-X.
func (k Key) Spoken() string {
	name := k.Name
	switch {
	case name == "escape":
		name = "Esc"
	case name == "pageup" || name == "pagedown":
		name = "Page" + strings.ToUpper(name[4:5]) + name[5:]
	case len(name) > 1 || k.Mod != 0:
		name = strings.ToUpper(name[:1]) + name[1:]
	}
	return strings.ReplaceAll(titles.Replace(Key{Mod: k.Mod}.String()), "+", "-") + name
}

var titles = strings.NewReplacer("ctrl", "Ctrl", "alt", "Alt", "shift", "Shift", "super", "Super")

// An Event is what the user did at the terminal.
type Event struct {
	Kind Kind
	Key  Key
	// Text is what a press types, which may be nothing, or what was pasted.
	Text string
	// At is when it was read.
	At time.Time
}

// A Kind is a kind of event.
type Kind uint8

// The kinds of events.
const (
	Press Kind = iota
	Paste
	FocusIn
	FocusOut
)

// String shows the event, for tests and logs.
func (e Event) String() string {
	switch e.Kind {
	case Paste:
		return fmt.Sprintf("paste %q", e.Text)
	case FocusIn:
		return "focus in"
	case FocusOut:
		return "focus out"
	}
	if e.Text != "" && e.Text != e.Key.Name {
		return fmt.Sprintf("%s %q", e.Key, e.Text)
	}
	return e.Key.String()
}

// character returns the press of a key with a character while others are held.
func character(r rune, mod Mod) Event {
	ev := Event{Key: Key{Mod: mod, Name: string(r)}}
	if lower := unicode.ToLower(r); lower != r && unicode.ToUpper(lower) == r {
		ev.Key = Key{Mod: mod | Shift, Name: string(lower)}
	}
	if r == ' ' {
		ev.Key.Name = "space"
	}
	if mod&^Shift == 0 {
		ev.Text = string(r)
	}
	return ev
}

// named returns the press of a key that types nothing.
func named(name string, mod Mod) Event { return Event{Key: Key{Mod: mod, Name: name}} }

// aliases are other names of keys and of those that are held.
var aliases = map[string]string{
	"control": "ctrl", "opt": "alt", "option": "alt", "meta": "alt", "cmd": "super", "command": "super", "win": "super",
	"esc": "escape", "return": "enter", "del": "delete", "pgup": "pageup", "pgdn": "pagedown", "pgdown": "pagedown", "ins": "insert", "bs": "backspace",
}

// names are the keys that have a name.
var names = map[string]bool{
	"escape": true, "enter": true, "tab": true, "space": true, "backspace": true, "delete": true, "insert": true, "up": true, "down": true,
	"left": true, "right": true, "home": true, "end": true, "pageup": true, "pagedown": true,
}

// ParseKey returns the key that is written as in keybindings.json. The case of names does not matter; a capital letter is
// one with shift.
func ParseKey(text string) (Key, error) {
	var k Key
	rest := text
	for {
		head, tail, found := strings.Cut(rest, "+")
		if !found || tail == "" { // a plus may be the key
			break
		}
		mod, ok := modOf(head)
		if !ok {
			return Key{}, fmt.Errorf("%q is none of ctrl, alt, shift and super", head)
		}
		k.Mod |= mod
		rest = tail
	}
	if r, n := utf8.DecodeRuneInString(rest); n == len(rest) && n > 0 && r != utf8.RuneError && unicode.IsGraphic(r) {
		k.Name = string(unicode.ToLower(r))
		if unicode.IsUpper(r) && k.Mod&Ctrl == 0 { // ctrl+X is commonly written for ctrl+x
			k.Mod |= Shift
		}
		if r == ' ' {
			k.Name = "space"
		}
		return k, nil
	}
	name := strings.ToLower(rest)
	if full, ok := aliases[name]; ok {
		name = full
	}
	if !names[name] && !functionKey(name) {
		return Key{}, fmt.Errorf("there is no key %q", rest)
	}
	k.Name = name
	return k, nil
}

func modOf(name string) (Mod, bool) {
	name = strings.ToLower(name)
	if full, ok := aliases[name]; ok {
		name = full
	}
	for _, m := range modNames {
		if m.name == name {
			return m.mod, true
		}
	}
	return 0, false
}

// functionKey reports whether name is one of f1 to f35.
func functionKey(name string) bool {
	var n int
	_, err := fmt.Sscanf(name, "f%d", &n)
	return err == nil && n >= 1 && n <= 35 && name == fmt.Sprintf("f%d", n)
}
