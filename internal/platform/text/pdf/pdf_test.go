package pdf

import (
	"bytes"
	"context"
	"encoding/ascii85"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/proc/cputime"
)

// texts returns the text of each page.
func texts(t testing.TB, data []byte) []string {
	t.Helper()
	d, err := Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range d.Pages() {
		text, err := d.Text(t.Context(), i+1)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	return all
}

func TestOpen(t *testing.T) {
	want := []string{"first page\nits second line", "page two", "three"}
	objects := documentObjects(want)
	plain := file("", objects...)
	nested := documentObjects(want)
	nested[1] = "<</Type/Pages/Count 3/Kids[4 0 R 10 0 R]/Resources<</Font<</F1 3 0 R>>>>>>"
	nested = append(nested, "<</Type/Pages/Count 2/Parent 2 0 R/Kids[6 0 R 8 0 R]>>")
	circular := documentObjects(want)
	circular[1] = "<</Type/Pages/Count 9/Kids[2 0 R 4 0 R 6 0 R 6 0 R 8 0 R 1 0 R]/Resources<</Font<</F1 3 0 R>>>>>>"
	tests := []struct {
		name string
		data []byte
	}{
		{"table", plain},
		{"packed", packed(objects)},
		{"nested pages", file("", nested...)},
		{"circular pages", file("", circular...)},
		{"line before the header", append([]byte("HTTP noise\r\n"), plain...)},
		{"no table", plain[:bytes.LastIndex(plain, []byte("xref\n0"))]},
		{"wrong offsets", bytes.Replace(plain, []byte("%PDF-1.4\n"), []byte("%PDF-1.4\n% moved everything\n"), 1)},
		{"packed, no table", packed(objects)[:bytes.LastIndex(packed(objects), []byte("startxref"))]},
		{"wrong lengths", bytes.ReplaceAll(plain, []byte("/Length "), []byte("/Length 9"))},
		{"table in a circle", bytes.Replace(plain, []byte("/Root"), fmt.Appendf(nil, "/Prev %d /Root", bytes.LastIndex(plain, []byte("xref\n0"))), 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := texts(t, tt.data)
			if tt.name == "packed, no table" { // the fonts are in the page tree
				if len(got) != 3 {
					t.Errorf("%d pages", len(got))
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Proves PDF-02.
func TestOpenRefuses(t *testing.T) {
	whole := document("a")
	for name, tt := range map[string]struct {
		data []byte
		want error
	}{
		"text":      {[]byte("just text"), ErrNotPDF},
		"empty":     {nil, ErrNotPDF},
		"encrypted": {file("/Encrypt 9 0 R", documentObjects([]string{"a"})...), ErrEncrypted},
		"encrypted, table lost": {bytes.ReplaceAll(file("/Encrypt 9 0 R", documentObjects([]string{"a"})...),
			[]byte("startxref"), []byte("startxxxx")), ErrEncrypted},
		"cut off": {whole[:60], ErrDamaged},
		"header":  {[]byte("%PDF-1.7\n"), ErrDamaged},
		"noise":   {append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte("\xfe\x00<<[(/"), 5000)...), ErrDamaged},
	} {
		if _, err := Open(t.Context(), tt.data); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	if !IsPDF(whole) || IsPDF([]byte("%PD")) {
		t.Error("IsPDF is wrong")
	}
}

// Proves PDF-01.
func TestParseRange(t *testing.T) {
	for in, want := range map[string]Range{"3": {3, 3}, "1-5": {1, 5}, "10-": {10, 0}, " 2 - 4 ": {2, 4}, "7-7": {7, 7}, "1-30": {1, 30}} {
		if got, err := ParseRange(in); err != nil || got != want {
			t.Errorf("ParseRange(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"5-2", "0", "a", "", "-", "-3", "1-2-3", "1,2", "0-4", "1.5", "99999999999", "+1", "1-0"} {
		if got, err := ParseRange(in); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", in)) {
			t.Errorf("ParseRange(%q) = %v, %v", in, got, err)
		}
	}
	if r, ok := (Range{2, 0}).Within(5); !ok || r != (Range{2, 5}) || (Range{2, 0}).Len() != 0 || r.Len() != 4 {
		t.Errorf("cut to %v", r)
	}
	if r, ok := (Range{4, 9}).Within(5); !ok || r != (Range{4, 5}) {
		t.Errorf("cut to %v", r)
	}
	if _, ok := (Range{6, 9}).Within(5); ok {
		t.Error("a range past the end")
	}
}

func TestText(t *testing.T) {
	const f1 = "/Font<</F1 3 0 R>>"
	cmap := "1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfchar <0001> <00480069> endbfchar " +
		"2 beginbfrange <0002> <0004> <0061> <0005> <0006> [<20AC> <D83DDE42>] endbfrange"
	composite := []string{
		"<</Type/Font/Subtype/Type0/Encoding/Identity-H/DescendantFonts[7 0 R]/ToUnicode 8 0 R>>",
		"<</Type/Font/DW 600/W[1 [900] 2 4 500]>>", streamOf("", cmap),
	}
	tests := []struct {
		name, want string
		data       []byte
	}{
		{"escapes", "a(b)c\\ A é", withContent(f1, `BT /F1 9 Tf (a\(b\)c\\ \101 \351) Tj ET`)},
		{"hex", "Hi !", withContent(f1, "BT /F1 9 Tf <48 69 2> Tj <21> Tj ET")},
		{"kerning is not a space", "Word two", withContent(f1, "BT /F1 9 Tf [(W) 60 (ord) -400 (two)] TJ ET")},
		{"columns", "left right", withContent(f1, "BT /F1 9 Tf 10 50 Td (left) Tj 200 0 Td (right) Tj ET")},
		{"paragraphs", "one\n\ntwo", withContent(f1, "BT /F1 9 Tf 10 90 Td (one) Tj 0 -40 Td (two) Tj ET")},
		{"rotated", "up and up", withContent(f1, "BT /F1 9 Tf 0 1 -1 0 50 50 Tm (up) Tj ( and up) Tj ET")},
		{"next line operators", "a\nb\nc", withContent(f1, `BT /F1 9 Tf 11 TL (a) Tj (b) ' 1 2 (c) " ET`)},
		{"saved state", "big small", withContent(f1, "BT /F1 9 Tf (big ) Tj ET q 1 0 0 1 20 0 cm BT /F1 9 Tf (small) Tj ET Q")},
		{"differences", "œ€ﬃx", withContent("/Font<</F1 6 0 R>>", "BT /F1 9 Tf (abcx) Tj ET",
			"<</Type/Font/Subtype/Type1/Encoding<</Differences[97/oe/uni20AC/uniFB03]>>>>")},
		{"accents", "Žłǻ", withContent("/Font<</F1 6 0 R>>", "BT /F1 9 Tf (abc) Tj ET",
			"<</Type/Font/Subtype/Type1/Encoding<</Differences[97/Zcaron/lslash/uni01FB]>>>>")},
		{"mac", "é†", withContent("/Font<</F1 6 0 R>>", "BT /F1 9 Tf <8ea0> Tj ET", "<</Type/Font/Subtype/TrueType/Encoding/MacRomanEncoding>>")},
		{"no encoding", "office", withContent(f1, "BT /F1 9 Tf (o\\016ce) Tj ET")},
		{"composite", "Hiabc€🙂", withContent("/Font<</F1 6 0 R>>", "BT /F1 9 Tf <000100020003000400050006> Tj ET", composite...)},
		{"form", "inside after", withContent(f1+"/XObject<</X 6 0 R>>", "/X Do BT /F1 9 Tf 100 0 Td (after) Tj ET",
			streamOf("/Type/XObject/Subtype/Form/Matrix[1 0 0 1 5 0]", "BT /F1 9 Tf (inside) Tj ET"))},
		{"picture between", "text", withContent(f1, "BI /W 1 /H 1 ID \x00(\xffEI EI BT /F1 9 Tf (text) Tj ET")},
		{"several streams", "joined", withContent(f1, "BT /F1 9 Tf (joi) Tj (ned) Tj ET")},
		{"nothing", "", withContent("", "0 0 m 10 10 l S")},
		{"damaged", "before", withContent(f1, "BT /F1 9 Tf (before) Tj [[[[[")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff([]string{tt.want}, texts(t, tt.data)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for name, table := range map[string]string{"WinAnsi": winAnsi, "MacRoman": macRoman} {
		if n := utf8.RuneCountInString(table); n != 128 {
			t.Errorf("%s has %d characters in its upper half", name, n)
		}
	}
}

func ascii85Of(s string) string {
	dst := make([]byte, ascii85.MaxEncodedLen(len(s)))
	return string(dst[:ascii85.Encode(dst, []byte(s))])
}

func TestFilters(t *testing.T) {
	const want = "-----A---B"
	packed := map[string]struct{ filter, data string }{
		"LZW":       {"/Filter/LZWDecode", "\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01"},
		"ASCII hex": {"/Filter/ASCIIHexDecode", "2d2d 2d2D2D 41 2d2d2d42>"},
		"ASCII 85":  {"/Filter[/ASCII85Decode]", ascii85Of(want) + "~>"},
		"runs":      {"/Filter/RunLengthDecode", "\xfc-\x00A\xfe-\x00B\x80"},
		"Flate":     {"/Filter/FlateDecode", deflate(want)},
		"cut Flate": {"/Filter/FlateDecode", deflate(want)[:len(deflate(want))-4]},
		"chained":   {"/Filter[/AHx/Fl]", fmt.Sprintf("%x>", deflate(want))},
	}
	for name, tt := range packed {
		d, err := Open(t.Context(), withContent("", "", streamOf(tt.filter, tt.data)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.decode(d.load(6).(*stream))
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestExtract(t *testing.T) {
	data := document("one", "two", "three", "four", "five")
	for name, data := range map[string][]byte{"table": data, "packed": packed(documentObjects([]string{"one", "two", "three", "four", "five"}))} {
		d, err := Open(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		part, err := d.Extract(t.Context(), 2, 4)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"two", "three", "four"}, texts(t, part)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if bytes.Contains(part, []byte("(one)")) || len(part) > len(data) {
			t.Errorf("%s: %d of %d bytes", name, len(part), len(data))
		}
		e, err := Open(t.Context(), part)
		if err != nil || !e.readXref() {
			t.Errorf("%s: the table is wrong, %v", name, err)
		}
		if diff := cmp.Diff(array{0, 0, 612, 792}, e.list(e.pages[0].dict["MediaBox"])); diff != "" {
			t.Errorf("%s: the size of the page (-want +got):\n%s", name, diff)
		}
	}
}

func TestScan(t *testing.T) {
	const jpeg = "\xff\xd8\xffpicture"
	d, err := Open(t.Context(), withContent("/XObject<</A 6 0 R/B 7 0 R/C 8 0 R>>", "/A Do",
		streamOf("/Subtype/Image/Filter/DCTDecode", jpeg), streamOf("/Subtype/Image/Filter/FlateDecode", deflate("other")), streamOf("/Subtype/Form", "")))
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Scan(1); string(got) != jpeg {
		t.Errorf("got %q", got)
	}
	d, err = Open(t.Context(), document("text"))
	if err != nil || d.Scan(1) != nil {
		t.Errorf("a page of text is a picture, %v", err)
	}
}

// bounded fails if f takes long or allocates much.
func bounded(t *testing.T, name string, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cputime.Used()
	f()
	elapsed := cputime.Used() - start
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; elapsed > 20*time.Second || grown > 2<<30 {
		t.Errorf("%s took %v and %d bytes", name, elapsed, grown)
	}
}

// manyRanges is a ToUnicode table with all possible codes.
func manyRanges() string {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "<%04x0000> <%04xffff> <0041>\n", i, i)
	}
	return b.String() + "endbfrange"
}

func TestBombs(t *testing.T) {
	const f1 = "/Font<</F1 3 0 R>>"
	zeros := deflate(deflate(strings.Repeat("\x00", 1<<25)))
	doubling := make([]string, 30)
	for i := range doubling {
		doubling[i] = streamOf(fmt.Sprintf("/Subtype/Form/Resources<</XObject<</X %d 0 R>>>>", 7+i), "/X Do /X Do /X Do /X Do /X Do /X Do /X Do /X Do")
	}
	for name, data := range map[string][]byte{
		"form in itself":         withContent(f1+"/XObject<</X 6 0 R>>", "/X Do", streamOf("/Subtype/Form", "/X Do /X Do BT /F1 9 Tf (x) Tj ET")),
		"deflated twice":         bytes.Replace(withContent("", zeros), []byte("<< /Length"), []byte("<</Filter[/FlateDecode/FlateDecode] /Length"), 1),
		"doubling forms":         withContent("/XObject<</X 6 0 R>>", "/X Do", doubling...),
		"nested arrays":          withContent(f1, strings.Repeat("[", 1<<20)),
		"nested dicts":           append([]byte("%PDF-1.4\n1 0 obj\n"), bytes.Repeat([]byte("<</A"), 1<<20)...),
		"endless strings":        append([]byte("%PDF-1.4\n"), bytes.Repeat([]byte("1 0 obj ("), 1<<14)...),
		"wide predictor":         bytes.Replace(withContent("", deflate("x")), []byte("<< /Length"), []byte("<</Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 999999999999/Colors 32>> /Length"), 1),
		"length of itself":       file("", "<</Type/Catalog/Pages 2 0 R>>", "<</Kids[3 0 R]>>", "<</Type/Page/Contents 4 0 R>>", "<</Length 4 0 R>>\nstream\nx\nendstream"),
		"references in a circle": file("", "<</Type/Catalog/Pages 2 0 R>>", "3 0 R", "2 0 R"),
		"huge font ranges": withContent("/Font<</F1 6 0 R>>", "BT /F1 9 Tf (a) Tj ET",
			"<</Subtype/Type0/DescendantFonts[<</W[0 2000000000 1 0 2000000000 1]>>]/ToUnicode 7 0 R>>",
			streamOf("", manyRanges())),
	} {
		bounded(t, name, func() {
			d, err := Open(t.Context(), data)
			if err != nil {
				return
			}
			d.Text(t.Context(), 1)       // ok: only the cost matters
			d.Extract(t.Context(), 1, 1) // ok: as above
			d.Scan(1)
		})
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	data := withContent("", strings.Repeat("0 0 m ", 1<<20))
	d, err := Open(ctx, data)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := d.Text(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Text = %v", err)
	}
	if _, err := d.Extract(ctx, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Extract = %v", err)
	}
	if _, err := Open(ctx, data); !errors.Is(err, context.Canceled) {
		t.Errorf("Open = %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(document("one", "two"))
	f.Add(packed(documentObjects([]string{"one", "two"})))
	f.Add(withContent("/Font<</F1 3 0 R>>", "BT /F1 9 Tf [(a) -500 (b)] TJ <41> ' BI ID EI ET q Q"))
	f.Add(file("/Encrypt 1 0 R", documentObjects([]string{"a"})...))
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		d, err := Open(ctx, data)
		if err != nil {
			return
		}
		n := min(d.Pages(), 3)
		for i := range n {
			if text, err := d.Text(ctx, i+1); err == nil && !utf8.ValidString(text) {
				t.Errorf("page %d is %q", i+1, text)
			}
			d.Scan(i + 1)
		}
		part, err := d.Extract(ctx, 1, n)
		if err != nil {
			return
		}
		if e, err := Open(ctx, part); err != nil || e.Pages() != n {
			t.Errorf("%d pages came out as %v", n, err)
		}
	})
}
