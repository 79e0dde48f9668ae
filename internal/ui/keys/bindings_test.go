package keys

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// press returns the result of keys pressed 10 ms apart: actions, typed keys in parentheses, and
// … for a key that waits for the next.
func press(m *Map, keys string, contexts ...Context) string {
	var c Chord
	var got []string
	now := time.Unix(100, 0)
	for text := range strings.FieldsSeq(keys) {
		if text == "pause" {
			now = now.Add(2 * time.Second)
			continue
		}
		k, err := ParseKey(text)
		if err != nil {
			panic(err)
		}
		now = now.Add(10 * time.Millisecond)
		switch action, taken := c.Press(m, Event{Key: k, At: now}, contexts...); {
		case action != "":
			got = append(got, string(action))
		case taken:
			got = append(got, "…"+c.Pending())
		default:
			got = append(got, "("+k.String()+")")
		}
	}
	return strings.Join(got, " ")
}

// Proves X-120.
func TestChords(t *testing.T) {
	m, problems := Load([]byte(`{"$schema": "x", "bindings": [
		{"context": "Chat", "bindings": {"ctrl+x ctrl+e": "chat:stash", "ctrl+u": null, "alt+c": "command:cost", "ctrl+q a b": "edit:left"}},
		{"context": "Global", "bindings": {"f5": "app:redraw",}}, // a comma too many, and a comment
	]}`))
	if len(problems) > 0 {
		t.Error(problems)
	}
	for _, tt := range []struct{ keys, want string }{
		{"enter", "chat:submit"},
		{"ctrl+x ctrl+e", "…ctrl+x chat:stash"},
		{"ctrl+x escape escape", "…ctrl+x … chat:cancel"},
		{"ctrl+x a", "…ctrl+x (a)"},
		{"ctrl+x pause ctrl+e", "…ctrl+x edit:lineEnd"},
		{"ctrl+x ctrl+x ctrl+e", "…ctrl+x …ctrl+x chat:stash"},
		{"ctrl+q a b", "…ctrl+q …ctrl+q a edit:left"},
		{"ctrl+q a a", "…ctrl+q …ctrl+q a (a)"},
		{"ctrl+u", "(ctrl+u)"},
		{"alt+c f5 ctrl+o", "command:cost app:redraw app:toggleTranscript"},
		{"ctrl+c ctrl+d", "app:interrupt app:exit"},
		{"a A ?", "(a) (shift+a) (?)"},
	} {
		if got := press(m, tt.keys, Chat, Global); got != tt.want {
			t.Errorf("%s: %s, not %s", tt.keys, got, tt.want)
		}
	}
	if got := press(m, "ctrl+b ctrl+r", Task, Chat, Global); got != "task:background history:search" {
		t.Errorf("while a command runs: %s", got)
	}
	if got := press(m, "ctrl+r ctrl+c a", HistorySearch); got != "historySearch:next historySearch:cancel (a)" {
		t.Errorf("in a search: %s", got)
	}
}

