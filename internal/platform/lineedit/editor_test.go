package lineedit

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/platform/cells"
)

// Whatever is pressed, the rows show the whole text, none is wider than the room, and the cursor stands where the next
// key goes.
func TestRowsShowTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(20, 40).Draw(t, "width")
		e := &Editor{Prompt: "> ", More: ". ", History: []string{"first", "se\ncond", strings.Repeat("long ", 20)}}
		keys := rapid.SliceOf(rapid.OneOf(
			rapid.Custom(func(t *rapid.T) Key { return Key{Rune, rapid.StringN(1, 1, -1).Draw(t, "rune")} }),
			rapid.SampledFrom([]Key{{Rune, "a"}, {Rune, "漢"}, {Rune, " "}, {Rune, "\u0301"}, {Paste, "x\r\ny z"}, {Code: Backspace},
				{Code: Backspace}, {Code: Delete}, {Code: Left}, {Code: Left}, {Code: Right}, {Code: Home}, {Code: End}, {Code: Up}, {Code: Up},
				{Code: Down}, {Code: KillBack}, {Code: KillWord}, {Code: KillEnd}, {Code: KillNextWord}, {Code: NewLine}, {Code: Yank}, {Code: Undo},
				{Code: WordLeft}, {Code: WordRight}, {Code: Search}, {Code: Escape}, {Code: Abandon}, {Rune, "👩"}, {Rune, "\u200d"}, {Paste, strings.Repeat("wide 漢字 ", 12)}}),
		)).Draw(t, "keys")
		for _, k := range keys {
			e.Press(k, width)
			rows, row, col := e.Rows(width, 0)
			if e.search != nil {
				continue // its prompt may be wide
			}
			var got string
			for i, r := range rows {
				if cells.Width(r) >= width {
					t.Fatalf("after %v row %q is wider than %d", k, r, width-1)
				}
				head := "> "
				if i > 0 {
					head = r[:2] // of a new line, or of one that goes on
				}
				got += strings.TrimPrefix(r, head)
				if head == ". " {
					got = strings.TrimSuffix(got, strings.TrimPrefix(r, head)) + "\n" + strings.TrimPrefix(r, head)
				}
			}
			want := ""
			for i, r := range e.text {
				if r == '\n' {
					want += "\n"
				} else {
					want += string(e.mark(i))
				}
			}
			if got != want {
				t.Fatalf("after %v the rows show %q, the text is %q", k, got, want)
			}
			if e.pos < len(e.text) && e.text[e.pos] != '\n' {
				before := rows[row]
				for cells.Width(before) > col || before != "" && cells.Width(before) == col && cells.Of([]rune(before)[len([]rune(before))-1]) == 0 && !strings.HasPrefix(rows[row][len(before):], string(e.mark(e.pos))) {
					before = string([]rune(before)[:len([]rune(before))-1])
				}
				if cells.Of(e.mark(e.pos)) > 0 && !strings.Contains(rows[row][len(before):], string(e.mark(e.pos))) {
					t.Fatalf("after %v the cursor is at %d in %q, the next character is %q", k, col, rows[row], e.mark(e.pos))
				}
			} else if col != cells.Width(rows[row]) {
				t.Fatalf("after %v the cursor is at %d, the row %q ends at %d", k, col, rows[row], cells.Width(rows[row]))
			}
			if some, at, _ := e.Rows(width, 3); len(some) > 3 || some[at] != rows[row] {
				t.Fatalf("of %d rows %q are shown, the cursor is in %d", len(rows), some, at)
			}
		}
	})
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
		{"completed before the cursor", "/he me\x1b[D\x1b[D\x1b[D\t", "/help me"},
		{"other keys", "a\x1b[5~\x1bx\x00b", "ab"},
		// The keys of second look 2.15.
		{"words back", "one two three\x1bb\x1bbX", "one Xtwo three"},
		{"words back with Ctrl", "one two\x1b[1;5DX", "one Xtwo"},
		{"words forward", "one two\x01\x1bf\x1b[1;5C!", "one two!"},
		{"next word cut", "one two\x01\x1bd", " two"},
		{"cut and pasted", "one two\x17\x01\x19", "twoone "},
		{"cuts together", "one two\x17\x17!\x19", "!one two"},
		{"up in lines", "one\ntwo\nthree\x1b[A\x1b[AX", "oneX\ntwo\nthree"},
		{"down in lines", "one\ntwo\x1b[A\x1b[B!", "one\ntwo!"},
		{"column kept", "long line\nx\nlong line\x1b[A\x1b[AX", "long lineX\nx\nlong line"},
		{"up at the top", "one\ntwo\x1b[A\x1b[A", "later"},
		{"found", "\x12arl", "earlier"},
		{"found, edited", "\x12late\x1b[D!", "late!r"},
		{"found earlier", "\x12er\x12", "earlier"},
		{"not found", "typed\x12zzz\x07", "typed"},
		{"undone", "one two\x17\x17\x1f", "one "},
		{"characters undone", "abc\x1f", ""},
		{"joined emoji", "a👩\u200d👧\x7fb", "ab"},
		{"accent", "e\u0301\x1b[D!", "!e\u0301"},
		{"Ctrl by code", "abc\x1b[97;5u\x1b[27;5;100~", "bc"},
		{"Shift-Enter by code", "a\x1b[13;2ub", "a\nb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := &Editor{Prompt: "> ", More: ". ", History: []string{"earlier", "later"}, Complete: func(s string) (string, []string) {
				if s == "/he" {
					return "/help", nil
				}
				return s, nil
			}}
			var d Decoder
			for _, b := range []byte(tt.keys) { // however the bytes arrive
				for _, k := range d.Decode([]byte{b}) {
					if ev := e.Press(k, 80); ev != None && ev != Unbound {
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

// Long lines are broken, and the cursor moves through them by rows.
func TestLongLine(t *testing.T) {
	e := &Editor{Prompt: "> ", More: ". ", History: []string{"earlier"}}
	for _, k := range []Key{{Paste, "0123456789abcdefghijklmnop\nx"}, {Code: Up}, {Code: Up}, {Rune, "!"}} {
		e.Press(k, 20)
	}
	rows, row, col := e.Rows(20, 0)
	want := []string{"> 0!123456789abcdef", "  ghijklmnop", ". x"}
	if diff := cmp.Diff(want, rows); diff != "" || row != 0 || col != 4 {
		t.Errorf("the cursor is at %d, %d (-want +got):\n%s", row, col, diff)
	}
}

// A long paste takes no longer to show than a short one.
func TestLargePaste(t *testing.T) {
	e := &Editor{Prompt: "> ", More: ". "}
	e.Press(Key{Paste, strings.Repeat("a line of a large file\n", 200_000)}, 80)
	began := time.Now()
	for range 100 {
		e.Press(Key{Rune, "x"}, 80)
		e.Press(Key{Code: Up}, 80)
		if rows, _, _ := e.Rows(80, 10); len(rows) != 10 {
			t.Fatalf("%d rows", len(rows))
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("100 keys took %v", took)
	}
}

func TestEvents(t *testing.T) {
	var e Editor
	for _, step := range []struct {
		key  Key
		want Event
	}{
		{Key{Code: EOF}, Leave}, {Key{Code: Interrupt}, Cancel}, {Key{Code: Suspend}, Stop}, {Key{Code: Escape}, Escaped}, {Key{Code: BackTab}, Cycle},
		{Key{Code: Clear}, Redraw}, {Key{Code: Whole}, Show}, {Key{Code: Unknown}, Unbound},
		{Key{Rune, "x"}, None}, {Key{Code: EOF}, None}, {Key{Code: Enter}, Submit},
	} {
		if got := e.Press(step.key, 80); got != step.want {
			t.Errorf("%v: %d, want %d", step.key, got, step.want)
		}
	}
	e.Clear()
	if !e.Empty() || e.Text() != "" {
		t.Errorf("left over: %q", e.Text())
	}
}

// An escape is a key only if nothing follows it; half a sequence is never typed.
func TestEscape(t *testing.T) {
	var d Decoder
	if keys := d.Decode([]byte("\x1b")); len(keys) != 0 || d.Wait() == 0 || d.Wait() > 100*time.Millisecond {
		t.Fatalf("%v, wait %v", keys, d.Wait())
	}
	if diff := cmp.Diff([]Key{{Code: Up}}, d.Decode([]byte("[A"))); diff != "" || d.Wait() != 0 {
		t.Errorf("cut after the escape: %s", diff)
	}
	d.Decode([]byte("\x1b"))
	if diff := cmp.Diff([]Key{{Code: Escape}}, d.Flush()); diff != "" || d.Wait() != 0 {
		t.Errorf("alone: %s", diff)
	}
	if diff := cmp.Diff([]Key{{Code: Escape}}, append(d.Decode([]byte("\x1b")), d.Decode([]byte("\x1b"))...)); diff != "" || d.Wait() == 0 {
		t.Errorf("twice: %s", diff)
	}
	d.Flush()
	d.Decode([]byte("\x1b[1;"))
	if keys := d.Flush(); len(keys) != 0 {
		t.Errorf("half a sequence: %v", keys)
	}
}

// Control characters that are pasted never reach the terminal, and joiners are shown where they are seen.
func TestSafe(t *testing.T) {
	var e Editor
	e.Press(Key{Paste, "a\x1b]0;owned\x07\u202eb"}, 80)
	rows, _, _ := e.Rows(80, 0)
	if strings.ContainsAny(strings.Join(rows, ""), "\x1b\x07\u202e") {
		t.Errorf("shown: %q", rows)
	}
	e.Clear()
	e.Press(Key{Paste, "می\u200cخ a\u200cb"}, 80)
	if rows, _, _ := e.Rows(80, 0); rows[0] != "می\u200cخ a\uFFFDb" { // second look 2.14
		t.Errorf("shown: %q", rows)
	}
}

// FuzzDecoder checks that keys do not depend on how the bytes arrive, and that nothing is kept for ever.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte("a\x1b[A\x1b[200~x\x1b[201~\xffé"), 3)
	f.Add([]byte("\x1b\x1b[A\x1b[99;5u\x1bb"), 1)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		var whole, parts Decoder
		want := whole.Decode(data)
		if cut < 0 || cut >= len(data) {
			return
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
