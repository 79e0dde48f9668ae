package edit

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// A char is one character of a file: its normalized and its raw form.
type char struct {
	as  string // "\n" for every line ending; raw bytes if invalid
	raw string
}

// chars splits a file into characters, independently of the search implementation.
func chars(file string) (mark string, out []char, encode func(string) string) {
	encode = func(s string) string { return s }
	t := newText([]byte(file))
	mark, rest := file[:t.start], file[t.start:]
	size := func(s string) int { _, n := utf8.DecodeRuneInString(s); return n }
	if t.wide != nil {
		encode = func(s string) string { return wide(s, t.wide) }
		size = func(s string) int {
			if len(s) >= 4 {
				if u := t.wide.Uint16([]byte(s)); u >= 0xd800 && u < 0xdc00 {
					if l := t.wide.Uint16([]byte(s)[2:]); l >= 0xdc00 && l < 0xe000 {
						return 4
					}
				}
			}
			return min(2, len(s))
		}
	}
	if t.latin {
		encode = func(s string) string { return string(t.encode(s)) }
		size = func(string) int { return 1 }
	}
	crlf, lf := encode("\r\n"), encode("\n")
	for rest != "" {
		c := char{}
		switch {
		case strings.HasPrefix(rest, crlf):
			c = char{"\n", crlf}
		case strings.HasPrefix(rest, lf):
			c = char{"\n", lf}
		default:
			c.raw = rest[:size(rest)]
			c.as = c.raw
			if s := t.decode([]byte(c.raw)); s != "" && encode(s) == c.raw {
				c.as = s
			}
		}
		out, rest = append(out, c), rest[len(c.raw):]
	}
	return mark, out, encode
}

func straight(s string) string {
	if forms := quoteForms([]rune(s + " ")[0]); forms != "" {
		return forms[:1]
	}
	return s
}

// model performs an edit in the simplest possible way. It supports only files with uniform line
// endings. Ok is false if the edit must be refused.
func model(file string, r Request) (out string, ok bool) {
	mark, in, encode := chars(file)
	_, old, _ := chars(r.Old)
	_, fresh, _ := chars(r.New)
	find := func(same func(a, b string) bool) (at []int) {
		for i := 0; i+len(old) <= len(in); i++ {
			hit := true
			for j := range old {
				hit = hit && same(in[i+j].as, old[j].as)
			}
			if hit && !(r.All && len(at) > 0 && i < at[len(at)-1]+len(old)) {
				at = append(at, i)
			}
		}
		return at
	}
	at := find(func(a, b string) bool { return a == b })
	folded := false
	if len(at) == 0 {
		folded = true
		at = find(func(a, b string) bool { return straight(a) == straight(b) })
	}
	if len(at) == 0 || len(at) > 1 && !r.All {
		return "", false
	}
	end := "" // line ending of the file
	for _, c := range in {
		if c.as == "\n" {
			end = c.raw
		}
	}
	pre, post := 0, 0
	for pre < len(old) && pre < len(fresh) && old[pre].as == fresh[pre].as {
		pre++
	}
	for post < len(old)-pre && post < len(fresh)-pre && old[len(old)-1-post].as == fresh[len(fresh)-1-post].as {
		post++
	}
	if n := len(fresh) - post; post > 0 && n > 0 && fresh[n].as == "\n" && fresh[n-1].as == "\r" {
		post--
	}
	var b strings.Builder
	b.WriteString(mark)
	raw := func(from, to int) {
		for _, c := range in[from:to] {
			b.WriteString(c.raw)
		}
	}
	done := 0
	for n, i := range at {
		raw(done, i)
		done = i + len(old)
		if len(fresh) == 0 {
			atStart := i == 0 || in[i-1].as == "\n"
			taken := n+1 < len(at) && at[n+1] == done // the next match starts with it
			if atStart && done < len(in) && in[done].as == "\n" && old[len(old)-1].as != "\n" && !taken {
				done++
			}
			continue
		}
		raw(i, i+pre)
		for k := pre; k < len(fresh)-post; k++ {
			switch c := fresh[k]; {
			case c.as == "\n" && k > 0 && fresh[k-1].as == "\r":
				b.WriteString(encode(c.raw))
			case c.as == "\n" && end != "":
				b.WriteString(end)
			case c.as == "\n":
				b.WriteString(encode(c.raw))
			case folded:
				before := " "
				if k > 0 {
					before = fresh[k-1].as
				}
				b.WriteString(encode(styled(c.as, before, in[i:i+len(old)])))
			default:
				b.WriteString(encode(c.as))
			}
		}
		raw(done-post, done)
	}
	raw(done, len(in))
	return b.String(), b.String() != file
}

// styled writes straight quotation marks in the style of the matched characters.
func styled(s, before string, matched []char) string {
	opening := strings.ContainsAny(before, " \t\n([-–“‘")
	for _, c := range matched {
		switch {
		case s == `"` && (c.as == "“" || c.as == "”"):
			return map[bool]string{true: "“", false: "”"}[opening]
		case s == "'" && (c.as == "‘" || c.as == "’"):
			return map[bool]string{true: "‘", false: "’"}[opening]
		}
	}
	return s
}

// randomText returns a text made of a few different pieces, so that they occur repeatedly.
func randomText(rnd *rand.Rand, pieces []string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pieces[rnd.IntN(len(pieces))])
	}
	return b.String()
}

