package keys

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// captured lists sequences sent by terminals, with their meaning.
var captured = []struct{ terminal, bytes, want string }{
	{"xterm", "\x1b[A\x1b[B\x1b[C\x1b[D\x1bOA\x1bOH\x1bOF\x1b[H\x1b[F", "up|down|right|left|up|home|end|home|end"},
	{"xterm", "\x1bOP\x1bOQ\x1bOR\x1bOS\x1b[15~\x1b[17~\x1b[24~", "f1|f2|f3|f4|f5|f6|f12"},
	{"xterm", "\x1b[1;5D\x1b[1;3C\x1b[1;2A\x1b[1;6H\x1b[3;5~\x1b[5~\x1b[6;3~\x1b[Z", "ctrl+left|alt+right|shift+up|ctrl+shift+home|ctrl+delete|pageup|alt+pagedown|shift+tab"},
	{"xterm", "\x1b[1;5P\x1b[2~\x1bOM\x1bOk\x1b[1;9A", "ctrl+f1|insert|enter|+|super+up"},
	{"xterm, other keys", "\x1b[27;5;9~\x1b[27;2;13~\x1b[27;5;13~\x1b[27;6;90~\x1b[27;3;120~", "ctrl+tab|shift+enter|ctrl+enter|ctrl+shift+z|alt+x"},
	{"xterm, replies", "a\x1b[?62;22c\x1b[>41;330;0c\x1b[24;80R\x1b[?2026;2$y\x1b]11;rgb:0000/0000/0000\x1b\\\x1bP1$r0m\x1b\\b", "a|b"},
	{"VTE", "\x1b\r\x1b\x7f\x1bb\x1bB\x1b[1;2D\x08\x7f", "alt+enter|alt+backspace|alt+b|alt+shift+b|shift+left|backspace|backspace"},
	{"VTE, replies", "\x1b[?65;1;9c\x1bP!|7E565445\x1b\\\x1b]10;rgb:d3d3/d7d7/cfcf\ax", "x"},
	{"kitty", "\x1b[27u\x1b[99;5u\x1b[13;2u\x1b[9;5u\x1b[127;3u\x1b[97;7u\x1b[32;5u", "escape|ctrl+c|shift+enter|ctrl+tab|alt+backspace|ctrl+alt+a|ctrl+space"},
	{"kitty", "\x1b[45;6u\x1b[97;2u\x1b[97:65;2u\x1b[233;2u\x1b[107;9u\x1b[97;1:3u\x1b[97;5:2u", "ctrl+shift+-|shift+a \"A\"|shift+a \"A\"|shift+é \"É\"|super+k|ctrl+a"},
	{"kitty, keypad", "\x1b[57414u\x1b[57400u\x1b[57417u\x1b[57376u\x1b[57441;2u\x1b[57398u\x1b[1;1:3A\x1b[1;129B", "enter|1|left|f13|f35|down"},
	{"kitty, replies", "\x1b[?1u\x1b_Gi=31;OK\x1b\\y", "y"},
	{"iTerm2", "\x1b\x1b[A\x1b\x1b[D\x1b\x1bOP\x1bf\x1b[1;10C", "alt+up|alt+left|alt+f1|alt+f|shift+super+right"},
	{"iTerm2, replies", "\x1b]1337;ReportCellSize=17.0;8.0;2.0\a\x1b[I\x1b[O\x1b[8;24;80tz", "focus in|focus out|z"},
	{"Windows Terminal", "\x1b[1;5A\x1b[3~\x1b[13;28;13;1;0;1_\x00\x1bOD\x1b[E", "ctrl+up|delete|ctrl+space|left"},
	{"tmux", "\x1b[1~\x1b[4~\x1b[1;5C\x1b\x1b[A\x1bOP\x1b[13;5u\x1b[200~a\rb\x1b[201~c", "home|end|ctrl+right|alt+up|f1|ctrl+enter|paste \"a\\rb\"|c"},
	{"screen", "\x1bOA\x1b[1~\x1b[4~\x1b[3~\x1bk\x1bz", "up|home|end|delete|alt+k|alt+z"},
	{"linux", "\x1b[[A\x1b[[E\x1b[17~\x1b[1~\x1b[4~\x1b[25~\x1bx\x1b[G", "f1|f5|f6|home|end|f13|alt+x"},
	{"any", "\x01\x02\x0a\x0d\x09\x1c\x1f\x00é漢👍 A?\xffz", "ctrl+a|ctrl+b|ctrl+j|enter|tab|ctrl+\\|ctrl+_|ctrl+space|é|漢|👍|space \" \"|shift+a \"A\"|?|\uFFFD|z"},
	{"any, cut off", "\x1b[1;\x1b[A\x1b[12\rx\x1b]0;t\x1b[Bq\x1b[\x18w", "up|enter|x|down|q|ctrl+x|w"},
	{"rxvt", "\x1b[3$\x1b[7~", "shift+delete|home"},
	{"a paste", "\x1b[200~one\x1b[A\x1b[200~\r\x03\x1b[201\x1b[201~\r", "paste \"one\\x1b[A\\x1b[200~\\r\\x03\\x1b[201\"|enter"},
	{"Ctrl-C after Escape", "\x1b\x03", "escape|ctrl+c"},
	{"a control character in UTF-8", "a\u009b31mb", "a|3|1|m|b"},
}

