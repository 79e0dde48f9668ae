package scan

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"adze/internal/platform/search/regex"
	"adze/internal/platform/search/regextest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func compile(tb testing.TB, pattern string, o regex.Options) *regex.Query {
	tb.Helper()
	q, err := regex.Compile(pattern, o)
	if err != nil {
		tb.Fatal(err)
	}
	return q
}

func search(tb testing.TB, s *Searcher, text string) (Stats, []Line) {
	tb.Helper()
	return searchIn(tb, s, strings.NewReader(text))
}

func searchIn(tb testing.TB, s *Searcher, file io.Reader) (Stats, []Line) {
	tb.Helper()
	var lines []Line
	stats, err := s.Search(tb.Context(), file, collect(&lines))
	if err != nil {
		tb.Fatal(err)
	}
	stats.Bytes = 0
	return stats, lines
}

// chunks is a reader that returns at most n bytes per read.
type chunks struct {
	io.Reader
	n int
}

func (c chunks) Read(p []byte) (int, error) { return c.Reader.Read(p[:min(len(p), c.n)]) }

// brief returns the lines as numbers and texts: "--" for a gap, ":" for a match, "-" for
// context.
func brief(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		if l.Gap {
			b.WriteString("-- ")
		}
		b.WriteString(string(rune('0' + l.Number)))
		if l.Match {
			b.WriteByte(':')
		} else {
			b.WriteByte('-')
		}
		b.Write(l.Text)
		b.WriteByte(' ')
	}
	return strings.TrimSuffix(b.String(), " ")
}

