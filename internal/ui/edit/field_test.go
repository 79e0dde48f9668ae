package edit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/platform/term/cells"
	"adze/internal/ui/keys"
)

// char returns the event of a key that types a character.
func char(r rune) keys.Event { return keys.Event{Key: keys.Key{Name: string(r)}, Text: string(r)} }

// A typist presses keys in a field, as a terminal sends them.
type typist struct {
	*Field
	decoder keys.Decoder
	m       *keys.Map
	now     time.Time
	width   int
}

func newTypist() *typist {
	return &typist{Field: New("> ", ". "), m: keys.Defaults(), now: time.Unix(1000, 0), width: 80}
}

// types sends bytes and returns the actions that do not edit the text.
func (p *typist) types(bytes string) (actions []keys.Action) {
	for _, ev := range append(p.decoder.Decode([]byte(bytes), p.now), p.decoder.Flush(p.now)...) {
		if a := p.Press(ev, p.m, p.width); a != "" {
			actions = append(actions, a)
		}
	}
	return actions
}

// Proves X-120.
func TestEditing(t *testing.T) {
	long := strings.Repeat("line\n", 11) + "last"
	tests := []struct{ name, keys, want string }{
		{"typing", "hello", "hello"},
		{"typo", "helli\x7fo", "hello"},
		{"word", "one two\x17three", "one three"},
		{"line", "one two\x15three", "three"},
		{"middle", "hllo\x01\x06e", "hello"},
		{"arrows", "helo\x1b[D\x1b[Dl\x1b[C\x1b[C!", "hello!"},
		{"rest", "hello\x01\x06\x0b", "h"},
		{"delete", "xhello\x1b[H\x1b[3~", "hello"},
		{"delete with Ctrl-D", "xhello\x1b[H\x04", "hello"},
		{"lines", "one\x1b\rtwo\nthree", "one\ntwo\nthree"},
		{"backslash", "one\\\rtwo", "one\ntwo"},
		{"joined", "one\ntwo\x1b[H\x7f", "onetwo"},
		{"paste", "\x1b[200~a\rb\x03\x1b[201~c", "a\nb\x03c"},
		{"history", "\x1b[A", "later"},
		{"older", "\x1b[A\x1b[A\x1b[A", "earlier"},
		{"back again", "draft\x1b[A\x1b[A\x1b[B\x1b[B", "draft"},
		{"completed", "/he\t", "/help"},
		{"completed before the caret", "/he me\x1b[D\x1b[D\x1b[D\t", "/help me"},
		{"other keys", "a\x1b[5~\x1bx\x00b", "ab"},
		{"words back", "one two three\x1bb\x1bbX", "one Xtwo three"},
		{"words back with Ctrl", "one two\x1b[1;5DX", "one Xtwo"},
		{"words forward", "one two\x01\x1bf\x1b[1;5C!", "one two!"},
		{"next word cut", "one two\x01\x1bd", " two"},
		{"cut and pasted", "one two\x17\x01\x19", "twoone "},
		{"cuts together", "one two\x17\x17!\x19", "!one two"},
		{"cut before", "one two\x17\x02\x17\x19", "one "},
		{"the one before that", "one two\x17\x02\x17\x19\x1by", "two "},
		{"round the ring", "one two\x17\x02\x17\x19\x1by\x1by", "one "},
		{"nothing to pop", "one two\x17x\x1by", "one x"},
		{"up in lines", "one\ntwo\nthree\x1b[A\x1b[AX", "oneX\ntwo\nthree"},
		{"down in lines", "one\ntwo\x1b[A\x1b[B!", "one\ntwo!"},
		{"column kept", "long line\nx\nlong line\x1b[A\x1b[AX", "long lineX\nx\nlong line"},
		{"up at the top", "one\ntwo\x1b[A\x1b[A", "later"},
		{"start and end of the text", "one\ntwo\x1b[1;5HX\x1b[1;5FY", "Xone\ntwoY"},
		{"found", "\x12arl", "earlier"},
		{"found, edited", "\x12late\x1b[D!", "late!r"},
		{"found earlier", "\x12er\x12", "earlier"},
		{"not found", "typed\x12zzz\x07", "typed"},
		{"found, taken", "\x12earl\x1b", "earlier"},
		{"query shortened", "\x12earlx\x7f\x7f\x7f\x7f\x7fl", "later"},
		{"undone", "one two\x17\x17\x1f", "one "},
		{"a word undone", "one two\x1f", "one "},
		{"made again", "one two\x1f\x1bz", "one two"},
		{"made again, not after another", "one two\x1fx\x1bz", "one x"},
		{"undone to the start", "one two\x17\x1f\x1f\x1f", ""},
		{"joined emoji", "a👩\u200d👧\x7fb", "ab"},
		{"flags", "🇩🇪🇫🇷\x7f!", "🇩🇪!"},
		{"accent", "e\u0301\x1b[D!", "!e\u0301"},
		{"Ctrl by code", "abc\x1b[97;5u\x1b[27;5;100~", "bc"},
		{"Shift-Enter by code", "a\x1b[13;2ub", "a\nb"},
		{"a fold", "see \x1b[200~" + long + "\x1b[201~!", "see " + long + "!"},
		{"a fold removed", "see \x1b[200~" + long + "\x1b[201~\x7f!", "see !"},
		{"a fold is one character", "\x1b[200~" + long + "\x1b[201~\x1b[D!\x1b[C\x7f", "!"},
		{"a fold cut and inserted", "a \x1b[200~" + long + "\x1b[201~\x15\x19", "a " + long},
		{"put aside", "later\x13now", "now"},
		{"put aside and taken back", "then\x13now\x13\x13\x15\x13", "then"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newTypist()
			p.History = []string{"earlier", "later"}
			p.Complete = func(s string) (string, []string) {
				if s == "/he" {
					return "/help", nil
				}
				return s, nil
			}
			for _, a := range p.types(tt.keys) {
				if a != keys.Stash {
					t.Errorf("action %s", a)
				}
			}
			if diff := cmp.Diff(tt.want, p.Text()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestUndoPause checks that text typed after a pause is undone separately.
func TestUndoPause(t *testing.T) {
	p := newTypist()
	p.types("one")
	p.now = p.now.Add(2 * time.Second)
	p.types("more")
	p.types("\x1f")
	if p.Text() != "one" {
		t.Errorf("%q", p.Text())
	}
}

// TestFolds checks that a long paste is folded, treated as one character by the caret, sent
// whole, opened by Enter, and removed by one key.
//
// Proves X-120.
func TestFolds(t *testing.T) {
	p := newTypist()
	lines := strings.Repeat("x\r", 119) + "x"
	p.types("\x1b[200~" + lines + "\x1b[201~ and \x1b[200~" + strings.Repeat("y", 1001) + "\x1b[201~")
	rows, _, col := p.Rows(80, 0)
	want := "> [Pasted text #1 +120 lines] and [Pasted text #2 +1001 characters]"
	if diff := cmp.Diff([]string{want}, rows); diff != "" || col != len(want) {
		t.Errorf("%d: %s", col, diff)
	}
	if got := p.Text(); got != strings.ReplaceAll(lines, "\r", "\n")+" and "+strings.Repeat("y", 1001) {
		t.Errorf("sent as %d bytes", len(got))
	}
	if got := p.types("\r"); !slices.Equal(got, []keys.Action{keys.Submit}) {
		t.Errorf("Enter after a fold: %v", got)
	}
	p.types("\x1b[D\r") // caret at the second fold
	if rows, _, _ := p.Rows(80, 0); !strings.HasPrefix(rows[1], "  yyy") {
		t.Errorf("opened: %q", rows)
	}
	p.types("\x1f")
	if rows, _, _ := p.Rows(80, 0); rows[0] != want {
		t.Errorf("closed again: %q", rows)
	}
	short := newTypist()
	short.types("\x1b[200~" + strings.Repeat("x\n", 9) + "\x1b[201~\x1b[200~" + strings.Repeat("y", 1000) + "\x1b[201~")
	if len(short.folds) > 0 {
		t.Errorf("short pastes are folded: %v", len(short.folds))
	}
	narrow := newTypist()
	narrow.width = 12
	narrow.types("ab\x1b[200~" + lines + "\x1b[201~")
	if rows, _, _ := narrow.Rows(12, 0); cmp.Diff([]string{"> ab", "  [Paste..."}, rows) != "" {
		t.Errorf("narrow: %q", rows)
	}
}

// TestSaved checks that saved content is restored with its folds, and that damaged data is
// rejected.
func TestSaved(t *testing.T) {
	p := newTypist()
	if p.Save() != nil {
		t.Error("an empty field is saved")
	}
	p.types("put aside\x13one \x1b[200~" + strings.Repeat("x\n", 50) + "\x1b[201~ two\x1b[D")
	data := p.Save()
	q := newTypist()
	if err := q.Load(data); err != nil || q.Text() != p.Text() || q.Stashed() != "put aside" || q.caret != p.caret {
		t.Errorf("%q, %q, %v, %v", q.Text(), q.Stashed(), q.caret, err)
	}
	if rows, _, _ := q.Rows(80, 0); rows[0] != "> one [Pasted text #1 +50 lines] two" {
		t.Errorf("%q", rows)
	}
	for _, bad := range []string{"", "{", "[]", `{"draft":3}`} {
		if err := newTypist().Load([]byte(bad)); err == nil {
			t.Errorf("%q is loaded", bad)
		}
	}
	for _, odd := range []string{`{}`, `{"draft":{"caret":-5,"pieces":[{"text":"e\u0301"}]}}`, `{"draft":{"caret":99}}`, `{"draft":{"caret":1,"pieces":[{"text":"e\u0301"},{}]}}`} {
		q := newTypist()
		if err := q.Load([]byte(odd)); err != nil {
			t.Errorf("%s: %v", odd, err)
		}
		q.types("x\x7f\x7f")
	}
}

// TestLongLine checks that long lines are broken and that the caret moves through them by rows.
func TestLongLine(t *testing.T) {
	p := newTypist()
	p.width = 20
	p.types("\x1b[200~0123456789abcdefghijklmnop\nx\x1b[201~\x1b[A\x1b[A!")
	rows, row, col := p.Rows(20, 0)
	want := []string{"> 0!123456789abcdef", "  ghijklmnop", ". x"}
	if diff := cmp.Diff(want, rows); diff != "" || row != 0 || col != 4 {
		t.Errorf("the caret is at %d, %d (-want +got):\n%s", row, col, diff)
	}
}

// TestSafe checks that pasted control characters never reach the terminal, and that joiners are
// shown where they are visible.
func TestSafe(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b]0;owned\x07\u202eb": "> a\uFFFD]0;owned\uFFFD\uFFFDb",
		"می\u200cخ a\u200cb":       "> می\u200cخ a\uFFFDb",
		"a\tb":                     "> a    b",
	} {
		p := newTypist()
		p.Press(keys.Event{Kind: keys.Paste, Text: text}, p.m, 80)
		if rows, _, _ := p.Rows(80, 0); rows[0] != want {
			t.Errorf("%q is shown as %q", text, rows)
		}
	}
}

// keyPieces are the inputs of the random typists.
var keyPieces = []string{
	"a", "b ", "word", "漢", "e\u0301", "\u0301", "👩", "\u200d", "👧", "🇩", "🇪", "\u0600", "क", "\u094d", "ष", "한", "\u1161", " ", "\t", "/he", "_", ".",
	"\x7f", "\x7f", "\x1b[3~", "\x1b[D", "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B", "\x01", "\x05", "\x1bb", "\x1bf", "\x15", "\x0b", "\x17", "\x1bd", "\x19", "\x1by",
	"\x1f", "\x1f", "\x1bz", "\n", "\x1b\r", "\r", "\\\r", "\t", "\x13", "\x12", "\x07", "\x1b", "\x1b[1;5H", "\x1b[1;5F", "\x04",
	"\x1b[200~x\r\ny z\x1b[201~", "\x1b[200~" + strings.Repeat("wide 漢字 ", 12) + "\x1b[201~", "\x1b[200~" + strings.Repeat("l\n", 12) + "\x1b[201~",
}

func drawKeys(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.SampledFrom(keyPieces), 0, 60).Draw(t, "keys")
}