func show(events []Event) string {
	var all []string
	for _, ev := range events {
		all = append(all, ev.String())
	}
	return strings.Join(all, "|")
}

// TestTerminals checks that terminal input decodes the same wherever it is split, regardless of
// pauses.
//
// Proves X-120.
func TestTerminals(t *testing.T) {
	for _, tt := range captured {
		for cut := range len(tt.bytes) {
			var d Decoder
			now := time.Unix(0, 0)
			events := d.Decode([]byte(tt.bytes[:cut]), now)
			events = append(events, d.Decode([]byte(tt.bytes[cut:]), now.Add(time.Second))...)
			if got := show(events); got != tt.want {
				t.Errorf("%s, cut at %d of %q:\n%s, not\n%s", tt.terminal, cut, tt.bytes, got, tt.want)
			}
			if d.Wait() != 0 {
				t.Errorf("%s: something is left", tt.terminal)
			}
		}
		var d Decoder
		var events []Event
		for i := range len(tt.bytes) {
			events = append(events, d.Decode([]byte(tt.bytes[i:i+1]), time.Unix(int64(i), 0))...)
		}
		if got := show(events); got != tt.want && !strings.Contains(tt.bytes, "\x03") {
			t.Errorf("%s, byte by byte:\n%s, not\n%s", tt.terminal, got, tt.want)
		}
	}
}

// TestModifiers checks that modifiers are recognized where the terminal reports them, with
// Kitty or xterm codes. Key releases and lone modifier keys are ignored; a repeat counts as a
// press. In a terminal without such codes, Ctrl+I is Tab and Shift+Enter is Enter.
//
// Proves X-128.
func TestModifiers(t *testing.T) {
	for _, tt := range []struct{ name, bytes, want string }{
		{"Shift+Enter", "\x1b[13;2u\x1b[27;2;13~\r", "shift+enter|shift+enter|enter"},
		{"Ctrl+Enter, Alt+Enter", "\x1b[13;5u\x1b[13;3u\x1b\r", "ctrl+enter|alt+enter|alt+enter"},
		{"Ctrl+I and Tab", "\x1b[105;5u\x1b[27;5;105~\t\x1b[9u\x1b[Z\x1b[9;2u\x1b[9;5u", "ctrl+i|ctrl+i|tab|tab|shift+tab|shift+tab|ctrl+tab"},
		{"Ctrl+M and Enter", "\x1b[109;5u\x1b[13u\r", "ctrl+m|enter|enter"},
		{"Ctrl+[ and Escape", "\x1b[91;5u\x1b[27u", "ctrl+[|escape"},
		{"all that can be held", "\x1b[97;8u\x1b[97;9u\x1b[97;16u", "ctrl+alt+shift+a|super+a|ctrl+alt+shift+super+a"},
		{"locks count for nothing", "\x1b[97;65u\x1b[97;133u\x1b[13;66u", "a|ctrl+a|shift+enter"},
		{"pressed, repeated, let go", "\x1b[97;1:1u\x1b[97;1:2u\x1b[97;1:3u\x1b[13;2:1u\x1b[13;2:3u\x1b[1;5:1A\x1b[1;5:2A\x1b[1;5:3A\x1b[3;2:3~", "a|a|shift+enter|ctrl+up|ctrl+up"},
		{"a key alone that changes others", "\x1b[57441;2:1u\x1b[57442;5u\x1b[57443;3u\x1b[57444;9:3u\x1b[57358u", ""},
		{"the text that was typed", "\x1b[97;2;65u\x1b[229;1;229u", "shift+a \"A\"|å"},
	} {
		var d Decoder
		if got := show(d.Decode([]byte(tt.bytes), time.Time{})); got != tt.want {
			t.Errorf("%s:\n%s, not\n%s", tt.name, got, tt.want)
		}
	}
}