func TestSearchLines(t *testing.T) {
	const text = "a\nb\nX\nc\nd\ne\nX\nX\nf"
	tests := []struct {
		name          string
		before, after int
		want          string
	}{
		{"plain", 0, 0, "3:X -- 7:X 8:X"},
		{"before", 1, 0, "2-b 3:X -- 6-e 7:X 8:X"},
		{"after", 0, 1, "3:X 4-c -- 7:X 8:X 9-f"},
		{"both", 1, 1, "2-b 3:X 4-c -- 6-e 7:X 8:X 9-f"},
		{"touching", 1, 2, "2-b 3:X 4-c 5-d 6-e 7:X 8:X 9-f"},
		{"more than there is", 9, 9, "1-a 2-b 3:X 4-c 5-d 6-e 7:X 8:X 9-f"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewSearcher(compile(t, "X", regex.Options{}), Options{Mode: Lines, Before: tt.before, After: tt.after})
			stats, lines := search(t, s, text)
			if diff := cmp.Diff(tt.want, brief(lines)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(Stats{Lines: 3}, stats); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSpans(t *testing.T) {
	tests := []struct {
		name, pattern, text string
		o                   regex.Options
		spans               Spans
		want                [][]Span
	}{
		{"first", "a+", "baac a\n", regex.Options{}, FirstSpan, [][]Span{{{1, 3}}}},
		{"all", "a+", "baac a\nx\na", regex.Options{}, AllSpans, [][]Span{{{1, 3}, {5, 6}}, {{0, 1}}}},
		{"not empty", "a*", "ba", regex.Options{}, AllSpans, [][]Span{{{1, 2}}}},
		{"none", "a", "ba", regex.Options{}, NoSpans, [][]Span{nil}},
		{"across lines", `b\nc.d`, "ab\nc\nde\nb\nc\nd", regex.Options{Multiline: true}, AllSpans,
			[][]Span{{{1, 2}}, {{0, 1}}, {{0, 1}}, {{0, 1}}, {{0, 1}}, {{0, 1}}}},
		{"ending on the line of the next", `b\nc|d\n`, "ab\ncd\ne", regex.Options{Multiline: true}, AllSpans,
			[][]Span{{{1, 2}}, {{0, 1}, {1, 2}}}},
		{"first across lines", `b\nc|d\n|x`, "ab\ncd\nexx", regex.Options{Multiline: true}, FirstSpan,
			[][]Span{{{1, 2}}, {{0, 1}}, {{1, 2}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewSearcher(compile(t, tt.pattern, tt.o), Options{Mode: Lines, Spans: tt.spans})
			_, lines := search(t, s, tt.text)
			var got [][]Span
			for _, l := range lines {
				got = append(got, l.Spans)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Proves GREP-05.
func TestMultiline(t *testing.T) {
	const text = "func f(\n\ta int,\n) {\n}\nfunc g() {\n}\n"
	s := NewSearcher(compile(t, `func \w+\(\n.*\) \{`, regex.Options{Multiline: true}), Options{Mode: Lines})
	stats, lines := search(t, s, text)
	if diff := cmp.Diff("1:func f( 2:\ta int, 3:) { 4:} 5:func g() {", brief(lines)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Stats{Lines: 5, Matches: 1}, stats); diff != "" {
		t.Error(diff)
	}
	_, err := regex.Compile(`\(\n`, regex.Options{})
	if err == nil || !strings.Contains(err.Error(), "use multiline") {
		t.Errorf("a line end without multiline: %v", err)
	}
}

func TestEncodings(t *testing.T) {
	const text = "\nnaïve wörd 😀\n"
	for name, file := range map[string]string{
		"UTF-8":             text,
		"UTF-8 with a mark": "\ufeff" + text,
		"UTF-16LE":          "\xff\xfe" + utf16Text(text, littleEndian),
		"UTF-16BE":          "\xfe\xff" + utf16Text(text, bigEndian),
	} {
		for how, reader := range map[string]io.Reader{
			"at once":      strings.NewReader(file),
			"byte by byte": iotest.OneByteReader(strings.NewReader(file)),
		} {
			s := NewSearcher(compile(t, `^naïve\s+WÖRD 😀$`, regex.Options{IgnoreCase: true}), Options{Mode: Lines})
			var lines []Line
			if _, err := s.Search(t.Context(), reader, collect(&lines)); err != nil {
				t.Fatal(err)
			}
			want := []Line{{Number: 2, Offset: 1, Text: []byte("naïve wörd 😀"), Match: true}}
			if diff := cmp.Diff(want, lines); diff != "" {
				t.Errorf("%s, %s: %s", name, how, diff)
			}
		}
	}
}

func TestInvalidUTF16(t *testing.T) {
	s := NewSearcher(compile(t, "a", regex.Options{}), Options{Mode: Lines})
	_, lines := search(t, s, "\xff\xfea\x00\x00\xd8a\x00\x00\xdc\x00")
	if diff := cmp.Diff("1:a\ufffda\ufffd\ufffd", brief(lines)); diff != "" {
		t.Error(diff)
	}
}

func TestInvalidBytes(t *testing.T) {
	s := NewSearcher(compile(t, "caf", regex.Options{}), Options{Mode: Lines})
	_, lines := search(t, s, "caf\xe9\n")
	if diff := cmp.Diff("1:caf\xe9", brief(lines)); diff != "" {
		t.Error(diff)
	}
}

func TestBinary(t *testing.T) {
	far := strings.Repeat("some text\n", 100_000)
	tests := []struct {
		name, text string
		want       bool
	}{
		{"at the start", "\x00text", true},
		{"after a match", "text\n\x00", true},
		{"behind the head", strings.Repeat("text\n", 5000) + "\x00", true},
		{"in a later piece", far + "\x00" + far, true},
		{"after the search has ended", "text\n" + far + "\x00", true},
		{"none", far, false},
		{"UTF-16", "\xff\xfet\x00e\x00x\x00t\x00", false},
		{"UTF-16 with a null", "\xff\xfet\x00e\x00x\x00t\x00\x00\x00", true},
	}
	for _, pattern := range []string{"text", `te.t`, `e\nt|x\n?`} {
		for _, mode := range []Mode{Exists, Count, Lines} {
			s := NewSearcher(compile(t, pattern, regex.Options{Multiline: strings.Contains(pattern, `\n`)}), Options{Mode: mode})
			for _, tt := range tests {
				stats, _ := search(t, s, tt.text)
				if stats.Binary != tt.want || stats.Matched() == tt.want {
					t.Errorf("%s, %q, mode %d: %+v, want binary %t", tt.name, pattern, mode, stats, tt.want)
				}
			}
		}
	}
}

// TestBinaryHead checks that a binary file is detected even if nothing in it matches.
func TestBinaryHead(t *testing.T) {
	for _, mode := range []Mode{Exists, Count, Lines} {
		s := NewSearcher(compile(t, "needle", regex.Options{}), Options{Mode: mode})
		if stats, _ := search(t, s, "\x7fELF\x00"); !stats.Binary {
			t.Errorf("mode %d: %+v", mode, stats)
		}
	}
}

// TestPieces searches files that are larger than the memory limit.
func TestPieces(t *testing.T) {
	m := regextest.New(21)
	for range regextest.Times(400) {
		o := regex.Options{IgnoreCase: m.IntN(3) == 0}
		so := Options{Mode: Mode(m.IntN(3)), Before: m.IntN(3), After: m.IntN(3), Spans: Spans(m.IntN(3))}
		q := compile(t, m.Pattern(), o)
		text := m.Text(3000)
		whole, pieces := NewSearcher(q, so), NewSearcher(q, so)
		pieces.size.piece, pieces.size.head = 64, 8
		wantStats, want := search(t, whole, text)
		gotStats, got := searchIn(t, pieces, chunks{strings.NewReader(text), 1 + m.IntN(100)})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%+v: %s", so, diff)
		}
		if diff := cmp.Diff(wantStats, gotStats); diff != "" {
			t.Fatalf("%+v: %s", so, diff)
		}
	}
}

// TestTextPieces does the same for matches that span lines but fit into memory.
func TestTextPieces(t *testing.T) {
	for _, pattern := range []string{`a\nb`, `^b.\n`, `\n\n`, `[^a]\n\w`, `\n`, `k\s*s`, `\Aa`, `e\n\z`} {
		m := regextest.New(22)
		q := compile(t, "(?-s)"+pattern, regex.Options{Multiline: true})
		for range regextest.Times(60) {
			so := Options{Mode: Mode(m.IntN(3)), Before: m.IntN(3), After: m.IntN(3), Spans: Spans(m.IntN(3))}
			text := m.Text(6000)
			whole, pieces := NewSearcher(q, so), NewSearcher(q, so)
			pieces.size.text, pieces.size.span = 1500, 600
			wantStats, want := search(t, whole, text)
			gotStats, got := searchIn(t, pieces, chunks{strings.NewReader(text), 1 + m.IntN(900)})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%q, %+v: %s", pattern, so, diff)
			}
			gotStats.Cut = false
			if diff := cmp.Diff(wantStats, gotStats); diff != "" {
				t.Fatalf("%q, %+v: %s", pattern, so, diff)
			}
		}
	}
}

// repeated is a reader that repeats a text.
type repeated struct {
	text string
	left int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), r.left)
	for i := 0; i < n; {
		i += copy(p[i:n], r.text)
	}
	r.left -= n
	return n, nil
}

// TestLongLine searches lines that do not fit into memory.
func TestLongLine(t *testing.T) {
	q := compile(t, "needle|^start", regex.Options{})
	const length = 40 << 20
	tests := []struct {
		name string
		file io.Reader
		want Stats
		line int64
	}{
		{"nothing", &repeated{"abc ", length}, Stats{Cut: true}, 0},
		{"at the end", io.MultiReader(&repeated{"abc ", length}, strings.NewReader("needle\nx\nneedle")), Stats{Lines: 2, Cut: true}, 1},
		{"in another line", io.MultiReader(&repeated{"abc ", length}, strings.NewReader("\n\nneedle")), Stats{Lines: 1, Cut: true}, 3},
		{"all over", &repeated{"needle ", length}, Stats{Lines: 1, Cut: true}, 1},
		{"across parts", io.MultiReader(&repeated{"abc ", 2<<20 - 3}, strings.NewReader("needle"), &repeated{"abc ", length}), Stats{Lines: 1, Cut: true}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewSearcher(q, Options{Mode: Lines})
			var first int64
			longest := 0
			stats, err := s.Search(t.Context(), tt.file, func(l *Line) bool {
				if first == 0 {
					first = l.Number
				}
				longest = max(longest, cap(s.in.data))
				return true
			})
			stats.Bytes = 0
			if err != nil || stats != tt.want || first != tt.line {
				t.Errorf("%+v, first line %d, error %v", stats, first, err)
			}
			if longest > 10<<20 || cap(s.in.data) > keptSize {
				t.Errorf("the buffer grew to %d, and %d are kept", longest, cap(s.in.data))
			}
		})
	}
}

// TestLongLineEverywhere finds a word at every position of a line that is searched in parts.
func TestLongLineEverywhere(t *testing.T) {
	s := NewSearcher(compile(t, "nee+dle", regex.Options{}), Options{Mode: Count})
	s.size.piece, s.size.line, s.size.overlap = 32, 128, 16
	for at := range 600 {
		text := strings.Repeat(".", at) + "needle" + strings.Repeat(".", 600-at) + "\nneedle\n"
		stats, _ := searchIn(t, s, chunks{strings.NewReader(text), 30})
		if diff := cmp.Diff(Stats{Lines: 2, Cut: true}, stats); diff != "" {
			t.Errorf("at %d: %s", at, diff)
		}
	}
}

func TestStop(t *testing.T) {
	for _, pattern := range []string{"X", `X\n?`} {
		s := NewSearcher(compile(t, pattern, regex.Options{Multiline: true}), Options{Mode: Lines, Before: 1, After: 1})
		for limit := 1; limit <= 5; limit++ {
			given := 0
			if _, err := s.Search(t.Context(), strings.NewReader("a\nX\nb\nc\nX\nd\n"), func(*Line) bool {
				given++
				return given < limit
			}); err != nil {
				t.Fatal(err)
			}
			if given != limit {
				t.Errorf("%q: the sink was given %d lines after it wanted %d", pattern, given, limit)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	s := NewSearcher(compile(t, "X", regex.Options{}), Options{Mode: Count})
	broken := errors.New("broken")
	if _, err := s.Search(t.Context(), io.MultiReader(strings.NewReader("X\n"), iotest.ErrReader(broken)), nil); !errors.Is(err, broken) {
		t.Errorf("a file that cannot be read: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Search(ctx, strings.NewReader("X\n"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled search: %v", err)
	}
	if stats, _ := search(t, s, "X\n"); stats != (Stats{Lines: 1}) {
		t.Errorf("the next search: %+v", stats)
	}
}

func TestNoAllocations(t *testing.T) {
	text := strings.Repeat("func main() { return nil } // é\n", 2000)
	for _, pattern := range []string{"needle", `\bneedle\d+`, `[a-z]+\d[a-z]`, `\w{40}`, `(?i)sockets`, `n\nx`} {
		s := NewSearcher(compile(t, pattern, regex.Options{Multiline: strings.Contains(pattern, `\n`)}), Options{Mode: Lines})
		file := strings.NewReader(text)
		allocs := testing.AllocsPerRun(20, func() {
			file.Reset(text)
			if stats, err := s.Search(t.Context(), file, nil); err != nil || stats.Matched() {
				t.Errorf("%q: %+v, %v", pattern, stats, err)
			}
		})
		if allocs > 0 {
			t.Errorf("%q: %v allocations for a file without a match", pattern, allocs)
		}
	}
}

// reference finds lines with a simple algorithm.
func reference(text, word string) []Line {
	var lines []Line
	offset, number := 0, 0
	for line := range strings.Lines(text) {
		number++
		if plain := strings.TrimSuffix(line, "\n"); strings.Contains(plain, word) {
			lines = append(lines, Line{Number: int64(number), Offset: int64(offset), Text: []byte(plain), Match: true})
		}
		offset += len(line)
	}
	return lines
}

func TestLinesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("abé\n\r ")), 0, 300, -1).Draw(t, "text")
		checkLines(t, text, rapid.IntRange(1, 80).Draw(t, "piece"))
	})
}

func FuzzLines(f *testing.F) {
	f.Add("a\nb\n\nab", uint8(3))
	f.Add("\n", uint8(1))
	f.Fuzz(func(t *testing.T, text string, piece uint8) {
		if strings.Contains(text, "\x00") || strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
			return
		}
		checkLines(t, strings.TrimPrefix(text, "\ufeff"), int(piece)+1)
	})
}

func checkLines(t interface {
	Helper()
	Fatal(...any)
	Errorf(string, ...any)
}, text string, piece int) {
	t.Helper()
	q, err := regex.Compile("ab", regex.Options{Fixed: true})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSearcher(q, Options{Mode: Lines})
	s.size.piece = piece
	var got []Line
	if _, err := s.Search(context.Background(), chunks{strings.NewReader(text), max(1, piece/2)}, collect(&got)); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i].Gap = false
	}
	if diff := cmp.Diff(reference(text, "ab"), got); diff != "" {
		t.Errorf("%q in pieces of %d: %s", text, piece, diff)
	}
}

func encodeUTF16(s string) []uint16 { return utf16.Encode([]rune(s)) }

func BenchmarkSearch(b *testing.B) {
	text := bytes.Repeat([]byte("func main() {\n\treturn nil // a comment\n}\n"), 200)
	for _, mode := range []Mode{Exists, Count, Lines} {
		for _, pattern := range []string{"needle", "return", `\w+\s*=\s*\d+`} {
			s := NewSearcher(compile(b, pattern, regex.Options{}), Options{Mode: mode, Before: 2, After: 2})
			file := bytes.NewReader(text)
			b.Run(map[Mode]string{Exists: "exists", Count: "count", Lines: "lines"}[mode]+"/"+pattern, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					file.Reset(text)
					if _, err := s.Search(b.Context(), file, func(*Line) bool { return true }); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