// TestRowsShowTheText checks, for random input, that the rows show the whole text within the
// width, that the caret is at the insertion point and never inside a character, and that cached
// rows equal recomputed ones.
//
// Proves X-120.
func TestRowsShowTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newTypist()
		p.width = rapid.IntRange(20, 40).Draw(t, "width")
		p.History = []string{"first", "se\ncond", strings.Repeat("long ", 20)}
		for _, k := range drawKeys(t) {
			p.types(k)
			if p.search != nil {
				continue // the prompt may be wide
			}
			checkCaret(t, p.Field)
			rows, row, col := p.Rows(p.width, 0)
			for _, r := range rows {
				if cells.Width(r) >= p.width {
					t.Fatalf("after %q row %q is wider than %d", k, r, p.width-1)
				}
			}
			if got, want := strings.Join(rows, "\n"), wrapped(p.Field, p.width); got != want {
				t.Fatalf("after %q the rows are\n%s\nnot\n%s", k, got, want)
			}
			before := cells.Width(lastRow(wrapped(upTo(p.Field), p.width)))
			if runes := p.lines[p.caret.line].runes; p.caret.col == len(runes) && before != col {
				t.Fatalf("after %q the caret is at %d, not %d, in %q", k, col, before, rows[row])
			}
			if some, at, c := p.Rows(p.width, 3); len(some) > 3 || some[at] != rows[row] || c != col {
				t.Fatalf("of %d rows %q are shown, the caret is in %d", len(rows), some, at)
			}
		}
	})
}

