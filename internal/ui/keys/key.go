// Package keys decodes terminal input into keys, and maps keys to actions according to the
// default and the user's bindings.
package keys

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Mod is a set of modifier keys.
type Mod uint8

// The modifiers.
const (
	Ctrl Mod = 1 << iota
	Alt
	Shift
	Super
)

// modNames are the names of the modifiers, in notation order.
var modNames = []struct {
	mod  Mod
	name string
}{{Ctrl, "ctrl"}, {Alt, "alt"}, {Shift, "shift"}, {Super, "super"}}

// A Key is a key with its modifiers. Keys are comparable.
type Key struct {
	Mod Mod
	// Name is the name of the key, such as "enter" or "f1", or its character; letters are
	// lowercase.
	Name string
}

// String returns the key as written in keybindings.json, such as "ctrl+x".
func (k Key) String() string {
	var b strings.Builder
	for _, m := range modNames {
		if k.Mod&m.mod != 0 {
			b.WriteString(m.name + "+")
		}
	}
	return b.String() + k.Name
}

// Spoken returns the key in user-facing notation, such as Ctrl-X.
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

// An Event is a user event at the terminal.
type Event struct {
	Kind Kind
	Key  Key
	// Text is the typed text of a press, which may be empty, or the pasted text.
	Text string
	// At is the time the event was read.
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

// String formats the event for tests and logs.
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

// character returns the press of a character key with modifiers.
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

// aliases are other names of keys and modifiers.
var aliases = map[string]string{
	"control": "ctrl", "opt": "alt", "option": "alt", "meta": "alt", "cmd": "super", "command": "super", "win": "super",
	"esc": "escape", "return": "enter", "del": "delete", "pgup": "pageup", "pgdn": "pagedown", "pgdown": "pagedown", "ins": "insert", "bs": "backspace",
}

// names lists the named keys.
var names = map[string]bool{
	"escape": true, "enter": true, "tab": true, "space": true, "backspace": true, "delete": true, "insert": true, "up": true, "down": true,
	"left": true, "right": true, "home": true, "end": true, "pageup": true, "pagedown": true,
}

// ParseKey parses a key in the notation of keybindings.json. Names are case-insensitive; a
// capital letter implies shift.
func ParseKey(text string) (Key, error) {
	var k Key
	rest := text
	for {
		head, tail, found := strings.Cut(rest, "+")
		if !found || tail == "" { // the key itself may be a plus
			break
		}
		mod, ok := modOf(head)
		if !ok {
			return Key{}, fmt.Errorf("unknown modifier %q (want ctrl, alt, shift or super)", head)
		}
		k.Mod |= mod
		rest = tail
	}
	if r, n := utf8.DecodeRuneInString(rest); n == len(rest) && n > 0 && r != utf8.RuneError && unicode.IsGraphic(r) {
		k.Name = string(unicode.ToLower(r))
		if unicode.IsUpper(r) && k.Mod&Ctrl == 0 { // ctrl+X commonly means ctrl+x
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
		return Key{}, fmt.Errorf("unknown key %q", rest)
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

// functionKey reports whether name is f1 to f35.
func functionKey(name string) bool {
	var n int
	_, err := fmt.Sscanf(name, "f%d", &n)
	return err == nil && n >= 1 && n <= 35 && name == fmt.Sprintf("f%d", n)
}
