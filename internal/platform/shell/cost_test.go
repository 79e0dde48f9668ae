//go:build !race

package shell

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"adze/internal/platform/proc/cputime"
)

// hostile returns lines of about n characters that are expensive to parse.
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
		"wrappers":         of("env time git push "),
		"shells":           "env " + of("sh dash bash -c 'x y' "),
		"evals":            "env " + of("eval 'x y' "),
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

// TestHostileLinesCostLittle checks that twice the text takes about twice the time, and that
// the longest understood line takes less than a tenth of a second.
//
// Proves SHAST-06.
func TestHostileLinesCostLittle(t *testing.T) {
	for name, line := range hostile(maxChars) {
		took := cost(func() { everything(line) })
		if !took.settles(func() bool { return took.best < 100*time.Millisecond }) {
			t.Errorf("%s: %v", name, took.best)
		}
		if Parse(line+" ", Vars{}).ReadOnly() == nil && len(line) > maxChars {
			t.Errorf("%s is understood", name)
		}
	}
	small, large := hostile(20_000), hostile(80_000)
	for name := range small {
		a, b := cost(func() { everything(small[name]) }), cost(func() { everything(large[name]) })
		if !b.settles(func() bool { return b.best < 10*a.best+20*time.Millisecond }) {
			t.Errorf("%s: %v for 20,000 characters, %v for 80,000", name, a.best, b.best)
		}
	}
}

// A measure is the shortest CPU time of several runs: other load on the machine can only make a
// run longer.
type measure struct {
	run  func()
	best time.Duration
}

// cost measures f with three runs.
func cost(f func()) *measure {
	m := &measure{run: f, best: time.Hour}
	for range 3 {
		m.again()
	}
	return m
}

func (m *measure) again() {
	start := cputime.Used()
	m.run()
	m.best = min(m.best, cputime.Used()-start)
}

// settles reports whether ok holds now or after more runs. Code that is too slow is slow in
// each of them.
func (m *measure) settles(ok func() bool) bool {
	for range 50 {
		if ok() {
			return true
		}
		m.again()
	}
	return ok()
}

// TestLongLinesAreSearchedToTheEnd checks that a long line is searched completely.
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

// TestBoundsOfLines checks that a line may nest at most 100 levels deep and have at most 10,000
// nodes. Each && adds two levels, each ls four nodes.
//
// Proves SHAST-06.
func TestBoundsOfLines(t *testing.T) {
	for _, tt := range []struct{ within, beyond, want string }{
		{"ls" + strings.Repeat(" && ls", 47), "ls" + strings.Repeat(" && ls", 48), "nests too deep"},
		{strings.Repeat("ls;", 2499), strings.Repeat("ls;", 2500), "too long to be understood"},
	} {
		if err := Parse(tt.within, Vars{}).ReadOnly(); err != nil && strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.20s: %v", tt.within, err)
		}
		if err := Parse(tt.beyond, Vars{}).ReadOnly(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.20s: %v, want %s", tt.beyond, err, tt.want)
		}
	}
}

// TestUsualLinesTakeUnderAMillisecond uses the lines of the test tables as typical lines.
//
// Proves SHAST-06.
func TestUsualLinesTakeUnderAMillisecond(t *testing.T) {
	var lines []string
	readLines(t, "testdata/readonly.txt", func(text string) { lines = append(lines, text[2:]) })
	everything(lines[0]) // initialize the tables
	var slow int
	for _, line := range lines {
		m := cost(func() { everything(line) })
		if !m.settles(func() bool { return m.best < time.Millisecond }) {
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
