package shell

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"adze/internal/platform/cputime"
)

// everything asks a script all there is to ask.
func everything(line string) {
	s := Parse(line, Vars{Home: "/home/u", Dir: "/work"})
	s.ReadOnly() // ok: the answer does not matter here
	s.Jailed()   // ok: likewise
	s.Paths()
	s.DangerousRemovals("/home/u", []string{"/work"}, nil)
	s.Suggest()
	s.Class()
	s.Destructive()
	for _, rule := range []string{"rm:*", "*push*", "git * main", "npm test", "g*x*y*z"} {
		pat, _ := ParsePattern(rule) // ok: they are patterns
		s.Suspected(pat)
	}
}

// hostile returns lines of about n characters that are hard on a reader.
func hostile(n int) map[string]string {
	of := func(s string) string { return strings.Repeat(s, n/len(s)) }
	var documents strings.Builder
	for i := 0; documents.Len() < n; i++ {
		fmt.Fprintf(&documents, "bash <<'A%d'\n", i)
	}
	return map[string]string{
		"parentheses":      of("("),
		"closed":           strings.Repeat("( ", n/4) + "ls" + strings.Repeat(" )", n/4),
		"substitutions":    of("$("),
		"arithmetic":       of("(("),
		"subscripts":       of("a["),
		"conditions":       of("if "),
		"functions":        of("f() "),
		"git":              "x " + of("git -C a "),
		"rm":               "sudo " + of("rm "),
		"find":             of("find -exec "),
		"actions":          "find " + of("-exec rm ; "),
		"pipes":            of("a|") + "a",
		"lists":            of("a&&") + "a",
		"braces":           of("{a,b}"),
		"brace sequence":   "{1..1000000000}",
		"nested documents": documents.String(),
		"quotes":           "sh -c '" + of(`"a" `) + "'",
		"strings":          of("sh -c 'a b' "),
		"loose":            of("git push ' "),
		"words":            "x " + of("a "),
		"expansions":       "x " + of("$a"),
		"comments":         of("# a\n"),
		"paths":            of("/a"),
		"cd":               of("cd a; "),
		"assignments":      of("A=b "),
		"backquotes":       of("`"),
		"slashes":          of(`\\`),
	}
}

// Twice the text takes about twice the time, whatever it is, and the longest that is understood takes
// no tenth of a second.
//
// Proves SHAST-06.
func TestHostileLinesCostLittle(t *testing.T) {
	for name, line := range hostile(maxChars) {
		took := best(func() { everything(line) })
		if took > slowdown*100*time.Millisecond {
			t.Errorf("%s: %v", name, took)
		}
		if Parse(line+" ", Vars{}).ReadOnly() == nil && len(line) > maxChars {
			t.Errorf("%s is understood", name)
		}
	}
	small, large := hostile(20_000), hostile(80_000)
	for name := range small {
		a, b := best(func() { everything(small[name]) }), best(func() { everything(large[name]) })
		if b > 10*a+slowdown*20*time.Millisecond {
			t.Errorf("%s: %v for 20,000 characters, %v for 80,000", name, a, b)
		}
	}
}

// best returns the shortest of three runs, as time of the processor: others may be using it too.
func best(f func()) time.Duration {
	shortest := time.Hour
	for range 3 {
		start := cputime.Used()
		f()
		shortest = min(shortest, cputime.Used()-start)
	}
	return shortest
}

// Nothing is left out of a long line.
//
// Proves SHAST-06.
func TestLongLinesAreSearchedToTheEnd(t *testing.T) {
	rm, _ := ParsePattern("rm:*")
	for _, filler := range []string{"echo a; ", "( ", "echo 'a\n", "$(", "if "} {
		line := strings.Repeat(filler, 100_000/len(filler)) + "; rm -rf x"
		if s := Parse(line, Vars{}); s.Simple || !suspected(line, rm) {
			t.Errorf("a command behind %q is not found", filler)
		}
	}
}

// The lines of the test tables stand for what is usual.
//
// Proves SHAST-06.
func TestUsualLinesTakeUnderAMillisecond(t *testing.T) {
	var lines []string
	readLines(t, "testdata/readonly.txt", func(text string) { lines = append(lines, text[2:]) })
	everything(lines[0]) // the tables are read once
	var slow int
	for _, line := range lines {
		if best(func() { everything(line) }) > slowdown*time.Millisecond {
			slow++
		}
	}
	if slow > len(lines)/100 {
		t.Errorf("%d of %d lines take more than a millisecond", slow, len(lines))
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		Parse("cd sub && grep -rn 'func main' --include='*.go' . | head -20", Vars{}).ReadOnly()
	}
}

func BenchmarkJailed(b *testing.B) {
	for name, line := range map[string]string{
		"plain": "ls -la",
		"pipe":  "cd sub && grep -rn 'func main' --include='*.go' . | head -20",
		"loop":  `for f in $(git ls-files '*.go'); do echo "$f: $(wc -l < "$f")"; done | sort -rn | head`,
		"sed":   `sed -n '/start/,/end/p' f | awk -F: '$3 > 100 {print $1}'`,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s := Parse(line, Vars{Home: "/home/u", Dir: "/work"})
				s.Jailed()
				s.Paths()
			}
		})
	}
}
