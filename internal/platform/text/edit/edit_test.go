package edit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

func wide(s string, order binary.ByteOrder) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.(binary.AppendByteOrder).AppendUint16(b, u)
	}
	return string(b)
}

func le(s string) string { return wide("\ufeff"+s, binary.LittleEndian) }
func be(s string) string { return wide("\ufeff"+s, binary.BigEndian) }

// apply performs an edit.
func apply(file string, r Request) (string, error) {
	data := []byte(file)
	p, err := Find(data, r)
	if err != nil {
		return "", err
	}
	out := string(bytes.Join(p.Pieces(), nil))
	if string(data) != file {
		return "", errors.New("the content was written to")
	}
	return out, nil
}

// Proves EDIT-03, EDIT-04, EDIT-05, EDIT-06, EDIT-07.
func TestFind(t *testing.T) {
	tests := []struct {
		name, file string
		r          Request
		want       string
	}{
		{"once", "a b c", Request{Old: "b", New: "x"}, "a x c"},
		{"all", "a b a b", Request{Old: "b", New: "xx", All: true}, "a xx a xx"},
		{"all, one after the other", "aaaa a", Request{Old: "aa", New: "b", All: true}, "bb a"},
		{"several lines", "a\nb\nc\n", Request{Old: "a\nb\n", New: "x\n"}, "x\nc\n"},
		{"no final newline stays", "a\nb", Request{Old: "b", New: "c"}, "a\nc"},

		{"delete a word", "a b c\n", Request{Old: " b", New: ""}, "a c\n"},
		{"delete a line", "a\nb\nc\n", Request{Old: "b", New: ""}, "a\nc\n"},
		{"delete a line of a CRLF file", "a\r\nb\r\nc\r\n", Request{Old: "b", New: ""}, "a\r\nc\r\n"},
		{"delete the first line", "a\nb\n", Request{Old: "a", New: ""}, "b\n"},
		{"delete the first line after a mark", "\ufeffa\nb\n", Request{Old: "a", New: ""}, "\ufeffb\n"},
		{"delete the last line", "a\nb", Request{Old: "b", New: ""}, "a\n"},
		{"delete two lines", "a\nb\nc\n", Request{Old: "a\nb", New: ""}, "c\n"},
		{"delete with its end", "a\nb\nc\n", Request{Old: "b\n", New: ""}, "a\nc\n"},
		{"delete the end of a line", "ab\nc\n", Request{Old: "b", New: ""}, "a\nc\n"},
		{"delete the start of a line", "ab\nc\n", Request{Old: "a", New: ""}, "b\nc\n"},
		{"delete all lines", "x\nb\nx\n", Request{Old: "x", New: "", All: true}, "b\n"},

		{"curly in the file", "say “a” now", Request{Old: `"a"`, New: `"b"`}, "say “b” now"},
		{"curly before the match", "‘’“” don’t x", Request{Old: "don't x", New: "do not y"}, "‘’“” do not y"},
		{"curly in the request", `say "a" now`, Request{Old: "“a”", New: "b"}, "say b now"},
		{"style kept", "“it’s”", Request{Old: `"it's"`, New: `don't "x"`}, "don’t “x”"},
		{"style of a straight file", `"it's"`, Request{Old: `"it's"`, New: `don't "x"`}, `don't "x"`},
		{"only kinds that are curly", "“it's”", Request{Old: `"it's"`, New: `don't ("x")`}, "don't (“x”)"},
		{"brackets, dashes and nesting", "“a”", Request{Old: `"a"`, New: `["x"] –"y" "z`}, "[“x”] –“y” “z"},
		{"single and nested", "“‘a’”", Request{Old: `"'a'"`, New: `'b' "'c'"`}, "‘b’ “‘c’”"},
		{"untouched marks stay as they are", "”odd“ a", Request{Old: `"odd" a`, New: `"odd" b`}, "”odd“ b"},
		{"exact is not folded", "“a” and \"a\"", Request{Old: `"a"`, New: `"b"`}, "“a” and \"b\""},

		{"CRLF", "a\r\nb\r\nc\r\n", Request{Old: "a\nb", New: "x\ny\nz"}, "x\r\ny\r\nz\r\nc\r\n"},
		{"CRLF sent", "a\nb\n", Request{Old: "a\r\nb", New: "x\r\ny"}, "x\ny\n"},
		{"mixed, mostly LF", "a\r\nb\nc\nd\n", Request{Old: "c", New: "x\ny"}, "a\r\nb\nx\ny\nd\n"},
		{"mixed, mostly CRLF", "a\r\nb\nc\r\nd\r\n", Request{Old: "b", New: "x\ny"}, "a\r\nx\r\ny\nc\r\nd\r\n"},
		{"mixed, lines between stay", "a\nb\r\nc\nd\r\ne\r\n", Request{Old: "a\nb\nc\nd", New: "A\nb\nc\nD"}, "A\r\nb\r\nc\nD\r\ne\r\n"},
		{"no line end to follow", "a", Request{Old: "a", New: "b\r\nc\n"}, "b\r\nc\n"},
		{"lone CR is content", "a\rb\r\n", Request{Old: "a\rb", New: "c\rd"}, "c\rd\r\n"},
		{"CR before CRLF", "a\r\r\nb", Request{Old: "a\r\r\n", New: "c\r\r\n"}, "c\r\r\nb"},
		{"blank lines", "a\r\n\r\nb", Request{Old: "\n\n", New: "\n"}, "a\r\nb"},

		{"mark", "\ufeffa b", Request{Old: "a", New: "x"}, "\ufeffx b"},
		{"UTF-16LE", le("a\r\n𝄞ä\r\n"), Request{Old: "a\n𝄞", New: "b\nü𝄞𝄞"}, le("b\r\nü𝄞𝄞ä\r\n")},
		{"UTF-16BE", be("a\nä\n"), Request{Old: "ä", New: "ö\nß"}, be("a\nö\nß\n")},
		{"UTF-16 by halves", le("\u0a0d\u0d0a a\n"), Request{Old: "a\n", New: "b\n"}, le("\u0a0d\u0d0a b\n")},
		{"UTF-16 quotes", le("“a”"), Request{Old: `"a"`, New: `"b"`}, le("“b”")},
		{"UTF-16 with half a character", le("a") + "\x00\xd8" + wide("b", binary.LittleEndian) + "c", Request{Old: "b", New: "x"}, le("a") + "\x00\xd8" + wide("x", binary.LittleEndian) + "c"},
		{"UTF-16 delete a line", le("a\r\nb\r\n"), Request{Old: "a", New: ""}, le("b\r\n")},
		{"Latin-1", "caf\xe9 a \xff\n", Request{Old: " a ", New: " b "}, "caf\xe9 b \xff\n"},
		{"damaged UTF-8", "é\xff a", Request{Old: "a", New: "ü"}, "é\xff ü"},
		{"null bytes", "\x00a\x00b", Request{Old: "a", New: "c"}, "\x00c\x00b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := apply(tt.file, tt.r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Proves EDIT-03, EDIT-05, EDIT-07.
func TestFindRefuses(t *testing.T) {
	tests := []struct {
		name, file string
		r          Request
		want       error
	}{
		{"twice", "a\nb\na\n", Request{Old: "a", New: "x"}, &Ambiguous{2, []int{1, 3}}},
		{"overlapping", "aaa", Request{Old: "aa", New: "x"}, &Ambiguous{2, []int{1, 1}}},
		{"many", strings.Repeat("a\n", 30), Request{Old: "a", New: "x"}, &Ambiguous{30, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}},
		{"twice when folded", "“a”\n‘’“a“", Request{Old: `"a"`, New: "x"}, &Ambiguous{2, []int{1, 2}}},
		{"none", "abc", Request{Old: "xyz", New: "x"}, &NotFound{}},
		{"none after folding", "“abc”", Request{Old: `"x"`, New: "x"}, &NotFound{}},
		{"half of a line end", "a\r\nb", Request{Old: "a\r", New: "x"}, &NotFound{}},
		{"same", "a", Request{Old: "a", New: "a"}, ErrSame},
		{"same but for ends", "a\n", Request{Old: "a\r\n", New: "a\n"}, ErrSame},
		{"not in the encoding", "caf\xe9 x", Request{Old: "x", New: "日"}, &Unencodable{'日', true}},
		{"not in an unknown encoding", "caf\xe9\x81 x", Request{Old: "x", New: "ü"}, &Unencodable{'ü', false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := apply(tt.file, tt.r)
			if tt.want == ErrSame {
				if !errors.Is(err, ErrSame) {
					t.Errorf("error %v", err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, err); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Proves EDIT-03.
func TestNear(t *testing.T) {
	const file = "package a\n\nfunc f() {\n\tif x {\n\t\treturn 1   \n\t}\n}\n\nfunc g(count int) string { return \"g\" }\n"
	tests := []struct {
		name, old string
		want      *Near
	}{
		{"spaces for tabs", "    if x {\n        return 1\n    }", &Near{4, []string{"\tif x {", "\t\treturn 1   ", "\t}"}, true, "the file has tabs where the text has spaces"}},
		{"trailing spaces and more", "\t\treturn 1\n\t}  \n}\n\nfunc g", &Near{5, []string{"\t\treturn 1   ", "\t}", "}", "", `func g(count int) string { return "g" }`}, true, "spaces at the end of lines"}},
		{"inside a line", "g(count  int)", &Near{9, []string{`func g(count int) string { return "g" }`}, true, "the number of spaces or line ends"}},
		{"one line differs", "func f() {\n\tif y {\n\t\treturn 1   ", &Near{3, []string{"func f() {", "\tif x {", "\t\treturn 1   "}, false, ""}},
		{"a similar line", "func g(counter int) string", &Near{9, []string{`func g(count int) string { return "g" }`}, false, ""}},
		{"nothing like it", "zzzzqqqq", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var missing *NotFound
			if _, err := apply(file, Request{Old: tt.old, New: "x", All: strings.HasPrefix(tt.name, "trailing")}); !errors.As(err, &missing) {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(tt.want, missing.Near); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestBlanksAtLineEnds checks that a text is found if only trailing blanks differ, and that
// unchanged lines keep theirs (model-side review, section 3.2).
//
// Proves EDIT-05.
func TestBlanksAtLineEnds(t *testing.T) {
	const file = "one  \ntwo\t\nthree\n\nfour \none\n"
	tests := []struct{ name, file, old, fresh, want string }{
		{"missing blanks", file, "two\nthree\n", "two\n3\n", "one  \ntwo\t\n3\n\nfour \none\n"},
		{"additional blanks", file, "three   \n\nfour\n", "three   \n\n4\n", "one  \ntwo\t\nthree\n\n4\none\n"},
		{"a changed line loses them", file, "two\nthree", "TWO\nthree", "one  \nTWO\nthree\n\nfour \none\n"},
		{"from inside a line to inside a line", file, "ne\ntw", "n\ntw", "on\ntwo\t\nthree\n\nfour \none\n"},
		{"at the end of one line", file, "three  ", "3", "one  \ntwo\t\n3\n\nfour \none\n"},
		{"a line added", file, "two\nthree", "two\nnew\nthree", "one  \ntwo\t\nnew\nthree\n\nfour \none\n"},
		{"lines removed", file, "two\nthree\n\nfour\n", "two\n", "one  \ntwo\t\none\n"},
		{"CRLF", "a  \r\nb\r\n", "a\nb", "a\nc", "a  \r\nc\r\n"},
		{"UTF-16", le("a  \nb\n"), "a\nb", "a\nc", le("a  \nc\n")},
		{"not in the middle of a line", "threefold\n", "three ", "3", "!"},
		{"ambiguous", "a \nb\na  \nb\n", "a\nb", "a\nc", "!"},
		{"indentation counts", "\ta \n\tb\n", "a\nb", "a\nc", "!"},
		{"blank lines alone", "a\n \n", "  \n\n", "x", "!"},
		{"already so", "a\nb\n", "a  \nb", "a\nb", "same"},
	}
	for _, tt := range tests {
		r := Request{Old: tt.old, New: tt.fresh}
		got, err := apply(tt.file, r)
		var missing *NotFound
		switch {
		case tt.want == "!" && errors.As(err, &missing), tt.want == "same" && errors.Is(err, ErrSame):
		case err != nil || got != tt.want:
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		default:
			if p, _ := Find([]byte(tt.file), r); !p.Blanks {
				t.Errorf("%s: no hint about different white space", tt.name)
			}
		}
	}
}

func TestSlip(t *testing.T) {
	const file = "package a\n\nfunc f() {\n\tprint(\"x\", 'y', `z`)\n}\n// a \\ b\n"
	for old, want := range map[string]CopyMistake{
		"     3\tfunc f() {\n     4\t\tprint(": {Numbered: true},
		"3\tfunc f() {\n":                      {Numbered: true},
		"3→func f() {":                         {Numbered: true},
		"3\tfunc g() {":                        {},
		"func f() {\n4\tprint":                 {},
		`print(\"x\", `:                        {Escaped: `"`},
		`\'y\'`:                                {Escaped: `'`},
		"\\`z\\`":                              {Escaped: "`"},
		`a \\ b`:                               {Escaped: `\`},
		`package a\n\nfunc`:                    {Escaped: "n"},
		`f() {\n` + "\tprint":                  {Escaped: "n"},
		`\tprint(`:                             {Escaped: "t"},
		`\tprint(\"x\"`:                        {Escaped: "t"},
		`\"nothing\"`:                          {},
	} {
		_, err := Find([]byte(file), Request{Old: old, New: "x"})
		var missing *NotFound
		if !errors.As(err, &missing) || missing.Slip != want {
			t.Errorf("%q: %v, want %+v", old, err, want)
		}
	}
}

func TestPlanTellsWhatItDid(t *testing.T) {
	p, err := Find([]byte("x\r\n“a”\r\ny\r\n“b”\r\n“a”\r\n"), Request{Old: `"a"`, New: "\"c\"\n", All: true})
	if err != nil {
		t.Fatal(err)
	}
	if p.Old != "“a”" || p.New != "“c”\r\n" || !p.Folded || !p.Adapted || len(p.Matches) != 2 {
		t.Errorf("old %q, new %q, folded %v, adapted %v, %d matches", p.Old, p.New, p.Folded, p.Adapted, len(p.Matches))
	}
	if diff := cmp.Diff([][2]int{{2, 2}, {5, 5}}, p.Lines()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Changed{{2, 1, 2}, {5, 1, 2}}, p.Changed()); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	p, err = Find([]byte("a b a\nc\n"), Request{Old: "a", New: "1\n2", All: true})
	if err != nil || p.Adapted || p.Folded {
		t.Fatal(err, p.Adapted)
	}
	if diff := cmp.Diff([]Changed{{1, 1, 3}}, p.Changed()); diff != "" {
		t.Errorf("two on a line (-want +got):\n%s", diff)
	}
	p, err = Find([]byte("a\nb\nc\n"), Request{Old: "b\n", New: ""})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][2]int{{2, 2}}, p.Lines()); diff != "" {
		t.Errorf("a whole line (-want +got):\n%s", diff)
	}
}
