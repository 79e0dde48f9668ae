package lineedit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/platform/cells"
)

// A screen is the line that a plain terminal shows, and where its cursor is. It knows \r, \b and \n.
type screen struct {
	t      *rapid.T
	rows   []string
	line   []rune // a wide character is followed by a 0
	column int
	width  int
}

func (s *screen) write(out string) {
	for _, r := range out {
		switch {
		case r == '\n':
			s.rows = append(s.rows, s.text())
			s.line, s.column = nil, 0
		case r == '\r':
			s.column = 0
		case r == '\b':
			s.column--
		case cells.Of(r) == 0:
		default:
			for range cells.Of(r) {
				for len(s.line) <= s.column {
					s.line = append(s.line, ' ')
				}
				s.line[s.column] = r
				r = 0
				s.column++
			}
		}
		if s.column < 0 || s.column >= s.width {
			s.t.Fatalf("the cursor is at %d of %d after %q", s.column, s.width, out)
		}
	}
}

func (s *screen) text() string {
	return strings.TrimRight(strings.ReplaceAll(string(s.line), "\x00", ""), " ")
}

// Whatever is pressed, the screen shows the line, or the part of it that has the cursor, and the cursor
// stands where the next key goes.
func TestScreenShowsTheLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(20, 40).Draw(t, "width")
		e := &Editor{Prompt: "> ", More: ". ", Width: func() int { return width }, History: []string{"first", "se\ncond", strings.Repeat("long ", 20)}}
		s := &screen{t: t, width: width}
		s.write(e.Open())
		keys := rapid.SliceOf(rapid.OneOf(
			rapid.Custom(func(t *rapid.T) Key { return Key{Rune, rapid.StringN(1, 1, -1).Draw(t, "rune")} }),
			rapid.SampledFrom([]Key{{Rune, "a"}, {Rune, "漢"}, {Rune, " "}, {Rune, "\u0301"}, {Paste, "x\r\ny z"}, {Code: Backspace},
				{Code: Backspace}, {Code: Delete}, {Code: Left}, {Code: Left}, {Code: Right}, {Code: Home}, {Code: End}, {Code: Up},
				{Code: Down}, {Code: KillBack}, {Code: KillWord}, {Code: KillEnd}, {Code: NewLine}}),
		)).Draw(t, "keys")
		for _, k := range keys {
			out, _ := e.Press(k)
			s.write(out)
			prompt := e.prompt(len(e.lines))
			got := strings.TrimPrefix(s.text(), strings.TrimRight(prompt, " "))
			got = strings.TrimPrefix(got, " ")
			want := strings.TrimRight(strings.Map(marks, spell(e.line[e.off:])), " ")
			if !strings.HasPrefix(want, got) {
				t.Fatalf("after %v the screen shows %q, the line is %q from %d", k, got, string(e.line), e.off)
			}
			if at := cells.Width(prompt) + places(e.line[e.off:e.pos]); s.column != at {
				t.Fatalf("after %v the cursor is at %d, want %d in %q", k, s.column, at, s.text())
			}
		}
	})
}

// marks drops what takes no place.
func marks(r rune) rune {
	if cells.Of(r) == 0 {
		return -1
	}
	return r
}

func TestEditing(t *testing.T) {
	tests := []struct{ name, keys, want string }{
		{"typing", "hello", "hello"},
		{"typo", "helli\x7fo", "hello"},
		{"word", "one two\x17three", "one three"},
		{"line", "one two\x15three", "three"},
		{"middle", "hllo\x01\x06e", "hello"},
		{"arrows", "helo\x1b[D\x1b[Dl\x1b[C\x1b[C!", "hello!"},
		{"rest", "hello\x01\x06\x0b", "h"},
		{"delete", "xhello\x1b[H\x1b[3~", "hello"},
		{"lines", "one\x1b\rtwo\nthree", "one\ntwo\nthree"},
		{"backslash", "one\\\rtwo", "one\ntwo"},
		{"joined", "one\ntwo\x1b[H\x7f", "onetwo"},
		{"paste", "\x1b[200~a\rb\x03\x1b[201~c", "a\nb\x03c"},
		{"history", "\x1b[A", "later"},
		{"older", "\x1b[A\x1b[A\x1b[A", "earlier"},
		{"back again", "draft\x1b[A\x1b[A\x1b[B\x1b[B", "draft"},
		{"completed", "/he\t", "/help"},
		{"other keys", "a\x1b[5~\x1bx\x00b", "ab"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := &Editor{History: []string{"earlier", "later"}, Complete: func(s string) string {
				if s == "/he" {
					return "/help"
				}
				return s
			}}
			var d Decoder
			for _, b := range []byte(tt.keys) { // however the bytes arrive
				if b == 0x1b {
					d.rest = append(d.rest, b)
					continue
				}
				for _, k := range d.Decode([]byte{b}) {
					if _, ev := e.Press(k); ev != None {
						t.Errorf("%v is event %d", k, ev)
					}
				}
			}
			if diff := cmp.Diff(tt.want, e.Text()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEvents(t *testing.T) {
	var e Editor
	for _, step := range []struct {
		key  Key
		want Event
	}{
		{Key{Code: EOF}, Leave}, {Key{Code: Interrupt}, Cancel}, {Key{Code: Suspend}, Stop},
		{Key{Rune, "x"}, None}, {Key{Code: EOF}, None}, {Key{Code: Enter}, Submit},
	} {
		if _, got := e.Press(step.key); got != step.want {
			t.Errorf("%v: %d, want %d", step.key, got, step.want)
		}
	}
	e.Clear()
	if !e.Empty() || e.Text() != "" {
		t.Errorf("left over: %q", e.Text())
	}
}

// Control characters that are pasted never reach the terminal.
func TestSafe(t *testing.T) {
	var e Editor
	out, _ := e.Press(Key{Paste, "a\x1b]0;owned\x07\u202eb"})
	if strings.ContainsAny(out, "\x1b\x07\u202e") {
		t.Errorf("written: %q", out)
	}
}

// FuzzDecoder checks that keys do not depend on how the bytes arrive, and that nothing is kept for ever.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte("a\x1b[A\x1b[200~x\x1b[201~\xffé"), 3)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		var whole, parts Decoder
		want := whole.Decode(data)
		if cut < 0 || cut >= len(data) || data[cut] == 0x1b || cut > 0 && data[cut-1] == 0x1b {
			return // an escape at the end is a key of its own
		}
		got := append(parts.Decode(data[:cut]), parts.Decode(data[cut:])...)
		if diff := cmp.Diff(want, got); diff != "" && !strings.Contains(string(data), "\x1b[200~") {
			t.Errorf("cut at %d (-whole +parts):\n%s", cut, diff)
		}
		if len(parts.rest) > maxSequence+2 {
			t.Errorf("%d bytes are kept", len(parts.rest))
		}
	})
}
