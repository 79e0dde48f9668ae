package code

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var names = map[Class]string{Keyword: "k", String: "s", Number: "n", Comment: "c"}

// marked returns a text with its classes as tags.
func marked(name, text string) string {
	l := New(name)
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		var b strings.Builder
		from := 0
		for _, t := range l.Line(nil, line) {
			piece := line[from:t.End]
			if n := names[t.Class]; n != "" {
				piece = "<" + n + ">" + piece + "</>"
			}
			b.WriteString(piece)
			from = t.End
		}
		out = append(out, b.String())
	}
	return strings.Join(out, "\n")
}

// Proves X-123.
func TestLanguages(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"go", "func f(a int) string { return \"x\\\"\" + `r` // c", "<k>func</> f(a <k>int</>) <k>string</> { <k>return</> <s>\"x\\\"\"</> + <s>`r`</> <c>// c</>"},
		{"main.go", "x := 'a' + '\\'' + 0x1f /* b\nstill */ + 1.5", "x := <s>'a'</> + <s>'\\''</> + <n>0x1f</> <c>/* b</>\n<c>still */</> + <n>1.5</>"},
		{"go", "s := `raw\n\"still` + x.type", "s := <s>`raw</>\n<s>\"still`</> + x.type"},
		{"python", "def f(x): # c\n  \"\"\"doc\n  \"quoted\" \"\"\"\n  return f'{x}' + r\"y\"", "<k>def</> f(x): <c># c</>\n  <s>\"\"\"doc</>\n<s>  \"quoted\" \"\"\"</>\n  <k>return</> f<s>'{x}'</> + r<s>\"y\"</>"},
		{"rust", "fn f<'a>(x: &'a str) -> char { 'x' }", "<k>fn</> f<'a>(x: &'a <k>str</>) -> <k>char</> { <s>'x'</> }"},
		{"js", "const a = `x\n${y}` + 'z' // 1", "<k>const</> a = <s>`x</>\n<s>${y}`</> + <s>'z'</> <c>// 1</>"},
		{"tsx", "let a: string = null", "<k>let</> a: <k>string</> = <k>null</>"},
		{"bash", "if [ $# -gt 0 ]; then echo \"a\nb\" 'c'; fi # d", "<k>if</> [ $# -gt <n>0</> ]; <k>then</> <k>echo</> <s>\"a</>\n<s>b\"</> <s>'c'</>; <k>fi</> <c># d</>"},
		{"sql", "SELECT a FROM t -- c\nWHERE b = 'x'", "<k>SELECT</> a <k>FROM</> t <c>-- c</>\n<k>WHERE</> b = <s>'x'</>"},
		{"json", `{"a": [1, true]}`, `{<s>"a"</>: [<n>1</>, <k>true</>]}`},
		{"yaml", "a: don't # c\nb: \"x\"", "a: don't <c># c</>\nb: <s>\"x\"</>"},
		{"html", "<a href=\"x\">it's</a> <!-- c\n-->", "<<k>a</> href=<s>\"x\"</>>it's</<k>a</>> <c><!-- c</>\n<c>--></>"},
		{"lua", "--[[ a\nb ]] local x = 1 -- c", "<c>--[[ a</>\n<c>b ]]</> <k>local</> x = <n>1</> <c>-- c</>"},
		{"Dockerfile", "FROM x AS y", "<k>FROM</> x <k>AS</> y"},
		{"css", "a { color: #fff; /* c */ }", "a { color: #fff; <c>/* c */</> }"},
		{"unknown", "if \"x\" // y", "if \"x\" // y"},
		{"", "if", "if"},
		{"go", "\"open", "<s>\"open</>"},
		{"c", "'", "'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := marked(tt.name, tt.text); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestNames checks that at least 20 languages are defined and that each can be found by its
// names.
func TestNames(t *testing.T) {
	seen := map[*language]bool{}
	for _, l := range languages() {
		seen[l] = true
	}
	if len(seen) < 20 {
		t.Errorf("%d languages", len(seen))
	}
	for _, name := range []string{"go", "GO", "go title=\"x\"", "a/b/main.go", `c:\x\y.PY`, "Makefile", "x.tar.json"} {
		if l := New(name); !l.Known() {
			t.Errorf("%q is not known", name)
		}
	}
}

// FuzzLine checks that tokens cover the whole line for any input.
func FuzzLine(f *testing.F) {
	for name := range languages() {
		f.Add(name, "a = \"b\" 'c' // d /* e\n*/ `f` # g <h i='j'> 1.5 '\\'' \\")
	}
	f.Add("unknown", "a\n\nb")
	f.Fuzz(func(t *testing.T, name, text string) {
		l := New(name)
		for line := range strings.SplitSeq(text, "\n") {
			last := 0
			for _, tok := range l.Line(nil, line) {
				if tok.End <= last {
					t.Fatalf("%q: a token from %d to %d", line, last, tok.End)
				}
				last = tok.End
			}
			if last != len(line) {
				t.Fatalf("%q is covered up to %d", line, last)
			}
		}
	})
}

func BenchmarkLine(b *testing.B) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		b.Fatal(err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		b.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var tokens []Token
	for b.Loop() {
		l := New("go")
		for _, line := range lines {
			tokens = l.Line(tokens[:0], line)
		}
	}
}

// TestNoAllocations checks that Line does not allocate.
func TestNoAllocations(t *testing.T) {
	l := New("sql")
	tokens := make([]Token, 0, 64)
	if n := testing.AllocsPerRun(100, func() { tokens = l.Line(tokens[:0], "SELECT a, 'b', 1 FROM t /* c */ WHERE x -- d") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
