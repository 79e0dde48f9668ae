package textfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func encode(s string, order binary.ByteOrder) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		var unit [2]byte
		order.PutUint16(unit[:], u)
		b = append(b, unit[:]...)
	}
	return string(b)
}

// Proves RANGE-02.
func TestScan(t *testing.T) {
	all := Range{First: 1}
	tests := []struct {
		name, in string
		r        Range
		want     Text
	}{
		{"lines", "a\nbc\n", all, Text{Lines: []string{"a", "bc"}, Bytes: 5, Total: 2}},
		{"no last LF", "a\nbc", all, Text{Lines: []string{"a", "bc"}, Bytes: 5, Total: 2}},
		{"empty", "", all, Text{}},
		{"one empty line", "\n", all, Text{Lines: []string{""}, Bytes: 1, Total: 1}},
		{"CRLF", "a\r\nb\r\r\n", all, Text{Lines: []string{"a", "b\r"}, Bytes: 5, Total: 2}},
		{"lone CR", "a\rb\nc\r", all, Text{Lines: []string{"a\rb", "c\r"}, Bytes: 7, Total: 2}},
		{"byte order mark", "\ufeffa\n\ufeffb", all, Text{Lines: []string{"a", "\ufeffb"}, Bytes: 7, Total: 2}},
		{"only a mark", "\ufeff", all, Text{}},
		{"range", "a\nb\nc\nd\n", Range{First: 2, Count: 2}, Text{Lines: []string{"b", "c"}, Bytes: 4, Total: 4}},
		{"range to the end", "a\nb\nc", Range{First: 3}, Text{Lines: []string{"c"}, Bytes: 2, Total: 3}},
		{"range past the end", "a\nb", Range{First: 9, Count: 1}, Text{Total: 2}},
		{"huge count", "a\nb", Range{First: 2, Count: int(^uint(0) >> 1)}, Text{Lines: []string{"b"}, Bytes: 2, Total: 2}},
		{"fits", "a\nb\n", Range{First: 1, MaxBytes: 4}, Text{Lines: []string{"a", "b"}, Bytes: 4, Total: 2}},
		{"fits when cut", "a\nb\n", Range{First: 1, MaxBytes: 4, Truncate: true}, Text{Lines: []string{"a", "b"}, Bytes: 4, Total: 2}},
		{"cut", "a\nbb\nc\nd", Range{First: 1, MaxBytes: 4, Truncate: true}, Text{Lines: []string{"a"}, Bytes: 2, Total: 4, Truncated: true}},
		{"not UTF-8", "a\x81\x8db\nc", all, Text{Lines: []string{"a\uFFFDb", "c"}, Bytes: 8, Total: 2, Invalid: true}},
		{"not UTF-8 elsewhere", "\x81\nb", Range{First: 2}, Text{Lines: []string{"b"}, Bytes: 2, Total: 2}},
		{"UTF-16 with half a character", "\xff\xfea\x00\x00\xd8b\x00c", all, Text{Lines: []string{"a\uFFFDb\uFFFD"}, Bytes: 9, Total: 1, Invalid: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, src := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
				got, err := Scan(t.Context(), src, tt.r)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
			got, err := Cut(t.Context(), []byte(tt.in), tt.r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("in memory (-want +got):\n%s", diff)
			}
		})
	}
}

// Proves RANGE-04.
func TestByteLimit(t *testing.T) {
	text := strings.Repeat(strings.Repeat("x", 39)+"\n", 5)
	_, err := Scan(t.Context(), strings.NewReader(text), Range{First: 1, MaxBytes: 100})
	var size *SizeError
	if !errors.As(err, &size) || *size != (SizeError{Bytes: 200, Max: 100, Lines: 5, Total: 5, Longest: 1, LongestBytes: 39}) || err.Error() != "the text has 200 bytes, and at most 100 are read" {
		t.Errorf("refused with %v", err)
	}
	got, err := Scan(t.Context(), strings.NewReader(text), Range{First: 1, MaxBytes: 100, Truncate: true})
	if err != nil || len(got.Lines) != 2 || !got.Truncated || got.Total != 5 {
		t.Errorf("cut to %d lines of %d (truncated: %v), %v", len(got.Lines), got.Total, got.Truncated, err)
	}
	got, err = Scan(t.Context(), strings.NewReader(text), Range{First: 1, MaxBytes: 30, Truncate: true})
	if err != nil || len(got.Lines) != 0 || !got.Truncated || got.Total != 5 {
		t.Errorf("a line over the limit: %d lines of %d (truncated: %v), %v", len(got.Lines), got.Total, got.Truncated, err)
	}
}

