package regex

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"adze/internal/platform/search/regextest"

	"github.com/google/go-cmp/cmp"
)

func mustCompile(tb testing.TB, pattern string, o Options) *Query {
	tb.Helper()
	q, err := Compile(pattern, o)
	if err != nil {
		tb.Fatalf("Compile(%q): %v", pattern, err)
	}
	return q
}

func TestMatching(t *testing.T) {
	tests := []struct {
		name    string
		pattern string
		o       Options
		yes, no []string
	}{
		{"literal", "foo", Options{}, []string{"a foo", "foofoo"}, []string{"Foo", ""}},
		{"fixed", "a.b[", Options{Fixed: true}, []string{"xa.b[x"}, []string{"acb["}},
		{"fixed folded", "a.B", Options{Fixed: true, IgnoreCase: true}, []string{"A.b"}, []string{"axb"}},
		{"word", "foo", Options{Word: true}, []string{"foo", "a-foo b", "é foo"}, []string{"afoo", "foo_", "éfoo", "\xfffoo"}},
		{"folded beyond ASCII", "straßeσk", Options{IgnoreCase: true}, []string{"STRAẞEΣ\u212a", "straßeςK"}, []string{"STRASSEσk"}},
		{"inline flag", "(?i)ab(?-i)c", Options{}, []string{"ABc"}, []string{"ABC"}},
		{"flag of a group", "(?i:a)b", Options{}, []string{"Ab"}, []string{"AB"}},
		{"verbose", "(?x) a b # c\n | d [ e f ]", Options{}, []string{"ab", "de", "df"}, []string{"a b", "d "}},
		{"unicode digit", `^\d$`, Options{}, []string{"7", "٣"}, []string{"x", "½"}},
		{"unicode word", `^\w+$`, Options{}, []string{"aé_中9", "e\u0301"}, []string{"a b", "«"}},
		{"unicode space", `a\sb`, Options{}, []string{"a b", "a\u00a0b", "a\u2003b"}, []string{"ab"}},
		{"not a word", `^\W$`, Options{}, []string{" ", "«"}, []string{"é", "a", "\xff"}},
		{"boundary", `\bé\b`, Options{}, []string{"é", "a é b"}, []string{"aé", "éa", "éé"}},
		{"word start and end", `\<a.*b\>`, Options{}, []string{"a b", "x a,b."}, []string{"xa b", "a bx"}},
		{"named class", `^[[:alpha:]_[:^ascii:]]+$`, Options{}, []string{"aZ_é"}, []string{"a1"}},
		{"negated class folded", `^[[:^ascii:]]$`, Options{IgnoreCase: true}, []string{"é", "«"}, []string{"s", "K", "ſ", "\u212a"}},
		{"negated class of letters folded", `^[[:^alpha:]]$`, Options{IgnoreCase: true}, []string{"é", "7"}, []string{"s", "K", "ſ", "\u212a"}},
		{"property", `^\p{Lu}\pN\p{Greek}\P{L}$`, Options{}, []string{"A7σ-"}, []string{"a7σ-", "A7s-", "A7σa"}},
		{"long property", `^\p{Uppercase_Letter}\p{script=Greek}\p{gc:Nd}\p{alphabetic}$`, Options{}, []string{"Aσ7é"}, []string{"aσ7é"}},
		{"identifier", `^\p{ID_Start}\p{IDC}*$`, Options{}, []string{"aé9_", "日本", "\u037a", "\u309b"}, []string{"9", "a-b", "_", ""}},
		{"identifier in NFKC", `^\p{XIDS}\p{XID_Continue}*$`, Options{}, []string{"aé9_", "日本", "aำ"}, []string{"9", "\u037a", "\u309b", "a\u309b", "\u0e33"}},
		{"other properties", `^\p{isGreek}\p{Cased}\p{lower}\p{upper}\p{wspace}\p{Math}$`, Options{}, []string{"σAaA +"}, []string{"aAaA +", "σ1aA +", "σAAA +", "σAaa +", "σAaAa+", "σAaA a"}},
		{"intersection", `^[\w&&[^a-f]&&[:ascii:]]$`, Options{}, []string{"g", "9"}, []string{"a", "é"}},
		{"difference", `^[a-z--[aeiou]]$`, Options{}, []string{"b"}, []string{"a", "B"}},
		{"symmetric difference", `^[a-f~~d-h]$`, Options{}, []string{"a", "h"}, []string{"d", "z"}},
		{"bracket and hyphen first", `^[]a-]+[-b]$`, Options{}, []string{"]a--"}, []string{"c"}},
		{"escapes", `^\x41\x{e9}\u4e2d\U0001F600\t\.\/\-$`, Options{}, []string{"Aé中😀\t./-"}, nil},
		{"counts", `^a{2}b{1,2}c{2,}$`, Options{}, []string{"aabcc", "aabbccc"}, []string{"abcc", "aabbbcc", "aabc"}},
		{"carriage return is text", `o$`, Options{}, []string{"foo"}, []string{"foo\r"}},
		{"line ends per line", `\Afoo\z`, Options{}, []string{"foo"}, []string{"foox"}},
		{"invalid bytes", `a.b`, Options{}, []string{"a\u00ffb"}, []string{"a\xffb"}},
		{"empty", `x*`, Options{}, []string{"", "abc"}, nil},
		{"never", `[^\s\S]`, Options{}, nil, []string{"", "a"}},
		{"literal braces", `interface\{\}`, Options{}, []string{"interface{}"}, []string{"interface"}},
		{"closing braces", `a}]`, Options{}, []string{"a}]"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := mustCompile(t, tt.pattern, tt.o)
			for name, m := range variants(q) {
				for _, line := range tt.yes {
					if got := matching(m, []byte(line+"\n")); len(got) != 1 {
						t.Errorf("%s: %q does not match %q", name, tt.pattern, line)
					}
				}
				for _, line := range tt.no {
					if got := matching(m, []byte(line+"\n")); len(got) != 0 {
						t.Errorf("%s: %q matches %q", name, tt.pattern, line)
					}
				}
			}
		})
	}
}