// TestIncomplete checks that an escape is a key only if nothing follows it, and that a partial
// sequence is never typed.
//
// Proves X-120.
func TestIncomplete(t *testing.T) {
	for _, tt := range []struct {
		bytes string
		wait  time.Duration
		want  string
	}{
		{"\x1b", escapeWait, "escape"}, {"\x1b\x1b", escapeWait, "escape|escape"}, {"\x1b[", sequenceWait, ""}, {"\x1b[1;5", sequenceWait, ""},
		{"\x1b]11;rgb:00", sequenceWait, ""}, {"\x1b]11;rgb:00\x1b", sequenceWait, ""}, {"\x1bP1$r", sequenceWait, ""}, {"\x1bO", sequenceWait, ""},
		{"\xe6\xbc", sequenceWait, ""}, {"\x1b[200~text", 0, ""}, {"\x1b[[", sequenceWait, ""}, {"", 0, ""},
	} {
		var d Decoder
		if got := d.Decode([]byte(tt.bytes), time.Time{}); len(got) > 0 || d.Wait() != tt.wait {
			t.Errorf("%q: %v, wait %v", tt.bytes, got, d.Wait())
		}
		if tt.wait == 0 {
			continue
		}
		if got := show(d.Flush(time.Time{})); got != tt.want || d.Wait() != 0 {
			t.Errorf("%q is left as %q, wait %v", tt.bytes, got, d.Wait())
		}
		if got := show(d.Decode([]byte("x"), time.Time{})); got != "x" {
			t.Errorf("after %q: %q", tt.bytes, got)
		}
	}
	d := Decoder{Remote: true}
	if d.Decode([]byte("\x1b"), time.Time{}); d.Wait() != remoteWait {
		t.Errorf("over a network: %v", d.Wait())
	}
	d.Flush(time.Time{})
	// If the terminal sends Escape as a code, a lone escape is not a key; in another terminal
	// it is one again.
	d.Decode([]byte("\x1b[27u\x1b"), time.Time{})
	if d.Wait() != sequenceWait {
		t.Errorf("with codes: %v", d.Wait())
	}
	if got := show(d.Flush(time.Time{})); got != "escape" {
		t.Errorf("with codes: %q", got)
	}
	if d.Decode([]byte("\x1b"), time.Time{}); d.Wait() != remoteWait {
		t.Errorf("without codes again: %v", d.Wait())
	}
}

// TestReplies checks that a reply of the terminal is passed on however it arrives, and that keys
// around it, or after one that is cut off, are not lost.
//
// Proves X-120, X-124.
func TestReplies(t *testing.T) {
	for _, tt := range []struct{ bytes, replies, want string }{
		{"a\x1b]11;rgb:0000/0000/0000\x1b\\b", "11;rgb:0000/0000/0000|", "a|b"},
		{"a\x1b]11;rgb:0000/0000/0000\ab\x1b]4;1;x\a", "11;rgb:0000/0000/0000|4;1;x|", "a|b"},
		{"\x1b]11;rgb:0000\x03x", "", "ctrl+c|x"},
		{"\x1b]11;rgb:0000\rx", "", "enter|x"},
		{"\x1b]11;rgb:0000\x1b[Ax", "", "up|x"},
		{"\x1b]11;" + strings.Repeat("x", 1<<20) + "\ay", "", "y"},
		{"\x1b[200~\x1b]11;rgb:0000/0000/0000\a\x1b[201~z", "", `paste "\x1b]11;rgb:0000/0000/0000\a"|z`},
		{"\x1bP11;rgb:0000/0000/0000\x1b\\z", "", "z"},
	} {
		for cut := range min(len(tt.bytes), 100) {
			var got string
			d := Decoder{Reply: func(text string) { got += text + "|" }}
			events := append(d.Decode([]byte(tt.bytes[:cut]), time.Time{}), d.Decode([]byte(tt.bytes[cut:]), time.Time{})...)
			if got != tt.replies || show(events) != tt.want {
				t.Errorf("%.60q cut at %d: %q and %q", tt.bytes, cut, got, show(events))
			}
		}
	}
}

