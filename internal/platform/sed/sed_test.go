package sed

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	tests := []struct {
		args  []string
		files []string // nil means that it is not understood
	}{
		{[]string{"-i", "s/a/b/", "f"}, []string{"f"}},
		{[]string{"s/a/b/g", "-i", "f", "g"}, []string{"f", "g"}},
		{[]string{"-i", "-E", "s/(a+)b/\\1/", "f"}, []string{"f"}},
		{[]string{"-r", "--in-place", "-e", "s/a/b/", "-e", "s|/x|/y|g", "f"}, []string{"f"}},
		{[]string{"-i", "--expression=s/a/b/;s/c/d/g", "--", "-f"}, []string{"-f"}},
		{[]string{"-i", `s/\bfoo\b/bar/g`, "f"}, []string{"f"}},
		{[]string{"-i", `s/^\s*//`, "f"}, []string{"f"}},
		{[]string{"-i", `s/version = "[0-9.]*"/version = "1.2.3"/`, "f"}, []string{"f"}},
		{[]string{"-i", `s#https\?://[^/]*#&#`, "f"}, []string{"f"}},

		{[]string{"s/a/b/", "f"}, nil},
		{[]string{"-i", "s/a/b/"}, nil},
		{[]string{"-i.bak", "s/a/b/", "f"}, nil},
		{[]string{"--in-place=.bak", "s/a/b/", "f"}, nil},
		{[]string{"-iE", "s/a/b/", "f"}, nil},
		{[]string{"-Ei", "s/a/b/", "f"}, nil},
		{[]string{"-ni", "s/a/b/", "f"}, nil},
		{[]string{"-n", "-i", "s/a/b/", "f"}, nil},
		{[]string{"-z", "-i", "s/a/b/", "f"}, nil},
		{[]string{"-i", "-f", "script", "f"}, nil},
		{[]string{"-i", "--expr=s/a/b/", "f"}, nil},
		{[]string{"-i", "s/a/b/", "-"}, nil},
		{[]string{"-i", "s/a/b/", "f", "f"}, nil},
		{[]string{"-i", "s/a/b/", ""}, nil},
		{[]string{"-i", "-e"}, nil},
		{nil, nil},
	}
	for _, script := range []string{
		"", ";", "s/a/b", "s/a", "s//b/", "s/a/b/p", "s/a/b/w f", "s/a/b/e", "s/a/b/I", "s/a/b/2", "s/a/b/gg", "s/a/b/m", "1s/a/b/", "/x/s/a/b/", "$s/a/b/", "d", "s/a/b/;d", "s/a/b/;p", "y/a/b/", "s/a/b/ #x", "s/a/b/}", "a\\x", "s/a/b\nd/",
		`s/a\|b/c/`, `s/\(a\)*/c/`, `s/\(a\(b\)\)/c/`, `s/\(a\)\1/c/`, `s/a/\2/`, `s/a/\n/`, `s/a\nb/c/`, `s/a/\U&/`, `s/a/\x41/`, `s/*a/b/`, `s/\(*a\)/b/`, `s/^*a/b/`, `s/a**/b/`, `s/a\{,3\}/b/`, `s/a\{3/b/`, `s/a^b/c/`, `s/a$b/c/`, `s/\(^a\)/b/`, `s/\(\)/b/`,
		`s/[/b/`, `s/[a/b/`, `s/[[.a.]]/b/`, `s/[[=a=]]/b/`, `s/[\n]/b/`, `s/[a-Z]/b/`, `s/[é]/b/`, `s/é*/b/`, "s/\\`a/b/", `s/a\'/b/`, `s/\B/b/`, `s/\b/x/g`, `s/\<.*/b/`, `s/.\>/b/`, `s/\<a*/b/`, `s/\d/b/`, `s|a\|b|c|`, `s,a\,b,c,`, `s/a/b\`, "s/\x01/b/", "s/a\xff/b/", "sxaxbx", "s a b ", `s/\(a/b/`, `s/a\)/b/`, "s.a.b.", `s/\cx/b/`, `s/\o101/b/`,
	} {
		tests = append(tests, struct {
			args  []string
			files []string
		}{[]string{"-i", script, "f"}, nil})
	}
	for _, script := range []string{"s/a|b/c/", "s/(a)+/c/", "s/(a/c/", "s/a)/c/", "s/()/c/", "s/+a/c/", "s/a{/c/", "s/a{,2}/c/", "s/{2}/c/", "s/a}/c/", "s/(^a)/c/", "s/a++/b/", "s/(a)(b)/\\3/"} {
		tests = append(tests, struct {
			args  []string
			files []string
		}{[]string{"-E", "-i", script, "f"}, nil})
	}
	for _, tt := range tests {
		e, ok := Parse(tt.args)
		if ok != (tt.files != nil) {
			t.Errorf("%q: %v", tt.args, ok)
			continue
		}
		if ok {
			if diff := cmp.Diff(tt.files, e.Files); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.args, diff)
			}
		}
	}
}

// A maker makes expressions and lines out of the same few characters, so that they meet.
type maker struct{ *rand.Rand }

func (m maker) pick(s ...string) string { return s[m.IntN(len(s))] }

func (m maker) atom(extended bool) string {
	atoms := []string{"a", "b", "c", "ab", "x", "1", "_", " ", ".", ".", `\.`, `\*`, `\/`, `\$`, `\^`, `\[`, `\]`, `\\`, "-", "=", `"`, "'", "<", ">", "&", ",", ";", ":", `\t`, `\w`, `\W`, `\s`, `\S`, `\b`, `\<a`, `a\>`, `\-`, `\"`, `\&`, "é", "日",
		"[abc]", "[^abc]", "[a-c]", "[^a-z]", "[0-9]", "[]a]", "[^]a]", "[a-]", "[-a]", "[.]", "[*]", "[$]", "[a^]", "[[:alpha:]]", "[[:space:]]", "[^[:alnum:]_]", "[[:digit:]a]", "[[:punct:]]", "[&/]", `[|]`, "]"}
	if extended {
		atoms = append(atoms, `\+`, `\?`, `\(`, `\)`, `\{`, `\}`, `\|`)
	} else {
		atoms = append(atoms, "+", "?", "(", ")", "{", "}", "|")
	}
	return atoms[m.IntN(len(atoms))]
}

