package term

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestBulkIsTheSame checks that the fast path gives the same result as processing one character
// at a time, however the text is split.
//
// Proves SHOUT-04.
func TestBulkIsTheSame(t *testing.T) {
	pieces := []string{
		"plain text", "a longer line of text that a program prints\n", "\n", "\r", "\r\n", "\t", "\x1b[31m", "\x1b]0;title\a", "é", "…",
		"\x7f", "\x00", "\x85", "\x8a", "\x89", "\xff", "\xe2\x80", "\x1b", " ", "~", "\x1f", "1234567", strings.Repeat("x", maxLine-3),
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")
		step := rapid.SampledFrom([]int{1, 2, 3, 7, 8, 9, 64, 32 << 10}).Draw(t, "step")
		var fast, slow strings.Builder
		a, b := NewCleaner(&fast), NewCleaner(&slow)
		for rest := text; rest != ""; {
			n := min(step, len(rest))
			a.Write([]byte(rest[:n])) // ok: a builder takes everything
			rest = rest[n:]
		}
		for rest := text; rest != ""; {
			r, size := utf8.DecodeRuneInString(rest)
			b.rune(r)
			rest = rest[size:]
		}
		a.Close() // ok: as above
		b.Close() // ok: as above
		if fast.String() != slow.String() {
			t.Fatalf("%q: %q, one by one %q", text, fast.String(), slow.String())
		}
	})
}

func TestOrdinary(t *testing.T) {
	for b := range 256 {
		for at := range 17 {
			text := []byte(strings.Repeat("a", 20))
			text[at] = byte(b)
			want := at
			if b >= ' ' && b < 0x7f || b == '\n' || b == '\t' {
				want = 20
			}
			if got := ordinary(text); got != want {
				t.Fatalf("%#x at %d: %d", b, at, got)
			}
		}
	}
}