// TestPasteEnds checks that a paste with a lost end marker does not lock the user out, and that
// an overlong paste arrives in parts but never as keys.
func TestPasteEnds(t *testing.T) {
	var d Decoder
	now := time.Unix(0, 0)
	d.Decode([]byte("\x1b[200~lost"), now)
	if got := d.Decode([]byte{3}, now.Add(time.Millisecond)); len(got) > 0 {
		t.Errorf("in a paste: %v", got)
	}
	if got := show(d.Decode([]byte{3}, now.Add(2*time.Second))); got != `paste "lost\x03"` {
		t.Errorf("after silence: %s", got)
	}
	if got := show(d.Decode([]byte{3}, now.Add(3*time.Second))); got != "ctrl+c" {
		t.Errorf("after that: %s", got)
	}

	long := strings.Repeat("漢字\r", (maxPaste+1000)/7)
	var all strings.Builder
	data := []byte("\x1b[200~" + long + "\x1b[201~")
	for len(data) > 0 {
		n := min(len(data), 64<<10)
		for _, ev := range d.Decode(data[:n], now) {
			if ev.Kind != Paste {
				t.Fatalf("%v", ev)
			}
			all.WriteString(ev.Text)
		}
		data = data[n:]
	}
	if all.String() != long {
		t.Errorf("%d bytes of %d", all.Len(), len(long))
	}
}

// FuzzDecoder checks that random bytes neither panic nor submit, that they decode the same
// however they arrive, and that little of them is retained.
func FuzzDecoder(f *testing.F) {
	for _, tt := range captured {
		f.Add([]byte(tt.bytes), len(tt.bytes)/2)
	}
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		if cut < 0 || cut >= len(data) {
			cut = 0
		}
		var whole, parts Decoder
		want := whole.Decode(data, time.Time{})
		got := append(parts.Decode(data[:cut], time.Time{}), parts.Decode(data[cut:], time.Time{})...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("cut at %d (-whole +parts):\n%s", cut, diff)
		}
		if len(parts.rest) > maxSequence+8 {
			t.Errorf("%d bytes are kept", len(parts.rest))
		}
		enter := bytes.ContainsAny(data, "\r") || bytes.Contains(data, []byte("13")) || bytes.Contains(data, []byte("57414")) || bytes.Contains(data, []byte("M"))
		for _, ev := range append(got, parts.Flush(time.Time{})...) {
			if ev.Key.Name == "enter" && !enter && !bytes.Contains(data, []byte("\x1b\n")) {
				t.Errorf("%q submits", data)
			}
			if ev.Kind == Press && strings.ContainsFunc(ev.Text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("%v types a control character", ev)
			}
		}
	})
}

func BenchmarkPaste(b *testing.B) {
	text := bytes.Repeat([]byte("a line of what is pasted\r"), 1<<20/25)
	data := slicesOf(append(append([]byte("\x1b[200~"), text...), "\x1b[201~"...), 4096)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var d Decoder
		for _, part := range data {
			d.Decode(part, time.Time{})
		}
	}
}

func slicesOf(data []byte, n int) (parts [][]byte) {
	for len(data) > 0 {
		parts = append(parts, data[:min(n, len(data))])
		data = data[min(n, len(data)):]
	}
	return parts
}

func ExampleDecoder() {
	var d Decoder
	fmt.Println(d.Decode([]byte("a\x1b[1;5C\x1b[200~x\ry\x1b[201~"), time.Time{}))
	// Output: [a ctrl+right paste "x\ry"]
}
