package compose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/platform/proc/cputime"
	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
	"adze/internal/ui/screen"
)

// A typist presses keys in a composer, as a terminal sends them.
type typist struct {
	*Composer
	decoder keys.Decoder
	width   int
}

func newTypist(history ...string) *typist {
	return &typist{Composer: New(draw.Unicode(), history), width: 80}
}

func (p *typist) types(bytes string) (actions []keys.Action) {
	at := time.Unix(1000, 0)
	for _, ev := range append(p.decoder.Decode([]byte(bytes), at), p.decoder.Flush(at)...) {
		if a := p.Press(ev, keys.Defaults(), p.width); a != "" {
			actions = append(actions, a)
		}
	}
	return actions
}

// shown returns the rows as text, with the caret as a bar.
func shown(rows []draw.Row, caret *screen.Point) string {
	var out []string
	for i, r := range rows {
		text := r.String()
		if caret != nil && caret.Row == i {
			runes := []rune(text + strings.Repeat(" ", max(0, caret.Col-len([]rune(text)))))
			text = string(runes[:caret.Col]) + "|" + string(runes[caret.Col:])
		}
		out = append(out, strings.TrimRight(text, " "))
	}
	return strings.Join(out, "\n")
}

// TestGhost checks that placeholder text is not part of the message, and that the caret
// precedes it.
//
// Proves X-134.
func TestGhost(t *testing.T) {
	p := newTypist()
	p.Ghost = "run the tests \x1b[2Jof the parser"
	if got := shown(p.Rows(80, 24)); got != "❯ |run the tests of the parser" {
		t.Errorf("got %q", got)
	}
	rows, _ := p.Rows(80, 24)
	if want := (draw.Row{{Role: draw.Accent, Text: "❯ "}, {Role: draw.Faint, Text: "run the tests of the parser"}}); !cmp.Equal(rows[0], want) {
		t.Errorf("%+v", rows[0])
	}
	if got := shown(p.Rows(20, 24)); got != "❯ |run the tests of⋯" {
		t.Errorf("got %q", got)
	}
	if p.Text() != "" || !p.Empty() {
		t.Errorf("the text is %q", p.Text())
	}
	p.Colourless = true
	if got := shown(p.Rows(80, 24)); got != "❯ |[run the tests of the parser]" {
		t.Errorf("got %q", got)
	}
	p.types("x")
	if got := shown(p.Rows(80, 24)); got != "❯ x|" {
		t.Errorf("got %q", got)
	}
}

// Proves X-120.
func TestRows(t *testing.T) {
	for _, tt := range []struct {
		name, keys string
		w, h       int
		want       string
	}{
		{"empty", "", 80, 24, "❯ |"},
		{"text", "why does checkout round wrong?", 80, 24, "❯ why does checkout round wrong?|"},
		{"lines", "one\ntwo", 80, 24, "❯ one\n  two|"},
		{"narrow", "why does checkout round wrong? it should not", 40, 12, "❯ why does checkout round wrong? it sho\n  uld not|"},
		{"more than fits", "1\n2\n3\n4\n5\n6", 40, 4, "  3\n  4\n  5\n  6|"},
		{"shell", "!ls -la", 80, 24, "!ls -la|"},
		{"note", "#use tabs", 80, 24, "#use tabs|"},
		{"a heading is not a note", "# one\ntwo", 80, 24, "❯ # one\n  two|"},
		{"out of the mode", "!\x7f", 80, 24, "❯ |"},
		{"search", "x\x12round", 80, 24, "❯ why does it round?\n  search: round|"},
		{"search without a find", "\x12nothing", 80, 24, "❯ why does it round?\n  not found: nothing|"},
		{"search in one row", "\x12round", 80, 1, "  search: round|"},
		{"put aside", "first\nsecond\x13third", 80, 24, "  stashed: first second\n❯ third|"},
		{"folded", "see \x1b[200~" + strings.Repeat("x\r", 119) + "x\x1b[201~", 80, 24, "❯ see [Pasted text #1 +120 lines]|"},
		{"wide window", strings.Repeat("0123456789", 16), 200, 24, "❯ " + strings.Repeat("0123456789", 16) + "|"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newTypist("earlier", "why does it round?")
			p.width = tt.w
			p.types(tt.keys)
			rows, caret := p.Rows(tt.w, tt.h)
			if diff := cmp.Diff(tt.want, shown(rows, caret)); diff != "" {
				t.Error(diff)
			}
			for _, r := range rows {
				if r.Width() > tt.w-1 {
					t.Errorf("%d cells: %q", r.Width(), r)
				}
			}
		})
	}
}

// TestMark checks that the mark shows the kind of the message, also by its color.
func TestMark(t *testing.T) {
	for keys, want := range map[string]draw.Span{
		"":    {Role: draw.Accent, Text: "❯ "},
		"a!":  {Role: draw.Accent, Text: "❯ "},
		"!ls": {Role: draw.Warning, Text: "!"},
		"#n":  {Role: draw.Good, Text: "#"},
	} {
		p := newTypist()
		p.types(keys)
		rows, _ := p.Rows(80, 24)
		if rows[0][0] != want {
			t.Errorf("%q: %+v", keys, rows[0][0])
		}
	}
}

