package svg

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// terminal returns a terminal with the given output.
func terminal(width, height int, output string) *Terminal {
	t := NewTerminal(width, height)
	io.WriteString(t, output)
	return t
}

// text returns the characters of a screen.
func (s Screen) text() string {
	var lines []string
	for _, row := range s.rows {
		line := ""
		for _, c := range row {
			line += c.text
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// check reports whether a picture is well-formed XML.
func check(picture []byte) error {
	d := xml.NewDecoder(strings.NewReader(string(picture)))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// TestTerminal checks the sequences that package screen writes, and that others have no effect.
func TestTerminal(t *testing.T) {
	for _, test := range []struct{ name, output, want string }{
		{"lines", "one\r\ntwo\nthree", "one\ntwo\nthree"},
		{"scroll", "1\n2\n3\n4\n5", "2\n3\n4\n5"},
		{"break", "0123456789abc", "0123456789\nabc"},
		{"move", "one\ntwo\x1b[A\x1b[4Gx\r\x1b[B\b>", "onex\n>wo"},
		{"erase", "one\ntwo\nthree\x1b[2A\x1b[2G\x1b[K\x1b[B\r\x1b[J", "o"},
		{"insert", "1\n2\n3\n4\x1b[3A\x1b[2Lx", "x\n\n1\n2"},
		{"tab", "a\tb", "a       b"},
		{"wide", "漢字x\x1b[3G.", "漢.x"},
		{"marks", "e\u0301\u200d", "e\u0301\u200d"},
		{"alternate", "one\x1b[?1049htwo\x1b[?1049l!", "one!"},
		{"ignored", "\x1b[?2026ha\x1b[>1u\x1b]52;c;eA==\ab\x1b]8;;http://x\x1b\\c\x1b]8;;\x1b\\d\x1b=\x07\x00", "abcd"},
		{"private style", "\x1b[>4;2ma", "a"},
		{"invalid", "\xff\x9ba", "\ufffd\ufffda"},
	} {
		whole := terminal(10, 4, test.output).Screen().text()
		pieces := NewTerminal(10, 4)
		for i := range len(test.output) {
			io.WriteString(pieces, test.output[i:i+1])
		}
		if got := pieces.Screen().text(); whole != test.want || got != test.want {
			t.Errorf("%s: %q, and %q in pieces; want %q", test.name, whole, got, test.want)
		}
	}
}

// TestStyles checks that colors and weights become classes, and backgrounds rectangles.
func TestStyles(t *testing.T) {
	picture := string(Still(terminal(20, 6, "\x1b[1;38;2;1;2;3mbold\x1b[0m \x1b[36mcyan\x1b[0m\n\x1b[48;5;196mred\x1b[K\x1b[0m\n\x1b[7mturned\x1b[0m\n\x1b[2;3;4;9ma b\x1b[0m\n\x1b[38;5;244mgrey").Screen(), Options{Title: "a <title> & \"more\"", Looks: Dark()}))
	if err := check([]byte(picture)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		">bold</text>", "{fill:#010203}", "font-weight:700", "{fill:#7dcfff}", "{fill:#ff0000}", "{fill:#16181d}", "{fill:#d5d8df}",
		"opacity:.6", "font-style:italic", "text-decoration:underline", "text-decoration:line-through", ">a\u00a0b</text>", "{fill:#808080}",
		"a &lt;title&gt; &amp; &quot;more&quot;", `textLength="33.6"`, `x="0" y="-15" width="168" height="20"`,
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("%q is missing in\n%s", want, picture)
		}
	}
}

// TestColumns checks that text begins in its column whatever is before it: blanks are not drawn,
// and characters that fonts draw differently stand alone.
func TestColumns(t *testing.T) {
	picture := string(Still(terminal(20, 2, "a b  c\n✓ x漢y").Screen(), Options{Looks: Light()}))
	for _, want := range []string{
		`<text x="0" textLength="25.2">a b</text>`, `<text x="42">c</text>`, `<text x="0">✓</text>`, `<text x="16.8">x</text>`, `<text x="25.2">漢</text>`, `<text x="42">y</text>`,
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("%q is missing in\n%s", want, picture)
		}
	}
}

// TestDrawings checks that lines and blocks are drawn, so that they join in every font.
func TestDrawings(t *testing.T) {
	picture := string(Still(terminal(40, 3, "╭──╮│┼╰╯ ▌▐▀▄█▁▏░▒▓ ▰▱ ⠙⣿ ▐▐▔").Screen(), Options{Looks: Dark()}))
	if err := check([]byte(picture)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(picture, "</text>\n<g") || strings.Count(picture, "<text") != 1 { // the title
		t.Error(picture)
	}
	if !strings.Contains(picture, "M8.4 -5h16.8") {
		t.Errorf("─ is not one line in\n%s", picture)
	}
}

// TestAnimation checks the times of frames, that equal frames are merged and rows shared, and that
// viewers without animations show the last frame.
func TestAnimation(t *testing.T) {
	term := terminal(10, 3, "first")
	frames := []Frame{{term.Screen(), time.Second}, {term.Screen(), time.Second}}
	io.WriteString(term, "\nsecond")
	frames = append(frames, Frame{term.Screen(), 6 * time.Second})
	picture := string(Animation(frames, Options{Looks: Dark()}))
	for _, want := range []string{
		"animation:frames 8s step-end infinite", "@keyframes frames{0.000%{transform:translateY(-0px)}25.000%{transform:translateY(-60px)}}",
		".screen{transform:translateY(-60px)", "prefers-reduced-motion",
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("%q is missing in\n%s", want, picture)
		}
	}
	if strings.Count(picture, ">first<") != 1 || strings.Count(picture, `href="#r0"`) != 2 {
		t.Errorf("rows are not shared:\n%s", picture)
	}
	if Animation(nil, Options{}) != nil {
		t.Error("no frames make a picture")
	}
}

// FuzzStill checks that arbitrary output makes a well-formed picture.
func FuzzStill(f *testing.F) {
	f.Add("plain <&>\"", "\x1b[1;38;5;300mx")
	f.Add("\x1b[48;2;1;2mx\x1b[K\x1b[9999B\x1b[99999999999G", "\ufffe\uffff\x00\x1b]8;;")
	f.Add("\x1b[38;2;999;999;999mx\x1b[38m\x1b[48;5m", "漢\b\u0301\x1b[?1049h\x1b[?1049h\x1b[J")
	f.Fuzz(func(t *testing.T, one, two string) {
		term := terminal(12, 4, one)
		io.WriteString(term, two)
		if err := check(Still(term.Screen(), Options{Title: one, Looks: Dark()})); err != nil {
			t.Fatal(err)
		}
	})
}