func lastRow(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// upTo returns a field with the text before the caret.
func upTo(f *Field) *Field {
	g := New(f.Prompt, f.More)
	g.folds, g.width = f.folds, f.width
	g.set(f.slice(pos{}, f.caret))
	return g
}

// wrapped returns a field's rows, computed in a simple way.
func wrapped(f *Field, width int) string {
	var rows []string
	for i, l := range f.lines {
		row := f.More
		if i == 0 {
			row = f.Prompt
		}
		began := true
		for j := range l.runes {
			s := string(f.look(nil, l.runes, j))
			if cells.Width(row)+cells.Width(s) >= width && !began {
				rows = append(rows, row)
				row = "  "
			}
			row, began = row+s, false
		}
		rows = append(rows, row)
	}
	return strings.Join(rows, "\n")
}

// checkCaret checks that the caret is in the text and not inside a character.
func checkCaret(t *rapid.T, f *Field) {
	if f.caret.line < 0 || f.caret.line >= len(f.lines) || f.caret.col < 0 || f.caret.col > len(f.lines[f.caret.line].runes) {
		t.Fatalf("the caret is at %v", f.caret)
	}
	at, runes := 0, f.lines[f.caret.line].runes
	if f.caret.col == 0 {
		return
	}
	for g := graphemes.FromString(string(encodable(runes))); g.Next(); {
		if at += len([]rune(g.Value())); at == f.caret.col {
			return
		}
	}
	t.Fatalf("the caret is inside a character: %d in %q", f.caret.col, string(encodable(runes)))
}

// TestUndoReturns checks that undo restores every earlier text in order, and that redo reverses
// it.
//
// Proves X-120.
func TestUndoReturns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newTypist()
		p.History = []string{"first", "se\ncond"}
		texts := []string{""}
		for _, k := range drawKeys(t) {
			if strings.ContainsAny(k, "\x1f\x12\x13") || k == "\x1bz" {
				continue
			}
			for _, ev := range append(p.decoder.Decode([]byte(k), p.now), p.decoder.Flush(p.now)...) {
				p.now = p.now.Add(2 * time.Second) // undone separately
				ev.At = p.now
				p.Press(ev, p.m, p.width)
				if text := p.Text(); text != texts[len(texts)-1] {
					texts = append(texts, text)
				}
			}
		}
		seen := []string{p.Text()}
		for range 4 * (len(texts) + 60) {
			p.undo()
			checkCaret(t, p.Field)
			if text := p.Text(); text != seen[len(seen)-1] {
				seen = append(seen, text)
			}
		}
		slices.Reverse(seen)
		if diff := cmp.Diff(texts, seen); diff != "" {
			t.Fatalf("(-were +undone):\n%s", diff)
		}
		again := []string{p.Text()}
		for range 4 * (len(texts) + 60) {
			p.redo()
			if text := p.Text(); text != again[len(again)-1] {
				again = append(again, text)
			}
		}
		if diff := cmp.Diff(texts, again); diff != "" {
			t.Fatalf("(-were +made again):\n%s", diff)
		}
	})
}

