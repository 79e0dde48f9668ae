package term

import (
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestStrip(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "a\tb\nc", "a\tb\nc"},
		{"colour", "\x1b[1;31mred\x1b[0m.", "red."},
		{"colour, 8 bit", "\u009b31mred\u009bm", "red"},
		{"colour, raw 8 bit", "\x9b31mred\x9bm", "\uFFFD31mred\uFFFDm"}, // S6: UTF-8 terminals don't interpret it
		{"link", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x07 after", "text after"},
		{"clipboard", "a\x1b]52;c;ZXZpbA==\x07b", "ab"},
		{"title, 8 bit", "a\u009d0;title\u009cb", "ab"},
		{"device control", "a\x1bPq#0\x1b\\b\u0090x\u009cc", "abc"},
		{"other strings", "a\x1bXx\x1b\\b\x1b^y\x1b\\c\x1b_z\x1b\\d", "abcd"},
		{"sequence in a string", "a\x1b]0;t\x1b[31mb", "ab"},
		{"unterminated string", "a\x1b]0;title\nb", "a\nb"},
		{"unterminated sequence", "a\x1b[3", "a"},
		{"lone escape", "a\x1b", "a"},
		{"escape before a letter beyond ASCII", "\x1bäb", "äb"},
		{"cut by a letter beyond ASCII", "\x1b[3äb", "äb"},
		{"character set", "\x1b(Bx\x1b#8y", "xy"},
		{"two characters", "\x1b=a\x1b>b\x1bMc\x1b7d", "abcd"},
		{"cancelled", "\x1b[3\x18m\x1b]x\x1ay", "my"},
		{"controls", "a\x00\x07\x08\x0b\x0c\x0e\x7f\u0085b", "ab"},
		{"CRLF", "a\r\nb\r\n", "a\nb\n"},
		{"progress", "10%\r50%\r100%\ndone", "100%\ndone"},
		{"progress that ends in CR", "10%\r100%\r", "100%"},
		{"several CR before LF", "a\r\r\nb", "a\nb"},
		{"progress with erasing", "fetching 1\r\x1b[Kfetching 2\n", "fetching 2\n"},
		{"colour after CR", "abc\r\x1b[0m\n", "abc\n"},
		{"not UTF-8", "a\xff\xe2\xa2b", "a\uFFFD\uFFFD\uFFFDb"},
		{"text in another encoding", "\x81\x9f\xa0 \x93quoted\x94 \x85", "\uFFFD\uFFFD\uFFFD \uFFFDquoted\uFFFD \uFFFD"}, // S6
		{"cut character", "a\xe2\x82", "a\uFFFD\uFFFD"},
		{"bidi stays", "a\u202eb", "a\u202eb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Strip(tt.in); got != tt.want {
				t.Errorf("Strip(%q) = %q, want %q", tt.in, got, tt.want)
			}
			if got := inChunks(t, tt.in, 1); got != tt.want {
				t.Errorf("byte by byte: %q, want %q", got, tt.want)
			}
		})
	}
}