// TestProblems checks that problems in a file are reported and that the rest of it applies.
//
// Proves X-120, CMD-06.
func TestProblems(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{`{`, "the file is not JSON"},
		{`[]`, `no object with "bindings"`},
		{`{"bindings": 3}`, `"bindings" is not a list`},
		{`{"bindings": [7]}`, "names no context"},
		{`{"bindings": [{"context": "Chat\u001b[31m"}]}`, `unknown context "Chat\x1b[31m"`},
		{`{"bindings": [{"context": "Chat"}]}`, `the block of Chat has no "bindings"`},
		{`{"bindings": [{"context": "Chat", "bindings": {"ctrl+nokey": "chat:stash"}}]}`, `unknown key "nokey"`},
		{`{"bindings": [{"context": "Chat", "bindings": {"hyper+a": "chat:stash"}}]}`, `unknown modifier "hyper" (want ctrl`},
		{`{"bindings": [{"context": "Chat", "bindings": {"": "chat:stash"}}]}`, `no key is given`},
		{`{"bindings": [{"context": "Chat", "bindings": {"f1 f2 f3 f4": "chat:stash"}}]}`, "at most 3 keys"},
		{`{"bindings": [{"context": "Chat", "bindings": {"f1": "chat:fly"}}]}`, `bound to "chat:fly", which adze does not know`},
		{`{"bindings": [{"context": "Chat", "bindings": {"f1": 3}}]}`, `"an invalid action"`},
		{`{"bindings": [{"context": "Chat", "bindings": {"f1": "command:"}}]}`, `does not know`},
		{`{"bindings": [{"context": "Global", "bindings": {"ctrl+c": "chat:stash"}}]}`, "ctrl+c cannot be bound"},
		{`{"bindings": [{"context": "Global", "bindings": {"ctrl+d": null}}]}`, "ctrl+d cannot be bound"},
		{`{"bindings": [{"context": "Chat", "bindings": {"a": "chat:stash"}}]}`, "a types a character"},
		{`{"bindings": [{"context": "Chat", "bindings": {"ctrl+i": "chat:stash"}}]}`, "others send the same for tab"},
		{`{"bindings": [{"context": "Chat", "bindings": {"ctrl+m": "chat:stash"}}]}`, "others send the same for enter"},
		{`{"bindings": [{"context": "Chat", "bindings": {"ctrl+x": "chat:stash"}}]}`, "ctrl+x never applies: ctrl+x ctrl+e begins with it"},
		{`{"bindings": [{"context": "Global", "bindings": {"ctrl+u": "app:redraw"}}]}`, "does not apply while a message is typed: there it is edit:killLineStart"},
		{`{"bindings": [{"context": "Chat", "bindings": {"f1": "chat:stash", "F1": "chat:undo"}}]}`, "f1 is bound twice; the last one counts"},
	} {
		m, problems := Load([]byte(tt.file))
		if len(problems) != 1 || !strings.Contains(problems[0], tt.want) {
			t.Errorf("%s: %q, not %q", tt.file, problems, tt.want)
		}
		if strings.ContainsAny(strings.Join(problems, ""), "\x1b\n") {
			t.Errorf("%q is not safe to show", problems)
		}
		if got := press(m, "enter ctrl+c", Chat, Global); got != "chat:submit app:interrupt" {
			t.Errorf("%s: %s", tt.file, got)
		}
	}
	m, _ := Load([]byte(`{"bindings": [{"context": "Chat", "bindings": {"f1": "chat:stash", "F1": "chat:undo", "f2": "command:cost"}}]}`))
	if got := press(m, "f1", Chat); got != "chat:undo" {
		t.Errorf("bound twice: %s", got)
	}
	lines := m.Lines()
	if diff := cmp.Diff(Line{Chat, "command:cost", "F2", "enter /cost"}, lines[len(lines)-1]); diff != "" {
		t.Error(diff)
	}
	if got := m.Keys(Stash) + "; " + m.Keys(Undo); got != "Ctrl-S; Ctrl-_, Ctrl-Shift--, Ctrl-Shift-_, F1" {
		t.Error(got)
	}
}

func TestParseKey(t *testing.T) {
	for text, want := range map[string]string{
		"ctrl+x": "ctrl+x", "Control+Alt+X": "ctrl+alt+x", "X": "shift+x", "Meta+Enter": "alt+enter", "cmd+shift+K": "shift+super+k", "esc": "escape",
		"ctrl++": "ctrl++", "+": "+", "F12": "f12", "ctrl+_": "ctrl+_", "é": "é", "ctrl+space": "ctrl+space", "option+left": "alt+left",
	} {
		k, err := ParseKey(text)
		if err != nil || k.String() != want {
			t.Errorf("%s: %v, %v", text, k, err)
		}
		if again, err := ParseKey(k.String()); err != nil || again != k {
			t.Errorf("%v is read as %v, %v", k, again, err)
		}
	}
	for _, text := range []string{"", "ctrl+", "f0", "f36", "f1x", "ctrl+xx", "\x1b", "ctrl+\x00"} {
		if k, err := ParseKey(text); err == nil {
			t.Errorf("%q: %v", text, k)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"bindings":[{"context":"Chat","bindings":{"ctrl+x ctrl+e":"chat:externalEditor","ctrl+u":null}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, problems := Load(data)
		if got := press(m, "ctrl+c ctrl+d", Chat, Global); got != "app:interrupt app:exit" {
			t.Errorf("%s", got)
		}
		if strings.ContainsAny(strings.Join(problems, ""), "\x1b\x07\n") {
			t.Errorf("%q", problems)
		}
	})
}