func (m maker) pattern(extended bool) string {
	open, end, plus, maybe, from, to := `\(`, `\)`, `\+`, `\?`, `\{`, `\}`
	if extended {
		open, end, plus, maybe, from, to = "(", ")", "+", "?", "{", "}"
	}
	var b strings.Builder
	b.WriteString(m.pick("", "", "", "^"))
	inside := false
	for range 1 + m.IntN(5) {
		if m.IntN(5) == 0 {
			if inside {
				b.WriteString(end)
			} else {
				b.WriteString(open)
			}
			inside = !inside
		}
		b.WriteString(m.atom(extended))
		b.WriteString(m.pick("", "", "", "", "*", "*", plus, maybe, from+"2"+to, from+"1,2"+to, from+"0,1"+to, from+"1,"+to))
	}
	if inside {
		b.WriteString(end)
	}
	b.WriteString(m.pick("", "", "", "$"))
	return b.String()
}

func (m maker) replacement() string {
	var b strings.Builder
	for range m.IntN(4) {
		b.WriteString(m.pick("x", "Y", "&", `\&`, `\1`, `\2`, `\\`, `\/`, `\.`, `\t`, " ", "é", `\-`, `\"`, "$", "^", "*", "[", `\$`, "1"))
	}
	return b.String()
}

func (m maker) script(extended bool) string {
	s := "s/" + m.pattern(extended) + "/" + m.replacement() + "/" + m.pick("", "g")
	if m.IntN(6) == 0 {
		s += ";s|" + strings.ReplaceAll(m.pattern(extended), "|", "") + "|" + strings.ReplaceAll(m.replacement(), "|", "") + "|g"
	}
	return s
}