// TestFits checks that the rows never exceed the available room and always include the caret.
func TestFits(t *testing.T) {
	p := newTypist("earlier")
	for i, piece := range []string{"a\n", "!", "漢字仮名", "\x1b[A", "\x12x", "\x1b", "\x13", strings.Repeat("long ", 60), "\x1b[H", "👩‍👩‍👧", "\x15"} {
		p.types(piece)
		for w := 8; w < 120; w += 7 {
			for h := 1; h < 6; h++ {
				p.width = w
				rows, caret := p.Rows(w, h)
				if len(rows) > h || caret == nil || caret.Row < 0 || caret.Row >= len(rows) || caret.Col > w-1 {
					t.Fatalf("after %d keys, %dx%d: %d rows, caret %v", i, w, h, len(rows), caret)
				}
			}
		}
	}
}

func say(id, text string, later bool) QueuedMessage {
	f := edit.New("", "")
	f.Set(text)
	return QueuedMessage{ID: id, Part: &msg.Text{Text: text}, Later: later, Draft: f.Draft()}
}

func TestQueue(t *testing.T) {
	var q Queue
	a, b, c := say("a", "also check the invoice export", false), say("b", "then\nthe PDF "+strings.Repeat("x", 100), true), say("c", "and the tax", false)
	for _, w := range []QueuedMessage{a, b, c} {
		q.Add(w)
	}
	rows, caret := q.Rows(60, 24, draw.Unicode())
	want := "  next: also check the invoice export\n  next: and the tax\n  after this turn: then the PDF " + strings.Repeat("x", 59-33) + "⋯"
	if diff := cmp.Diff(want, shown(rows, caret)); diff != "" {
		t.Error(diff)
	}
	rows, caret = q.Rows(40, 2, draw.Unicode())
	if got := shown(rows, caret); got != "  next: also check the invoice export\n  ⋯ 2 more" {
		t.Error(got)
	}
	if rows, _ := q.Rows(40, 0, draw.Unicode()); len(rows) != 0 {
		t.Errorf("%q in no rows", rows)
	}
	q.Delivered([]msg.Part{&msg.Text{Text: "and the tax"}, a.Part})
	if last, ok := q.Last(); !ok || last.ID != "c" {
		t.Errorf("the last one is %q", last.ID)
	}
	if all := q.Drain(); len(all) != 1 || all[0].ID != "b" || !q.Empty() {
		t.Errorf("%v", all)
	}
	if _, ok := q.Last(); ok {
		t.Error("no suggestions")
	}
}

// Proves X-120.
func TestDrops(t *testing.T) {
	for _, tt := range []struct {
		pasted string
		want   []DroppedFile
	}{
		{"/tmp/a.png", []DroppedFile{{"/tmp/a.png", "/tmp/a.png"}}},
		{" /tmp/a.PNG \n", []DroppedFile{{"/tmp/a.PNG", "/tmp/a.PNG"}}},
		{`/tmp/my\ shot.png`, []DroppedFile{{`/tmp/my\ shot.png`, "/tmp/my shot.png"}}},
		{`'/tmp/my shot.png' "/tmp/b.jpg"`, []DroppedFile{{`'/tmp/my shot.png'`, "/tmp/my shot.png"}, {`"/tmp/b.jpg"`, "/tmp/b.jpg"}}},
		{"~/a.webp", []DroppedFile{{"~/a.webp", "/home/u/a.webp"}}},
		{"file:///tmp/my%20shot.gif", []DroppedFile{{"file:///tmp/my%20shot.gif", "/tmp/my shot.gif"}}},
		{"see /tmp/a.png", nil},
		{"/tmp/a.txt", nil},
		{"a.png", nil},
		{"'/tmp/a.png", nil},
		{`/tmp/a.png\`, nil},
		{"https://example.com/a.png", nil},
		{"", nil},
		{"/" + strings.Repeat("a", maxPath) + ".png", nil},
		{strings.Repeat("/a.png ", maxDropped+1), nil},
	} {
		if diff := cmp.Diff(tt.want, Drops(tt.pasted, "/home/u")); diff != "" {
			t.Errorf("%.60q (-want +got):\n%s", tt.pasted, diff)
		}
	}
}

func FuzzDrops(f *testing.F) {
	f.Add(`'/tmp/my shot.png' "/tmp/b.jpg" file:///a.png`)
	f.Fuzz(func(t *testing.T, pasted string) {
		for _, d := range Drops(pasted, "/home/u") {
			if !strings.Contains(pasted, d.Text) || !strings.HasPrefix(d.Path, "/") {
				t.Errorf("%+v", d)
			}
		}
	})
}

// BenchmarkKey measures a key press in a 45 KB prompt including painting its rows: at most 50
// µs. In addition to wall time, it reports CPU time.
func BenchmarkKey(b *testing.B) {
	for name, text := range map[string]string{"one line": strings.Repeat("0123456789", 4500), "lines": strings.Repeat("a line of the prompt, as it may be\n", 45<<10/35)} {
		for _, move := range []string{"", "\x1b[1;5H"} {
			b.Run(fmt.Sprintf("%s, start %v", name, move != ""), func(b *testing.B) {
				p := newTypist()
				p.PutBack(&edit.Draft{Pieces: []edit.Piece{{Text: text}}, Caret: len(text)})
				p.types(move)
				m, paint := keys.Defaults(), draw.Palette{}
				x, back := keys.Event{Key: keys.Key{Name: "x"}, Text: "x"}, keys.Event{Key: keys.Key{Name: "backspace"}}
				began := cputime.Used()
				for i := 0; b.Loop(); i++ {
					if i%2 == 0 {
						p.Press(x, m, 200)
					} else {
						p.Press(back, m, 200)
					}
					p.Before()
					rows, _ := p.Rows(200, 16)
					paint.Lines(rows)
				}
				b.ReportMetric(float64((cputime.Used()-began).Microseconds())/float64(b.N), "cpu-µs/op")
			})
		}
	}
}