// TestByteLimitStops checks that measuring a range that does not fit stops early.
func TestByteLimitStops(t *testing.T) {
	chunk := []byte(strings.Repeat(strings.Repeat("0123456", 9)+"\n", 1<<10))
	for _, cut := range []bool{false, true} {
		src := &endless{chunk: chunk, left: 1 << 50}
		got, err := Scan(t.Context(), src, Range{First: 1, MaxBytes: 1000, Truncate: cut})
		var size *SizeError
		if cut && (err != nil || !got.AtLeast || len(got.Lines) != 15) || !cut && !errors.As(err, &size) {
			t.Errorf("truncate %v: %d lines, %v", cut, len(got.Lines), err)
		}
		if read := 1<<50 - src.left; read > maxCount+1<<20 {
			t.Errorf("truncate %v: read %d bytes", cut, read)
		}
	}
}

// Proves RANGE-05.
func TestScanEncodings(t *testing.T) {
	const text = "one\r\nzwei ä\n𝄞 three\n"
	want, err := Scan(t.Context(), strings.NewReader(text), Range{First: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]string{
		"UTF-8 with a mark": "\ufeff" + text,
		"UTF-16LE":          encode("\ufeff"+text, binary.LittleEndian),
		"UTF-16BE":          encode("\ufeff"+text, binary.BigEndian),
	} {
		got, err := Scan(t.Context(), strings.NewReader(in), Range{First: 1})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	broken, err := Scan(t.Context(), strings.NewReader("a\xc3\n"), Range{First: 1})
	if err != nil || !broken.Invalid || broken.Lines[0] != "a\uFFFD" {
		t.Errorf("invalid UTF-8 gives %v, %v", broken, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	src := &endless{chunk: []byte(strings.Repeat("x\n", 512)), left: 1 << 50, each: func(n int) {
		if n == 10 {
			cancel()
		}
	}}
	if _, err := Scan(ctx, src, Range{First: 1, Count: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled scan returned %v", err)
	}
	if src.reads > 200 {
		t.Errorf("%d reads after cancelling", src.reads)
	}
}

// endless repeats a chunk forever.
type endless struct {
	chunk []byte
	left  int64
	reads int
	each  func(int)
}

func (e *endless) Read(p []byte) (int, error) {
	e.reads++
	if e.each != nil {
		e.each(e.reads)
	}
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := copy(p, e.chunk[:min(int64(len(e.chunk)), e.left)])
	e.left -= int64(n)
	return n, nil
}

func TestScanRefusesBinary(t *testing.T) {
	for _, in := range []string{"\x7fELF\x00\x01", strings.Repeat("a", 8000) + "\x00"} {
		if _, err := Scan(t.Context(), strings.NewReader(in), Range{First: 1}); !errors.Is(err, ErrBinary) {
			t.Errorf("Scan(%.10q) = %v", in, err)
		}
	}
}

// Proves RANGE-06.
func TestScanCutsEndlessLines(t *testing.T) {
	const size = 2 << 30
	src := &endless{chunk: bytes.Repeat([]byte("ä"), 16<<10), left: size}
	got, grown := measured(t, func() (Text, error) { return Scan(t.Context(), src, Range{First: 1}) })
	if got.Total != 1 || !strings.HasSuffix(got.Lines[0], "… [line cut: 1048576 of 2147483648 bytes shown]") {
		t.Errorf("total %d, line ends in %q", got.Total, got.Lines[0][len(got.Lines[0])-80:])
	}
	if got.Invalid {
		t.Error("the cut damaged a character")
	}
	if grown > 16<<20 {
		t.Errorf("allocated %d bytes", grown)
	}
	for _, n := range []int{maxLine - 1, maxLine, maxLine + 1} {
		for _, end := range []string{"", "\n", "\r\n"} {
			got, err := Scan(t.Context(), strings.NewReader("ab"+strings.Repeat("x", n-2)+end+"after"), Range{First: 1, Count: 1})
			if end == "" {
				n += len("after")
			}
			if err != nil || (len(got.Lines[0]) > maxLine) != (n > maxLine) {
				t.Errorf("%d bytes before %q: kept %d, %v", n, end, len(got.Lines[0]), err)
			}
		}
	}
}

// measured calls scan and returns how much memory it allocated.
func measured(t *testing.T, scan func() (Text, error)) (Text, uint64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := scan()
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	return got, after.TotalAlloc - before.TotalAlloc
}

// Proves RANGE-03.
func TestScanStopsCounting(t *testing.T) {
	chunk := []byte(strings.Repeat(strings.Repeat("0123456", 9)+"\n", 1<<10))
	got, err := Scan(t.Context(), &endless{chunk: chunk, left: 1 << 50}, Range{First: 3, Count: 2})
	if err != nil {
		t.Fatal(err)
	}
	if want := maxCount/64 + 4; !got.AtLeast || got.Total < want || got.Total > want+2 || len(got.Lines) != 2 {
		t.Errorf("counted %d lines (at least: %v), kept %d; want about %d", got.Total, got.AtLeast, len(got.Lines), want)
	}
	got, err = Scan(t.Context(), &endless{chunk: chunk, left: 64 << 20}, Range{First: 3, Count: 2})
	if err != nil || got.AtLeast || got.Total != 1<<20 {
		t.Errorf("a smaller file has %d lines (at least: %v), %v", got.Total, got.AtLeast, err)
	}
}

// Proves RANGE-02.
func TestReadSparseFile(t *testing.T) {
	f := create(t, strings.Repeat("line\n", 20))
	if err := f.Truncate(5 << 30); err != nil {
		t.Fatal(err)
	}
	// The hole reads as null bytes, so fill the sniffed part.
	if _, err := f.WriteAt([]byte(strings.Repeat("line\r\n", 3000)), 100); err != nil {
		t.Fatal(err)
	}
	got, grown := measured(t, func() (Text, error) {
		got, err := Read(t.Context(), f, Range{First: 10, Count: 5})
		return got.Text, err
	})
	if diff := cmp.Diff([]string{"line", "line", "line", "line", "line"}, got.Lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if grown > 64<<20 {
		t.Errorf("allocated %d bytes", grown)
	}
}

func create(t testing.TB, text string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return f
}

// Proves RANGE-01.
func TestReadAgreesWithScan(t *testing.T) {
	f := create(t, "")
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "bc", "\n", "\r\n", "\r", "ä", "\x81", "long"}), 0, 12).Draw(t, "pieces")
		text := strings.ReplaceAll(strings.Join(pieces, ""), "long", strings.Repeat("x", 70_000))
		// Around the size threshold between the two ways of reading.
		if rapid.IntRange(0, 15).Draw(t, "large") == 13 {
			fill := wholeBelow - len(text) + rapid.IntRange(-3, 3).Draw(t, "over")
			text += strings.Repeat("0123456789abcde\n", fill/16+1)[:max(fill, 0)]
		}
		r := Range{First: rapid.IntRange(1, 10).Draw(t, "first"), Count: rapid.IntRange(0, 10).Draw(t, "count")}
		if err := os.WriteFile(f.Name(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Read(context.Background(), f, r)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Scan(context.Background(), strings.NewReader(text), r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Text); diff != "" {
			t.Fatalf("(-scan +read):\n%s", diff)
		}
		if whole := len(text) < wholeBelow; whole != (string(got.Data) == text && got.Data != nil) || !whole && got.Data != nil {
			t.Fatalf("%d bytes read as %d", len(text), len(got.Data))
		}
		if got.Info == nil || got.Info.Size() != int64(len(text)) {
			t.Fatalf("described as %v", got.Info)
		}
	})
}

// byHand is a simple and slow reference implementation.
func byHand(in []byte, r Range) Text {
	text := strings.TrimPrefix(string(in), "\ufeff")
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	got := Text{Total: len(lines)}
	for i, line := range lines {
		if i+1 < r.First || r.Count > 0 && i+1-r.First >= r.Count || got.Truncated {
			continue
		}
		if cut, ok := strings.CutSuffix(line, "\n"); ok {
			line = strings.TrimSuffix(cut, "\r")
		}
		valid := utf8.ValidString(line)
		line = strings.ToValidUTF8(line, "\uFFFD")
		if r.MaxBytes > 0 && got.Bytes+len(line)+1 > r.MaxBytes {
			got.Truncated = true
			continue
		}
		got.Lines = append(got.Lines, line)
		got.Bytes += len(line) + 1
		got.Invalid = got.Invalid || !valid
	}
	return got
}

// Proves RANGE-01.
func FuzzRange(f *testing.F) {
	for _, seed := range []string{"a\nb", "\xff\xfea\x00\n\x00", "\xfe\xff\x00a", "\r\n\r", "\ufeffx\r\n", "\x00", "\xffa\n\nb\r"} {
		f.Add([]byte(seed), 1, 2, 0, true)
		f.Add([]byte(seed), 2, 0, 3, false)
	}
	f.Fuzz(func(t *testing.T, in []byte, first, count, limit int, truncate bool) {
		r := Range{First: max(first, 1), Count: max(count, 0), MaxBytes: max(limit, 0), Truncate: truncate}
		inMemory, err := Cut(t.Context(), in, r)
		for name, src := range map[string]io.Reader{
			"at once": bytes.NewReader(in), "by bytes": iotest.OneByteReader(bytes.NewReader(in)), "by halves": iotest.HalfReader(bytes.NewReader(in)),
		} {
			streamed, streamErr := Scan(t.Context(), src, r)
			if diff := cmp.Diff(inMemory, streamed); diff != "" || (err == nil) != (streamErr == nil) {
				t.Errorf("%s: %v, in memory: %v (-memory +stream):\n%s", name, streamErr, err, diff)
			}
		}
		order, sniffErr := sniff(in[:min(len(in), sniffed)])
		if err != nil || sniffErr != nil || order != nil {
			return
		}
		if diff := cmp.Diff(byHand(in, r), inMemory); diff != "" {
			t.Errorf("(-by hand +got):\n%s", diff)
		}
	})
}

// A growing is a file that grows on every access until told to stop.
type growing struct {
	*os.File
	looks, until int
}

func (g *growing) Stat() (fs.FileInfo, error) {
	if g.looks++; g.looks <= g.until {
		info, err := g.File.Stat()
		if err != nil {
			return nil, err
		}
		if _, err := g.WriteAt([]byte("more\n"), info.Size()); err != nil {
			return nil, err
		}
	}
	return g.File.Stat()
}

// Proves RANGE-01.
func TestReadChangingFile(t *testing.T) {
	got, err := Read(t.Context(), &growing{File: create(t, "one\n"), until: 2}, Range{First: 1})
	if err != nil || len(got.Lines) != 3 || got.Info.Size() != int64(len(got.Data)) {
		t.Errorf("after one change: %q, %v", got.Lines, err)
	}
	if _, err := Read(t.Context(), &growing{File: create(t, "one\n"), until: 99}, Range{First: 1}); !errors.Is(err, ErrChanging) {
		t.Errorf("a file that never rests: %v", err)
	}
	large := create(t, strings.Repeat("0123456789abcde\n", wholeBelow/16))
	got, err = Read(t.Context(), &growing{File: large, until: 99}, Range{First: 2, Count: 1})
	if err != nil || len(got.Lines) != 1 || got.Info != nil {
		t.Errorf("a large file that never rests: %q, described as %v, %v", got.Lines, got.Info, err)
	}
}

// TestReadOddFiles checks that files with a reported size of 0 are read, and that Data
// preserves bytes that are not valid UTF-8.
func TestReadOddFiles(t *testing.T) {
	if f, err := os.Open("/proc/self/status"); err == nil {
		defer f.Close()
		got, err := Read(t.Context(), f, Range{First: 1, Count: 1})
		if err != nil || len(got.Lines) != 1 || !strings.HasPrefix(got.Lines[0], "Name:") {
			t.Errorf("/proc/self/status: %v, %v", got.Lines, err)
		}
	}
	for content, want := range map[string]Text{
		"a\x81b\r\n":                      {Lines: []string{"a\uFFFDb"}, Bytes: 6, Total: 1, Invalid: true},
		"gr\xfc\xdfe\r\n\x93x\x94 \x80\n": {Lines: []string{"grüße", "“x” €"}, Bytes: 20, Total: 2, Latin: true},
		"gr\xfc\xdfe ü\n":                 {Lines: []string{"gr\uFFFDe ü"}, Bytes: 10, Total: 1, Invalid: true}, // also contains UTF-8
		"gr\xfc\xdfe\x07\n":               {Lines: []string{"gr\uFFFDe\x07"}, Bytes: 8, Total: 1, Invalid: true},
	} {
		got, err := Read(t.Context(), create(t, content), Range{First: 1})
		if diff := cmp.Diff(want, got.Text); diff != "" || err != nil || string(got.Data) != content {
			t.Errorf("%q: %v, %q: %s", content, err, got.Data, diff)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{"a\nb", "\xff\xfea\x00\n\x00", "\xfe\xff\x00a", "\r\n\r", "\ufeffx", "\x00"} {
		f.Add([]byte(seed), 1, 2)
	}
	f.Fuzz(func(t *testing.T, in []byte, first, count int) {
		r := Range{First: max(first, 1), Count: max(count, 0)}
		got, err := Scan(t.Context(), bytes.NewReader(in), r)
		if err != nil {
			return
		}
		whole, err := Scan(t.Context(), iotest.OneByteReader(bytes.NewReader(in)), Range{First: 1})
		if err != nil {
			t.Fatal(err)
		}
		from := min(r.First-1, len(whole.Lines))
		to := len(whole.Lines)
		if r.Count > 0 && r.Count < to-from {
			to = from + r.Count
		}
		if diff := cmp.Diff(append([]string(nil), whole.Lines[from:to]...), got.Lines); diff != "" {
			t.Errorf("the range is not that part of the whole (-want +got):\n%s", diff)
		}
		for _, line := range got.Lines {
			if !utf8.ValidString(line) || strings.Contains(line, "\n") {
				t.Errorf("line %q", line)
			}
		}
		if got.Total != whole.Total || got.Total != len(whole.Lines) {
			t.Errorf("total %d, of the whole %d", got.Total, whole.Total)
		}
	})
}