// Proves ENG-03, GREP-05.
func TestErrors(t *testing.T) {
	tests := []struct{ name, pattern, want string }{
		{"look-ahead", "a(?=b)", `bad pattern at character 2 ((?=): look-ahead is not supported; make the look-ahead part of the pattern: (?:...)`},
		{"negative look-ahead", "é(?!b)", `bad pattern at character 2 ((?!): negative look-ahead is not supported; search for the text itself, and leave out lines in a second step`},
		{"look-behind", "(?<=b)a", `bad pattern at character 1 ((?<=): look-behind is not supported; make the look-behind part of the pattern: (?:...)`},
		{"negative look-behind", "(?<!b)a", `bad pattern at character 1 ((?<!): negative look-behind is not supported; search for the text itself, and leave out lines in a second step`},
		{"back-reference", `(a)\1`, `bad pattern at character 4 (\1): a back-reference is not supported; repeat the pattern instead`},
		{"named reference", `(?P<n>a)(?P=n)`, `bad pattern at character 9 ((?P=): a reference to a group is not supported; repeat the pattern instead`},
		{"atomic group", "(?>a)", `bad pattern at character 1 ((?>): an atomic group is not supported; write a plain group: (?:...)`},
		{"possessive", "ab*+", `bad pattern at character 4 (+): a possessive repetition is not supported; leave out the +, or write \+ to match a plus sign`},
		{"brace", "func() {", `bad pattern at character 8 ({): a repetition count is not a number; to match a brace, write \{`},
		{"brace alone", "{", `bad pattern at character 1 ({): there is nothing to repeat; to match a brace, write \{`},
		{"empty braces", "interface{}", `bad pattern at character 10 ({}): a repetition count is not a number; to match a brace, write \{`},
		{"open brace", "a{2", `bad pattern at character 2 ({2): this repetition count is not closed; to match a brace, write \{`},
		{"backward count", "a{3,2}", `bad pattern at character 2 ({3,2): the least count is above the greatest`},
		{"bracket", "a[b", `bad pattern at character 2 ([): this bracket is not closed; to match a bracket, write \[`},
		{"backward range", "[z-a]", `bad pattern at character 2 (z-a): this range is backwards; to match a hyphen, write \-`},
		{"range of classes", `[a-\d]`, `bad pattern at character 2 (a-\d): a range goes from character to character; to match a hyphen, write \-`},
		{"group", "(a", `bad pattern at character 1 ((): this group is not closed; to match a parenthesis, write \(`},
		{"closed group", "a)", `bad pattern at character 2 ()): a group is closed that was not opened; to match a parenthesis, write \)`},
		{"star", "*a", `bad pattern at character 1 (*): there is nothing to repeat; to match the character itself, write \*`},
		{"escape", `\y`, `bad pattern at character 1 (\y): this escape is not known; to match a backslash, write \\`},
		{"nearest escape", `a\Z`, `bad pattern at character 2 (\Z): this escape is not supported; the nearest is \z or $`},
		{"backslash", `a\`, `bad pattern at character 2 (\): a backslash ends the pattern; to match a backslash, write \\`},
		{"property", `\p{Foo}`, `bad pattern at character 1 (\p{Foo}): this Unicode property is not known; known are general categories such as \p{Lu} and scripts such as \p{Greek}`},
		{"flag", `(?z)a`, `bad pattern at character 3 (z): this is not a flag; flags are i, m, s, U and x; a plain group is (?:...)`},
		{"no unicode", `(?-u)a`, `bad pattern at character 4 (u): matching without Unicode is not supported; leave out the flag u`},
		{"hex", `\x4`, `bad pattern at character 1 (\x4): there are too few digits; write \x{41}`},
		{"surrogate", `\x{d800}`, `bad pattern at character 1 (\x{d800}): this is not the number of a character; write \x{41}`},
		{"line feed", `ab\nc`, `bad pattern at character 3: a line end cannot match, since lines are searched one by one; use multiline to match across lines`},
		{"line feed itself", "a\nc", `bad pattern at character 2: a line end cannot match, since lines are searched one by one; use multiline to match across lines`},
		{"class of line feeds", `a[\n]`, `bad pattern at character 2: a line end cannot match, since lines are searched one by one; use multiline to match across lines`},
		{"invalid", "a\xff", `bad pattern at character 2: the pattern is not valid UTF-8`},
		{"too large", `\w{1000}{1000}`, `bad pattern at character 1: the pattern is too large: use smaller repetition counts`},
		{"too large a count", `a{9999999999}`, `bad pattern at character 2 ({9999999999): this repetition count is too large; use + or *`},
		{"too deep", strings.Repeat("(", 300) + strings.Repeat(")", 300), `bad pattern at character 251 ((): groups are nested too deep`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Compile(tt.pattern, Options{})
			var bad *Error
			if !errors.As(err, &bad) {
				t.Fatalf("Compile(%q) = %v, want an *Error", tt.pattern, err)
			}
			if diff := cmp.Diff(tt.want, bad.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFind(t *testing.T) {
	tests := []struct {
		name, pattern, text string
		o                   Options
		want                [2]int
		missing             bool
	}{
		{"literal", "bc", "abcd", Options{}, [2]int{1, 3}, false},
		{"first alternative", "a|ab", "xab", Options{}, [2]int{1, 2}, false},
		{"leftmost", "abcd|c", "abcd", Options{}, [2]int{0, 4}, false},
		{"greedy", "a.*c", "abcbcd", Options{}, [2]int{0, 5}, false},
		{"lazy", "a.*?c", "abcbcd", Options{}, [2]int{0, 3}, false},
		{"swapped", "(?U)a.*c", "abcbcd", Options{}, [2]int{0, 3}, false},
		{"boundary beyond ASCII", `\bb`, "éb b", Options{}, [2]int{4, 5}, false},
		{"across lines", `a.b`, "xa\nb", Options{Multiline: true}, [2]int{1, 4}, false},
		{"line feed", `a\nb`, "xa\nb", Options{Multiline: true}, [2]int{1, 4}, false},
		{"dot without line end", `(?-s)a.*\n.*b`, "a1\n2\na3\n4b", Options{Multiline: true}, [2]int{5, 10}, false},
		{"line start", `^b\n`, "ab\nb\n", Options{Multiline: true}, [2]int{3, 5}, false},
		{"text start", `\Ab\n`, "ab\nb\n", Options{Multiline: true}, [2]int{}, true},
		{"text end", `b\n\z`, "b\nb\n", Options{Multiline: true}, [2]int{2, 4}, false},
		{"nothing", `a\nc`, "a\nb\nc", Options{Multiline: true}, [2]int{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, m := range variants(mustCompile(t, tt.pattern, tt.o)) {
				start, end, ok := m.Find(t.Context(), []byte(tt.text), 0)
				if ok == tt.missing || ok && [2]int{start, end} != tt.want {
					t.Errorf("%s: got %d, %d, %t", name, start, end, ok)
				}
			}
		})
	}
}

// TestNeeds checks that a text without the grams has no match.
func TestNeeds(t *testing.T) {
	m := regextest.New(11)
	useful := 0
	tries := regextest.Times(3000)
	for range tries {
		o := Options{IgnoreCase: m.IntN(3) == 0, Multiline: m.IntN(4) == 0}
		q := mustCompile(t, m.Pattern(), o)
		if len(q.Needs()) > 0 {
			useful++
		}
		text := []byte(m.Text(120))
		has := gramsOf(text)
		if _, _, ok := q.NewMatcher().Find(t.Context(), text, 0); ok && !meets(q.Needs(), has) {
			t.Fatalf("needs %x, but matches %q", q.Needs(), text)
		}
	}
	if useful < tries/10 {
		t.Errorf("only %d of %d patterns need anything", useful, tries)
	}
}

func gramsOf(text []byte) map[Gram]bool {
	out := map[Gram]bool{}
	run := Gram(0)
	for i, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		run = run<<8 | Gram(c)
		if i >= 2 {
			out[run&0xffffff] = true
		}
		if i >= 3 {
			out[run] = true
		}
	}
	return out
}

func meets(needs []Need, has map[Gram]bool) bool {
	for _, need := range needs {
		some := false
		for _, all := range need {
			every := true
			for _, t := range all {
				every = every && has[t]
			}
			some = some || every
		}
		if !some {
			return false
		}
	}
	return true
}

func TestNeedsOf(t *testing.T) {
	gram := func(s string) (g Gram) {
		for _, c := range s {
			g = g<<8 | Gram(c)
		}
		return g
	}
	tests := []struct {
		pattern string
		o       Options
		want    []Need
	}{
		{"Abcd", Options{}, []Need{{{gram("abc"), gram("bcd"), gram("abcd")}}}},
		{"abc", Options{IgnoreCase: true}, []Need{{{gram("abc")}}}},
		{"abc|def", Options{}, []Need{{{gram("abc")}, {gram("def")}}}},
		{`abc\w+def`, Options{}, []Need{{{gram("abc")}}, {{gram("def")}}}},
		{"ab", Options{}, nil},
		{`\w+`, Options{}, nil},
	}
	for _, tt := range tests {
		got := mustCompile(t, tt.pattern, tt.o).Needs()
		for _, want := range tt.want {
			if !containsNeed(got, want) {
				t.Errorf("%q needs %x, want also %x", tt.pattern, got, want)
			}
		}
		if tt.want == nil && got != nil {
			t.Errorf("%q needs %x, want nothing", tt.pattern, got)
		}
	}
}

// TestPlaces checks the prefilter of patterns.
//
// Proves GREP-08.
func TestPlaces(t *testing.T) {
	tests := []struct {
		pattern      string
		prefix, tail bool
		found        string // finder hits in the text
		text         string
	}{
		{`\)\s*\{$`, true, false, ") {", "f(a), (b)) {"},
		{`\w+\s*=\s*\d+`, false, true, "= 1", "f(a, b) = 1"},
		{`Handler\b.*x`, true, false, "Handler", "a Handler"},
		{`[a-z]+Handler`, false, true, "Handler", "a Handler"},
		{`(a|b)*`, false, false, "", ""},
	}
	for _, tt := range tests {
		p := mustCompile(t, tt.pattern, Options{}).prefilter
		if tt.found == "" {
			if p != nil {
				t.Errorf("%s: there is something to look for", tt.pattern)
			}
			continue
		}
		if p == nil || p.prefix != tt.prefix || (p.tail != nil) != tt.tail {
			t.Errorf("%s: got %+v", tt.pattern, p)
			continue
		}
		if at := p.finder.Next([]byte(tt.text), 0); at < 0 || !strings.HasPrefix(tt.text[at:], tt.found) {
			t.Errorf("%s in %s: found at %d", tt.pattern, tt.text, at)
		}
	}
}

func containsNeed(needs []Need, want Need) bool {
	for _, n := range needs {
		if equalNeeds(n, want) {
			return true
		}
	}
	return false
}

// TestClasses tests every character.
func TestClasses(t *testing.T) {
	for _, pattern := range []string{`\w`, `\W`, `\d`, `\s`, `\pL`, `[^é]`, `(?i)[k-ß]`, `[\x{7ff}-\x{800}\x{ffff}-\x{10000}]`, `.`} {
		set, err := parse(pattern, flags{})
		if err != nil {
			t.Fatal(err)
		}
		m := mustCompile(t, "^"+pattern+"$", Options{}).NewMatcher()
		var line []byte
		for r := rune(0); r <= utf8.MaxRune; r++ {
			if regextest.Race && r%16 > 0 || !utf8.ValidRune(r) || r == '\n' {
				continue
			}
			line = utf8.AppendRune(line[:0], r)
			if got, want := m.dfa.lineMatches(line) == matched, set.set.has(r); got != want {
				t.Fatalf("%s matches %U: %t, want %t", pattern, r, got, want)
			}
		}
	}
}

// TestLinear runs patterns that take exponential time with backtracking.
func TestLinear(t *testing.T) {
	text := []byte(strings.Repeat("a", regextest.Times(200_000)) + "\n")
	for _, pattern := range []string{`(a*)*b`, `(a|a)*b`, `(a|aa)+$b`, `(x+x+)+y|a{0,50}b`, `(.*)(.*)(.*)(.*)(.*)[b-z]$`, `\b(a+)+\b!`} {
		for name, m := range variants(mustCompile(t, pattern, Options{})) {
			if got := matching(m, text); got != nil {
				t.Errorf("%s: %q matches", name, pattern)
			}
		}
		q := mustCompile(t, pattern, Options{})
		if got := byThreads(q, text); got != nil {
			t.Errorf("threads: %q matches", pattern)
		}
	}
}

// countdown is a context that is canceled after n checks.
type countdown struct {
	context.Context
	n int
}

func (c *countdown) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancel interrupts the search of one long line, for which a new state is built at every
// byte.
func TestCancel(t *testing.T) {
	m := regextest.New(12)
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = "ab"[m.IntN(2)]
	}
	for name, m := range variants(mustCompile(t, `a[ab]{70}[x-z]`, Options{})) {
		if name == "plain" || name == "portable" { // reject a text without x immediately
			continue
		}
		m.Start(&countdown{t.Context(), 2}, text)
		if _, _, ok := m.Next(); ok || !errors.Is(m.Err(), context.Canceled) {
			t.Errorf("%s: found %t, error %v", name, ok, m.Err())
		}
		m.Start(t.Context(), []byte("x\n"))
		if _, _, ok := m.Next(); ok || m.Err() != nil {
			t.Errorf("%s: the next search: found %t, error %v", name, ok, m.Err())
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, pattern := range []string{`a|b*?`, `[^\w&&[a-z]]{2,3}`, `(?i)straße\b`, `(?x) a # b`, `\p{Greek}+$`, `a{2}{3}`, `[[:alpha:]-z]`, `\w+\s*=\s*a`, `e\s*A`} {
		f.Add(pattern, "some straße Aab\nσσ", uint8(0))
		f.Add(pattern, "some straße Aab\nσσ", uint8(16))
	}
	f.Fuzz(func(t *testing.T, pattern, text string, options uint8) {
		o := Options{
			IgnoreCase: options&1 != 0, Multiline: options&2 != 0, Fixed: options&4 != 0, Word: options&8 != 0,
			eager: options&16 != 0,
		}
		q, err := Compile(pattern, o)
		if err != nil {
			if err.Error() == "" {
				t.Error("empty error")
			}
			return
		}
		if len(q.program.insts) > 2000 || len(text) > 2000 || q.Spanning() {
			return
		}
		want := byThreads(q, []byte(text))
		for name, m := range variants(q) {
			if diff := cmp.Diff(want, matching(m, []byte(text))); diff != "" {
				t.Errorf("%s: %+v %q on %q:\n%s", name, o, pattern, text, diff)
			}
		}
	})
}
