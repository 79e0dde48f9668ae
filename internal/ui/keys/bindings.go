package keys

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/text/jsonc"
)

// maxStrokes is the maximum number of keys in a chord.
const maxStrokes = 3

// A Binding maps a chord to an action in a context.
type Binding struct {
	Context Context
	// Chord is the sequence of keys.
	Chord  []Key
	Action Action
	// Own is true if the binding comes from the user's file.
	Own bool
}

// keys returns the chord's notation.
func (b Binding) keys() string { return spell(b.Chord) }

func spell(chord []Key) string {
	var text []string
	for _, k := range chord {
		text = append(text, k.String())
	}
	return strings.Join(text, " ")
}

// A Map holds bindings. It is immutable.
type Map struct {
	list []Binding // ordered by definition
}

// Defaults returns the default bindings.
func Defaults() *Map {
	m := &Map{}
	for _, e := range entries() {
		for keys := range strings.SplitSeq(e.keys, ", ") {
			chord, err := parseChord(keys)
			if err != nil {
				panic(err) // a mistake in the table
			}
			m.list = append(m.list, Binding{Context: e.context, Chord: chord, Action: e.action})
		}
	}
	return m
}

// parseChord parses a chord.
func parseChord(text string) ([]Key, error) {
	var chord []Key
	for one := range strings.FieldsSeq(text) {
		k, err := ParseKey(one)
		if err != nil {
			return nil, err
		}
		chord = append(chord, k)
	}
	switch {
	case len(chord) == 0:
		return nil, errors.New("no key is given")
	case len(chord) > maxStrokes:
		return nil, fmt.Errorf("a chord has at most %d keys", maxStrokes)
	}
	return chord, nil
}

// Load returns the default bindings modified by a keybindings.json, and the problems in the
// file. Invalid parts are skipped; the rest applies.
func Load(data []byte) (*Map, []string) {
	l := &loading{m: Defaults(), data: data}
	root, err := jsonc.Parse(data)
	var list *jsonc.Node
	switch {
	case err != nil:
		l.report("the file is not JSON: %v", err)
	case root == nil || root.Kind != jsonc.Object:
		l.report("the file holds no object with \"bindings\"")
	default:
		list = member(root, "bindings")
		if list == nil || list.Kind != jsonc.Array {
			l.report("\"bindings\" is not a list")
		}
	}
	if list != nil {
		for _, block := range list.Items {
			l.block(block)
		}
	}
	l.problems = append(l.problems, l.m.conflicts()...)
	return l.m, l.problems
}

// A loading is the state of parsing a file.
type loading struct {
	m        *Map
	data     []byte
	problems []string
}

// report records a problem.
func (l *loading) report(format string, args ...any) {
	l.problems = append(l.problems, fmt.Sprintf(format, args...))
}

// block reads the bindings of one context.
func (l *loading) block(n *jsonc.Node) {
	name := text(l.data, member(n, "context"))
	bound := member(n, "bindings")
	switch {
	case name == "":
		l.report("a block names no context")
		return
	case !slices.Contains(contexts, Context(name)):
		l.report("unknown context %s", quote(name))
		return
	case bound == nil || bound.Kind != jsonc.Object:
		l.report("the block of %s has no \"bindings\"", name)
		return
	}
	for _, one := range bound.Members {
		l.bind(Context(name), one.Name, one.Value)
	}
}

// bind reads one binding.
func (l *loading) bind(context Context, keys string, value *jsonc.Node) {
	chord, err := parseChord(keys)
	if err != nil {
		l.report("%s: %s: %v", context, quote(keys), err)
		return
	}
	action := Action(text(l.data, value))
	switch {
	case chord[0] == (Key{Ctrl, "c"}) || chord[0] == (Key{Ctrl, "d"}):
		l.report("%s: %s cannot be bound to anything else: it interrupts, or leaves", context, chord[0])
		return
	case types(chord[0]) && (context == Chat || context == Global):
		l.report("%s: %s types a character, and cannot be bound there", context, chord[0])
		return
	case value.Kind != jsonc.Null && !known(context, action):
		l.report("%s: %s is bound to %s, which adze does not know", context, spell(chord), quote(cmp.Or(string(action), "an invalid action")))
		return
	}
	if same := l.m.find(context, chord); same >= 0 {
		if l.m.list[same].Own {
			l.report("%s: %s is bound twice; the last one counts", context, spell(chord))
		}
		l.m.list = slices.Delete(l.m.list, same, same+1)
	}
	if value.Kind == jsonc.Null {
		return
	}
	l.m.list = append(l.m.list, Binding{context, chord, action, true})
	if key := unreachable(chord); key != "" {
		l.report("%s: %s needs a terminal with the Kitty keyboard protocol; others send the same for %s", context, spell(chord), key)
	}
}