// TestTenThousandEdits checks the package's central property against the model.
//
// Proves EDIT-07.
func TestTenThousandEdits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 7))
	words := []string{"a", "b", "ab", " ", "\t", "'", `"`, "“", "”", "’", "ä", "𝄞", "(", "-", "\r", "x=1;"}
	foreign := []string{"\xff", "\xe9", "\x00"}
	done, refused := 0, 0
	for i := 0; done < 10_000; i++ {
		pieces, encode := words, func(s string) string { return s }
		end := []string{"\n", "\r\n"}[rnd.IntN(2)]
		switch rnd.IntN(5) {
		case 0:
			encode = le
		case 1:
			encode = be
		case 2:
			encode = func(s string) string { return "\ufeff" + s }
		case 3:
			pieces = append(append([]string{"é"}, words...), foreign...)
		}
		text := randomText(rnd, append([]string{"\n", "\n"}, pieces...), rnd.IntN(40))
		// A CR before a line ending would become part of it.
		for strings.Contains(text, "\r\n") {
			text = strings.ReplaceAll(text, "\r\n", "\n")
		}
		text = strings.ReplaceAll(text, "\n", end)
		file := encode(text)
		r := Request{
			Old: randomText(rnd, append([]string{"\n"}, words...), 1+rnd.IntN(3)),
			New: randomText(rnd, append([]string{"\n", "\r\n"}, words...), rnd.IntN(4)),
			All: rnd.IntN(2) == 0,
		}
		if len(text) > 4 && rnd.IntN(2) == 0 { // pick a text that certainly occurs
			runes := []rune(text)
			at := rnd.IntN(len(runes))
			r.Old = strings.ToValidUTF8(string(runes[at:min(len(runes), at+1+rnd.IntN(6))]), "")
		}
		if r.Old == "" || strings.HasSuffix(r.New, "\r") {
			continue
		}
		want, ok := model(file, r)
		got, err := apply(file, r)
		switch {
		case ok != (err == nil):
			var bad *Unencodable
			if errors.As(err, &bad) {
				continue
			}
			// The model does not handle trailing blanks; TestBlanksAtLineEnds covers them.
			if p, err := Find([]byte(file), r); err == nil && p.Blanks && !r.All && strings.ContainsAny(text+r.Old, blanks) {
				continue
			}
			t.Fatalf("file %q, request %+v: got %q, %v, want %q, %v", file, r, got, err, want, ok)
		case !ok:
			refused++
		case got != want:
			t.Fatalf("file %q, request %+v:\ngot  %q\nwant %q", file, r, got, want)
		default:
			done++
		}
	}
	if refused == 0 {
		t.Error("nothing was ever refused")
	}
}

// FuzzFind checks the invariants for arbitrary bytes: content outside the matches is unchanged,
// and each replacement reads as requested.
func FuzzFind(f *testing.F) {
	for _, seed := range []struct {
		file, old, new string
		all            bool
	}{
		{"a\r\nb\n", "a\nb", "x\ny", false}, {"“a”", `"a"`, `"b"`, true}, {le("a\r\n"), "a", "", false},
		{"\xff\xfe\n", "\n", "x", true}, {"\r\r\n", "\r\n", "", false}, {"caf\xe9", "caf", "ü", false},
	} {
		f.Add([]byte(seed.file), seed.old, seed.new, seed.all)
	}
	f.Fuzz(func(t *testing.T, file []byte, old, new string, all bool) {
		if old == "" || !utf8.ValidString(old) || !utf8.ValidString(new) || len(file) > 1<<12 {
			return
		}
		before := bytes.Clone(file)
		p, err := Find(file, Request{old, new, all})
		if !bytes.Equal(file, before) {
			t.Fatal("the content was written to")
		}
		if err != nil {
			return
		}
		if len(p.Matches) == 0 || !all && len(p.Matches) > 1 {
			t.Fatalf("%d matches", len(p.Matches))
		}
		want, at := []byte(nil), 0
		for _, s := range p.Spans {
			if s.Start < at || s.End < s.Start || s.End > len(file) {
				t.Fatalf("spans %v", p.Spans)
			}
			want = append(append(want, file[at:s.Start]...), s.New...)
			at = s.End
		}
		want = append(want, file[at:]...)
		if got := bytes.Join(p.Pieces(), nil); !bytes.Equal(got, want) || bytes.Equal(got, file) {
			t.Fatalf("pieces %q, want %q", got, want)
		}
		same := func(a, b string) bool {
			a, _ = foldEnds(a)
			b, _ = foldEnds(b)
			if p.Blanks {
				a, b = withoutBlanks(a), withoutBlanks(b)
			}
			return folded(a) == folded(b)
		}
		if !same(p.New, new) {
			t.Fatalf("reads %q, asked for %q", p.New, new)
		}
		if !same(p.Old, old) {
			t.Fatalf("found %q, looked for %q", p.Old, old)
		}
		p.Hunks()
		if len(p.Lines()) != len(p.Matches) || len(p.Changed()) == 0 {
			t.Fatal("lines are missing")
		}
	})
}

// withoutBlanks returns a text without trailing blanks on its lines.
func withoutBlanks(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = trimmed(line)
	}
	return strings.Join(lines, "\n")
}

func folded(s string) string {
	return strings.Map(func(r rune) rune {
		if forms := quoteForms(r); forms != "" {
			return rune(forms[0])
		}
		return r
	}, s)
}

func BenchmarkFind100MB(b *testing.B) {
	const line = "0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ, and some more text on it\n"
	half := strings.Repeat(line, 50_000_000/len(line))
	data := []byte(half + "target 0\n" + half)
	for b.Loop() {
		p, err := Find(data, Request{Old: "target 0", New: "target 1"})
		if err != nil {
			b.Fatal(err)
		}
		p.Hunks()
		p.Changed()
	}
}