// A simpleText is a string with a caret, edited in the simplest way.
type simpleText struct {
	text  []rune
	caret int
}

func (s *simpleText) put(text string) {
	s.text = slices.Insert(s.text, s.caret, []rune(text)...)
	s.caret += len([]rune(text))
}

// TestNothingIsLost checks random typing, moving, cutting and inserting against a simple model.
//
// Proves X-120.
func TestNothingIsLost(t *testing.T) {
	cluster := func(s *simpleText) (starts []int) { // character boundaries
		starts = []int{0}
		for g := graphemes.FromString(string(s.text)); g.Next(); {
			starts = append(starts, starts[len(starts)-1]+len([]rune(g.Value())))
		}
		return starts
	}
	near := func(s *simpleText, left bool) int {
		at := s.caret
		for _, c := range cluster(s) {
			if left && c < s.caret || !left && c > s.caret {
				at = c
				if !left {
					break
				}
			}
		}
		return at
	}
	rapid.Check(t, func(t *rapid.T) {
		p, s := newTypist(), &simpleText{}
		for _, k := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", " ", "漢", "e\u0301", "👩", "\n", "x\ny", "\x7f", "\x1b[3~", "\x1b[D", "\x1b[C", "\x01", "\x05", "\x0b", "\x19"}), 0, 80).Draw(t, "keys") {
			p.types(k)
			line := func(step int) int { // the end of the line in one direction
				at := s.caret
				for at+min(step, 0) >= 0 && at+min(step, 0) < len(s.text) && s.text[at+min(step, 0)] != '\n' {
					at += step
				}
				return at
			}
			switch k {
			case "\x7f":
				from := near(s, true)
				s.text, s.caret = slices.Delete(s.text, from, s.caret), from
			case "\x1b[3~":
				s.text = slices.Delete(s.text, s.caret, near(s, false))
			case "\x1b[D":
				s.caret = near(s, true)
			case "\x1b[C":
				s.caret = near(s, false)
			case "\x01":
				s.caret = line(-1)
			case "\x05":
				s.caret = line(1)
			case "\x0b":
				to := line(1)
				if to == s.caret {
					to = min(len(s.text), to+1)
				}
				s.text = slices.Delete(s.text, s.caret, to)
			case "\x19":
				s.put(string(p.kills.last()))
			default:
				s.put(k)
			}
			if got := p.Text(); got != string(s.text) {
				t.Fatalf("after %q the text is %q, not %q", k, got, string(s.text))
			}
		}
	})
}

// last returns the most recently killed text.
func (r *ring) last() []rune {
	if len(r.texts) == 0 {
		return nil
	}
	return r.texts[len(r.texts)-1]
}

// FuzzField checks that random bytes never cause a panic and that nothing is submitted without
// Enter.
func FuzzField(f *testing.F) {
	for _, k := range keyPieces {
		f.Add([]byte("x"+k+"y"), false)
		f.Add([]byte(k+"\x1bdwiw.u3p"), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, vim bool) {
		p := newTypist()
		p.SetVim(vim, "jk")
		p.History = []string{"one", "two\nlines"}
		for _, a := range p.types(string(data)) {
			if a == keys.Submit && !strings.ContainsAny(string(data), "\r\n") && !strings.Contains(string(data), "13") && !strings.Contains(string(data), "57414") && !strings.Contains(string(data), "M") {
				t.Errorf("%q submits", data)
			}
		}
		p.Rows(40, 5)
		for _, l := range p.lines {
			if slices.Contains(l.runes, '\n') {
				t.Errorf("a line with a line feed: %q", string(l.runes))
			}
		}
		if f := p.Save(); f != nil && newTypist().Load(f) != nil {
			t.Errorf("%s cannot be loaded", f)
		}
	})
}

// BenchmarkKey measures a key press in a 45 KB prompt, in short lines and in one line, at its
// start and end.
func BenchmarkKey(b *testing.B) {
	for _, bb := range []struct{ name, text, move string }{
		{"lines/end", strings.Repeat("a line of the prompt, as it may be\n", 45<<10/35), ""},
		{"lines/start", strings.Repeat("a line of the prompt, as it may be\n", 45<<10/35), "\x1b[1;5H"},
		{"one/end", strings.Repeat("0123456789", 45<<10/10), ""},
		{"one/start", strings.Repeat("0123456789", 45<<10/10), "\x1b[1;5H"},
		{"one, Chinese/end", strings.Repeat("漢字仮名", 45<<10/12), ""},
		{"a megabyte", strings.Repeat("a line of the prompt, as it may be\n", 1<<20/35), ""},
	} {
		b.Run(bb.name, func(b *testing.B) {
			p := newTypist()
			p.set([]rune(bb.text))
			p.types(bb.move)
			p.Rows(200, 16)
			ev, back := char('x'), keys.Event{Key: keys.Key{Name: "backspace"}}
			for i := 0; b.Loop(); i++ {
				if i%2 == 0 {
					p.Press(ev, p.m, 200)
				} else {
					p.Press(back, p.m, 200)
				}
				p.Rows(200, 16)
			}
		})
	}
}

// BenchmarkPaste measures pasting and showing a megabyte.
func BenchmarkPaste(b *testing.B) {
	data := []byte("\x1b[200~" + strings.Repeat("a line of what is pasted\r", 1<<20/25) + "\x1b[201~")
	for b.Loop() {
		p := newTypist()
		for part := range slices.Chunk(data, 4096) {
			for _, ev := range p.decoder.Decode(part, p.now) {
				p.Press(ev, p.m, 80)
			}
		}
		p.Rows(80, 8)
	}
}

func ExampleField() {
	f := New("> ", ". ")
	for _, r := range "hello" {
		f.Press(char(r), keys.Defaults(), 80)
	}
	rows, _, _ := f.Rows(80, 3)
	fmt.Println(rows[0])
	// Output: > hello
}

// TestCovered checks that text typed before recalling a history entry is not lost: it is saved,
// comes back when the entry is stashed, and is available to callers that send or drop the
// entry.
//
// Proves X-120.
func TestCovered(t *testing.T) {
	stored := func(p *typist) string {
		q := newTypist()
		if err := q.Load(p.Save()); err != nil {
			t.Fatal(err)
		}
		return q.Text()
	}
	for _, tt := range []struct{ name, keys, covered, stored string }{
		{"nothing", "words", "", "words"},
		{"nothing was typed", "\x1b[A", "", "the last entry"},
		{"back", "words\x1b[A", "words", "words"},
		{"back twice", "words\x1b[A\x1b[A", "words", "words"},
		{"and forward", "words\x1b[A\x1b[B", "", "words"},
		{"changed", "words\x1b[A!", "words", "words\nthe last entry!"},
		{"a search", "words\x12first", "words", "words"},
		{"found", "words\x12first\x1b[C", "words", "words"},
		{"found and changed", "words\x12first\x05!", "words", "words\nthe first entry!"},
		{"found, and further back", "words\x12last\x1b[C\x1b[A", "words", "words"},
		{"not found", "words\x12zz\x1b[C", "", "words"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newTypist()
			p.History = []string{"the first entry", "the last entry"}
			p.types(tt.keys)
			covered := ""
			if d := p.Covered(); d != nil {
				covered = d.Text()
			}
			if got := stored(p); covered != tt.covered || got != tt.stored {
				t.Errorf("covered %q, stored %q", covered, got)
			}
		})
	}
	p := newTypist()
	p.History = []string{"the last entry"}
	p.types("words\x1b[A\x13")
	if p.Text() != "words" || p.Stashed() != "the last entry" {
		t.Errorf("put aside: %q, %q", p.Text(), p.Stashed())
	}
	p.types(" more\x1b[A\x13")
	if p.Text() != "words more\nthe last entry" || p.Stashed() != "the last entry" {
		t.Errorf("put aside again: %q, %q", p.Text(), p.Stashed())
	}
}