// known reports whether an action can be bound in a context.
func known(context Context, action Action) bool {
	if name, ok := strings.CutPrefix(string(action), CommandPrefix); ok {
		return name != "" && !strings.ContainsAny(name, " \t\n/")
	}
	return slices.ContainsFunc(entries(), func(e entry) bool { return e.action == action })
}

// types reports whether a key types a character.
func types(k Key) bool {
	return k.Mod&^Shift == 0 && (utf8.RuneCountInString(k.Name) == 1 || k.Name == "space")
}

// unreachable returns the key that many terminals send instead of one in the chord, or "".
func unreachable(chord []Key) string {
	for _, k := range chord {
		switch {
		case k == Key{Ctrl, "i"}:
			return "tab"
		case k == Key{Ctrl, "m"}:
			return "enter"
		case k == Key{Ctrl, "["}:
			return "escape"
		case k == Key{Ctrl, "h"}:
			return "backspace"
		case k.Mod&Super != 0:
			return Key{k.Mod &^ Super, k.Name}.String()
		case k.Mod&Ctrl != 0 && k.Mod&Shift != 0 && utf8.RuneCountInString(k.Name) == 1:
			return Key{k.Mod &^ Shift, k.Name}.String()
		}
	}
	return ""
}

// conflicts describes the user's bindings that never apply.
func (m *Map) conflicts() (problems []string) {
	for _, b := range m.list {
		for _, other := range m.list {
			meet := b.Context == other.Context || b.Context == Global
			switch {
			case !meet || !b.Own && !other.Own:
			case len(other.Chord) > len(b.Chord) && slices.Equal(other.Chord[:len(b.Chord)], b.Chord):
				problems = append(problems, fmt.Sprintf("%s: %s never applies: %s begins with it", b.Context, b.keys(), other.keys()))
			case b.Own && b.Context == Global && other.Context == Chat && slices.Equal(b.Chord, other.Chord):
				problems = append(problems, fmt.Sprintf("Global: %s does not apply while a message is typed: there it is %s", b.keys(), other.Action))
			}
		}
	}
	return problems
}

// find returns the index of a binding, or -1.
func (m *Map) find(context Context, chord []Key) int {
	return slices.IndexFunc(m.list, func(b Binding) bool { return b.Context == context && slices.Equal(b.Chord, chord) })
}

// Keys returns an action's chords in user-facing notation, separated by commas, or "".
func (m *Map) Keys(action Action) string {
	var all []string
	for _, b := range m.list {
		if b.Action != action {
			continue
		}
		if text := b.spoken(); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

// spoken returns the chord in user-facing notation.
func (b Binding) spoken() string {
	var all []string
	for _, k := range b.Chord {
		all = append(all, k.Spoken())
	}
	return strings.Join(all, " ")
}

// A Line is an action with its keys and description.
type Line struct {
	Context     Context
	Action      Action
	Keys, About string
}

// Lines returns all actions, including those without keys, followed by the user's command
// bindings.
func (m *Map) Lines() []Line {
	var lines []Line
	for _, e := range entries() {
		lines = append(lines, Line{e.context, e.action, m.Keys(e.action), e.doc})
	}
	for _, b := range m.list {
		if name, ok := strings.CutPrefix(string(b.Action), CommandPrefix); ok {
			lines = append(lines, Line{b.Context, b.Action, b.spoken(), "enter /" + name})
		}
	}
	return lines
}

// member returns a member of an object, or nil. If the name occurs several times, the last one
// counts.
func member(n *jsonc.Node, name string) *jsonc.Node {
	if n == nil {
		return nil
	}
	for _, m := range slices.Backward(n.Members) {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// text returns the value of a string node, or "".
func text(data []byte, n *jsonc.Node) string {
	if n == nil || n.Kind != jsonc.String {
		return ""
	}
	var s string
	if err := json.Unmarshal(data[n.Start:n.End], &s); err != nil {
		return ""
	}
	return s
}

// quote shortens text from a file for display.
func quote(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "..."
	}
	return fmt.Sprintf("%q", s)
}