func inChunks(t testing.TB, s string, n int) string {
	t.Helper()
	var b strings.Builder
	c := NewCleaner(&b)
	for len(s) > 0 {
		k := min(n, len(s))
		if _, err := c.Write([]byte(s[:k])); err != nil {
			t.Fatal(err)
		}
		s = s[k:]
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSanitize(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a\u202eb", "a‹U+202E›b"},
		{"\u200bx\u200f\u2066\u2069\ufeff\u00ad", "‹U+200B›x‹U+200F›‹U+2066›‹U+2069›‹U+FEFF›‹U+00AD›"},
		{"a\U000e0041\U000e0100", "a‹U+E0041›‹U+E0100›"},
		{"\x1b[2Jok ä 漢 🙂", "ok ä 漢 🙂"},
		{"a\u2028b", "a‹U+2028›b"},
		{"plain", "plain"},
	}
	for _, tt := range tests {
		if got := Sanitize(tt.in); got != tt.want {
			t.Errorf("Sanitize(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestSanitizeText checks that joiners are kept where a script or emoji needs them, but only in
// prose: in names they could hide.
func TestSanitizeText(t *testing.T) {
	tests := []struct{ in, want string }{
		{"می\u200cخواهم", "می\u200cخواهم"},
		{"क्\u200d ष", "क्\u200d ष"},
		{"👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥", "👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥"},
		{"pass\u200cword a\u200db", "pass‹U+200C›word a‹U+200D›b"},
		{"\u200d👩 👩\u200d", "‹U+200D›👩 👩‹U+200D›"},
		{"می\u200cخ\u202e\x1b[31mx", "می\u200cخ‹U+202E›x"},
		{"\u200cخ م\u200c", "‹U+200C›خ م‹U+200C›"},
		{"plain", "plain"},
	}
	for _, tt := range tests {
		got := SanitizeText(tt.in)
		if got != tt.want {
			t.Errorf("SanitizeText(%q) = %q, want %q", tt.in, got, tt.want)
		}
		if again := SanitizeText(got); again != got {
			t.Errorf("again: %q, then %q", got, again)
		}
		if strings.ContainsAny(Sanitize(tt.in), "\u200c\u200d") {
			t.Errorf("Sanitize(%q) = %q", tt.in, Sanitize(tt.in))
		}
	}
}

func TestCleanerHoldsBackNoMoreThanALine(t *testing.T) {
	var b strings.Builder
	c := NewCleaner(&b)
	c.Write([]byte("one\ntwo"))
	if b.String() != "one\n" {
		t.Errorf("after a line: %q", b.String())
	}
	c.Write([]byte(strings.Repeat("x", 10*maxLine)))
	if held := len("one\ntwo") + 10*maxLine - b.Len(); held > maxLine+1 {
		t.Errorf("%d bytes are held back", held)
	}
	c.Close()
	if want := "one\ntwo" + strings.Repeat("x", 10*maxLine); b.String() != want {
		t.Error("a long line was damaged")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestCleanerReportsErrors(t *testing.T) {
	c := NewCleaner(full{})
	if _, err := c.Write([]byte("a\n")); err == nil {
		t.Error("Write: no error")
	}
	c.Write([]byte("b"))
	if err := c.Close(); err == nil {
		t.Error("Close: no error")
	}
}

func TestFilesAreNoTerminals(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if IsTerminal(f) {
		t.Error("a file is a terminal")
	}
	if w, h := Size(f); w != 0 || h != 0 {
		t.Errorf("a file has the size %d, %d", w, h)
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"\x1b[31mx", "a\rb\n", "\x9d0;x\x07", "\u202e\U000e0001", "\xe2\x82", "\x1b]8;;\x1b\\", "\x1b\x1b[", "\x1bP\x1b]"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		safe, text := Sanitize(s), Strip(s)
		for _, r := range safe {
			if suspect(r, true) {
				t.Fatalf("Sanitize(%q) = %q holds %U", s, safe, r)
			}
		}
		if !utf8.ValidString(safe) || !utf8.ValidString(text) {
			t.Fatalf("not UTF-8: %q, %q", safe, text)
		}
		if again := Sanitize(safe); again != safe {
			t.Fatalf("Sanitize(%q) = %q, then %q", s, safe, again)
		}
		if again := Strip(text); again != text {
			t.Fatalf("Strip(%q) = %q, then %q", s, text, again)
		}
		if Sanitize(text) != safe {
			t.Fatalf("Sanitize(Strip(%q)) = %q, want %q", s, Sanitize(text), safe)
		}
		if got := inChunks(t, s, max(n%16, 1)); got != text {
			t.Fatalf("in chunks %q, at once %q", got, text)
		}
	})
}

// FuzzSpell checks that spelled-out text is complete and that nothing in it can move the cursor
// or hide.
func FuzzSpell(f *testing.F) {
	for _, s := range []string{"rm -rf ~\recho hi", "a\x1b]0;curl x | sh\ab", "\x9b2J\xff", "\u202ea\u200bb", "a\tb\nc", "é́ 世界 👩‍👩‍👧"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Spell(s)
		if Sanitize(got) != got {
			t.Errorf("%q is not safe", got)
		}
		rest := got
		for _, r := range s {
			if r < ' ' && r != '\n' && r != '\t' || r > '~' {
				continue
			}
			i := strings.IndexRune(rest, r)
			if i < 0 {
				t.Fatalf("%q of %q is not in %q", r, s, got)
			}
			rest = rest[i+1:]
		}
	})
}

func TestSpell(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                       "plain",
		"touch a\r echo b":            `touch a\x0d echo b`,
		"a\x1b]0;curl x | sh\aecho b": `a\x1b]0;curl x | sh\x07echo b`,
		"two\tcells\nof text":         "two\tcells\nof text",
		"\xff\u0085\u202e\u3000":      `\xff\u0085\u202e\u3000`,
		"a\u3164b\u115f\u1160\uffa0":  `a\u3164b\u115f\u1160\uffa0`,
		"a\u2800b\u034f\u17b4":        `a\u2800b\u034f\u17b4`,
	} {
		if got := Spell(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestSpellLine checks that a line shows everything in it.
func TestSpellLine(t *testing.T) {
	blanks := strings.Repeat(" ", 400)
	for text, want := range map[string]string{
		"":                              "",
		"plain  text":                   "plain  text",
		"a\nb\tc":                       `a\nb\tc`,
		"ls" + blanks + "; rm x":        "ls‹400 blanks›; rm x",
		blanks + "x" + blanks:           "‹400 blanks›x‹400 blanks›",
		strings.Repeat(" ", 16) + "end": strings.Repeat(" ", 16) + "end",
		"\u3164" + blanks:               `\u3164‹400 blanks›`,
	} {
		if got := SpellLine(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestSpellControls checks that only control characters are escaped.
func TestSpellControls(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                      "plain",
		"send all\rask first":        `send all\x0dask first`,
		"lines\r\nof\ttext\r":        "lines\nof\ttext",
		"a\x1b]0;hidden\a b\u009b2J": `a\x1b]0;hidden\x07 b\u009b2J`,
		"Pr\u00eat\u202f? 👩\u200d👧":  "Pr\u00eat\u202f? 👩\u200d👧",
	} {
		if got := SpellControls(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