func (m maker) content(unicode bool) []byte {
	var b bytes.Buffer
	for range m.IntN(30) {
		for range m.IntN(12) {
			b.WriteString(m.pick("a", "a", "b", "b", "c", "aa", "ab", "x", "1", "23", "_", " ", "  ", "\t", ".", "*", "/", "$", "^", "[", "]", `\`, "-", "=", `"`, "'", "<", ">", "&", ",", ";", ":", "+", "?", "(", ")", "{", "}", "|", "\r", "word", "foo"))
			if unicode && m.IntN(5) == 0 {
				b.WriteString(m.pick("é", "日", "ü", "\u00a0", "😀", "K", "\u200b"))
			}
		}
		b.WriteByte('\n')
	}
	if m.IntN(3) == 0 {
		b.WriteString(m.pick("a last line", "b", "é"[:2*m.IntN(2)]))
	}
	return b.Bytes()
}

// What is understood comes out as real sed makes it, byte for byte, in every language.
//
// Proves SHOUT-06.
func TestSedMakesTheSame(t *testing.T) {
	sed, err := exec.LookPath("sed")
	if err != nil {
		t.Fatal("sed is needed: ", err)
	}
	const seed = 11
	m := maker{rand.New(rand.NewPCG(seed, seed))}
	dir := t.TempDir()
	understood, changed, tried := 0, 0, 0
	for understood < 1000 {
		if tried++; tried > 100_000 {
			t.Fatalf("only %d of %d expressions are understood", understood, tried)
		}
		args := []string{"-i", m.script(false), "f"}
		if m.IntN(2) == 0 {
			args = []string{"-E", "-i", "-e", m.script(true), "f"}
		}
		e, ok := Parse(args)
		if !ok {
			continue
		}
		data := m.content(m.IntN(3) == 0)
		if !e.Takes(data) {
			continue
		}
		understood++
		got, n := e.Apply(data)
		if n > 0 {
			changed++
		}
		if (n > 0) != !bytes.Equal(got, data) {
			t.Fatalf("%q changed %d lines", args, n)
		}
		name := filepath.Join(dir, "f")
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(sed, args...)
		cmd.Dir, cmd.Env = dir, []string{"LC_ALL=" + m.pick("C", "C.UTF-8")}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("seed %d: sed does not understand %q: %s", seed, args, out)
			continue
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, got) {
			t.Errorf("seed %d: %q with %v%s", seed, args, cmd.Env, firstDifference(data, want, got))
		}
		if t.Failed() && understood > 500 {
			return
		}
	}
	if changed < understood/4 {
		t.Errorf("only %d of %d changed anything", changed, understood)
	}
}

func firstDifference(data, want, got []byte) string {
	d, w, g := bytes.Split(data, []byte("\n")), bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for i := range d {
		if i >= len(w) || i >= len(g) || !bytes.Equal(w[i], g[i]) {
			return fmt.Sprintf(" on %q: sed %q, ours %q", d[i], w[min(i, len(w)-1)], g[min(i, len(g)-1)])
		}
	}
	return ""
}

func TestTakes(t *testing.T) {
	for _, tt := range []struct {
		script, data string
		want         bool
	}{
		{"s/a/b/", "ascii", true}, {"s/a/b/", "größe", true}, {"s/./b/", "größe", false}, {"s/[^a]/b/", "é", false}, {"s/a*/b/g", "é", false}, {"s/^/x/", "é", true}, {"s/$/x/", "é", true},
		{"s/a/b/", "a\x00b", false}, {"s/a/b/", "a\xff", false}, {`s/\bx/b/`, "é", false}, {"s/é/e/", "é", true}, {"s/a/b/;s/./c/", "é", false},
	} {
		e, ok := Parse([]string{"-i", tt.script, "f"})
		if !ok {
			t.Fatal(tt.script)
		}
		if got := e.Takes([]byte(tt.data)); got != tt.want {
			t.Errorf("%q, %q: %v", tt.script, tt.data, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("s/a\\(b*\\)c/x\\1&/g;s|a|b|", "aabbcc\nabc", true)
	f.Add("s/[^]a-c[:alpha:]]\\{1,2\\}$/\\t/", "\n\n", false)
	f.Fuzz(func(t *testing.T, script, data string, extended bool) {
		args := []string{"-i", "-e", script, "f"}
		if extended {
			args = append(args, "-E")
		}
		if e, ok := Parse(args); ok && e.Takes([]byte(data)) {
			out, _ := e.Apply([]byte(data))
			if bytes.Count(out, []byte("\n")) != strings.Count(data, "\n") {
				t.Fatalf("%q changes the number of lines of %q", script, data)
			}
		}
	})
}
