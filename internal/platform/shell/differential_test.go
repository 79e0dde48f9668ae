package shell

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorder is a bash script in which no program exists: every command is recorded instead of
// run.
const recorder = `
cat() { while IFS= read -r l; do printf '%s\n' "$l"; done; }
command_not_found_handle() { printf '%s\0' "${@//$'\n'/$'\3'}" $'\1' >&3; return 0; }
while IFS= read -r -d '' line; do
	( eval -- "$line" ) 3>&9 >/dev/null 2>&1 </dev/null
	printf '\2\0' >&9
done 9>&1
`

// bashArgs returns, for each line, the argument lists of the commands that real bash runs.
func bashArgs(t *testing.T, lines []string) [][][]string {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("bash is needed: ", err)
	}
	cmd := exec.Command(bash, "--norc", "--noprofile", "-c", recorder)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=/nowhere", "HOME=/home/u", "USER=u", "TMPDIR=/nowhere/t"}
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\x00") + "\x00")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("bash: %v: %s", err, stderr.String())
	}
	if made, _ := filepath.Glob(filepath.Join(cmd.Dir, "*")); len(made) > 0 {
		t.Fatalf("a line made %q", made)
	}
	all := splitCalls(string(out))
	if len(all) != len(lines) {
		t.Fatalf("%d answers for %d lines", len(all), len(lines))
	}
	return all
}

// splitCalls parses a recorder's output: calls for each line, arguments for each call.
func splitCalls(out string) (all [][][]string) {
	var calls [][]string
	var args []string
	for _, field := range strings.Split(out, "\x00") {
		switch field {
		case "\x01":
			calls = append(calls, args)
			args = nil
		case "\x02":
			all = append(all, calls)
			calls = nil
		default:
			args = append(args, strings.ReplaceAll(field, "\x03", "\n"))
		}
	}
	return all
}

// A lineMaker generates lines from shell syntax that is hard to parse.
type lineMaker struct{ *rand.Rand }

func (m lineMaker) pick(s ...string) string { return s[m.IntN(len(s))] }

func (m lineMaker) piece() string {
	return m.pick("a", "b1", "-x", "--long=v", "é", "%", "+", "=", ",", "@", ":", "!", "^", "-", ".", "..", "{", "}", "{}", "]", "[", "*", "?", "[a-z]", "#",
		`\ `, `\\`, `\'`, `\"`, `\$`, "\\`", `\*`, `\;`, `\&`, `\|`, `\<`, `\(`, `\~`, `\#`, `\a`, `\{`, "\\\n", `\!`,
		`''`, `""`, `'a b'`, `'$x'`, `'"'`, `'\'`, `'*'`, "'\n'", `'#'`, `'~'`, "'`'", `'é'`,
		`"a b"`, `"'"`, `"\""`, `"\\"`, `"\$x"`, `"\a"`, `"*"`, "\"\n\"", `"\`+"\n"+`"`, `"#"`, `"~"`, "\"\\`\"", `"!"`, `"a\'b"`,
		"~", "$HOME", `"$HOME"`, `${USER}`, `"${TMPDIR}"`, "$", `"$"`, "$x", `$'a'`, `$"a"`, "{a,b}", "{1..3}", "$(:)", "`:`", "$((1))", "=~", "a=~", "~a", "~/", "\t")
}

func (m lineMaker) word() string {
	var b strings.Builder
	for range 1 + m.IntN(4) {
		b.WriteString(m.piece())
	}
	return b.String()
}

func (m lineMaker) command() string {
	var b strings.Builder
	for range m.IntN(4) / 3 {
		b.WriteString(m.pick("A=1 ", "B= ", "C='a b' ", `D=a\ b `, "E=~ ", "F=$x "))
	}
	b.WriteString(m.pick("git", "ls", "cmd1", `\git`, `"ls"`, `g'i't`, "cmd2", "npm", m.word()))
	for range m.IntN(4) {
		b.WriteString(m.pick(" ", " ", "  ", "\t", " \\\n "))
		b.WriteString(m.word())
	}
	b.WriteString(m.pick("", "", "", "", " 2>&1", " >/dev/null", " 2>/dev/null", " </dev/null", " <<<x", " &>/dev/null", " # comment", " #\\", " # \\", " <<'E'\nbody $x\nE\n", " <<E\nbody\nE\n", " 1>&2", " >&-"))
	return b.String()
}

func (m lineMaker) line() string {
	var b strings.Builder
	b.WriteString(m.pick("", "", "", " ", "\n", "( ", "{ "))
	open := b.String()
	b.WriteString(m.command())
	for range m.IntN(3) {
		b.WriteString(m.pick(" && ", ";", "; ", " | ", "\n", "|", "&&", " &&\n", " |\n"))
		b.WriteString(m.command())
	}
	switch open {
	case "( ":
		b.WriteString("\n)")
	case "{ ":
		b.WriteString("\n}")
	}
	return b.String()
}

// TestBashReadsTheSame checks, on more than a thousand lines, that every line considered simple
// is read the same way by real bash. A failure prints the seed to reproduce it.
//
// Proves SHAST-01.
func TestBashReadsTheSame(t *testing.T) {
	const seed = 20
	m := lineMaker{rand.New(rand.NewPCG(seed, seed))}
	var lines []string
	for made := 0; len(lines) < 1200; made++ {
		line := m.line()
		if Parse(line, testVars).Simple && !builtIn(line) {
			lines = append(lines, line)
		}
		if made > 400_000 {
			t.Fatalf("only %d of %d lines are simple", len(lines), made)
		}
	}
	compareWithBash(t, lines, fmt.Sprintf("seed %d", seed))
}

// TestBashReadsRealLinesTheSame does the same for lines that people and models write.
func TestBashReadsRealLinesTheSame(t *testing.T) {
	var lines []string
	readLines(t, "testdata/rules.txt", func(text string) {
		if _, line, ok := strings.Cut(text, " => "); ok && Parse(line, testVars).Simple && !builtIn(line) && !writes(line) {
			lines = append(lines, line)
		}
	})
	compareWithBash(t, lines, "rules.txt")
}

// realistic returns typical commands, which are also used for benchmarks.
func realistic(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "bench", "commands.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n\n")
	distinct := make(map[string]bool)
	for _, line := range lines {
		distinct[line] = true
	}
	if len(distinct) < 900 || len(distinct) != len(lines) {
		t.Fatalf("%d of %d commands are distinct", len(distinct), len(lines))
	}
	return lines
}

// TestBashReadsEverydayCommandsTheSame does the same for everyday commands.
//
// Proves SHAST-01.
func TestBashReadsEverydayCommandsTheSame(t *testing.T) {
	var lines []string
	simple := 0
	for _, line := range realistic(t) {
		s := Parse(line, testVars)
		if !s.Simple {
			continue
		}
		simple++
		redirects := slices.ContainsFunc(s.Paths(), func(u PathUse) bool { return u.Redirect && u.Path != "/dev/null" })
		if !builtIn(line) && !redirects && !strings.Contains(line, "||") && !strings.HasPrefix(line, "!") {
			lines = append(lines, line)
		}
	}
	if len(lines) < 500 {
		t.Errorf("only %d can be compared, of %d that are simple", len(lines), simple)
	}
	compareWithBash(t, lines, "commands.txt")
}

// TestBashAcceptsTheSame checks that the parser accepts the lines that bash accepts, and no
// others.
//
// Proves SHAST-01.
func TestBashAcceptsTheSame(t *testing.T) {
	whole := realistic(t)
	lines := whole
	for _, line := range whole { // broken in typical ways
		lines = append(lines, line[:len(line)/2], line+" )")
	}
	const check = `while IFS= read -r -d '' line; do
	( eval "if false; then :
$line
fi" ) >/dev/null 2>&1 && printf y || printf n
done`
	cmd := exec.Command("bash", "--norc", "--noprofile", "-c", check)
	cmd.Dir = t.TempDir()
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\x00") + "\x00")
	out, err := cmd.Output()
	if err != nil || len(out) != len(lines) {
		t.Fatalf("%d answers for %d lines: %v", len(out), len(lines), err)
	}
	for i, line := range lines {
		s := Parse(line, testVars)
		// Rejecting a valid line only causes a prompt; accepting a line that bash rejects must
		// never happen.
		if out[i] == 'n' && s.Simple || out[i] == 'y' && s.Opaque && i < len(whole) {
			t.Errorf("%q: bash says %c; simple %v, problem %q", line, out[i], s.Simple, s.Problem)
		}
	}
}

var testVars = Vars{Home: "/home/u", User: "u", Temp: "/nowhere/t"}

// builtIn reports whether a line has a command that bash executes itself, or a path that fails:
// the recorder does not see these.
func builtIn(line string) bool {
	for _, p := range Parse(line, testVars).Parts {
		switch p.Words[0].Value {
		case "", "echo", "printf", "cd", "true", "false", "test", "[", "time", "command", "builtin", "type", "pwd", "exit", ":", "wait", "kill", "cat",
			"pushd", "popd", "ulimit", "umask", "jobs", "bg", "disown", "history":
			return true
		}
		if strings.Contains(p.Words[0].Value, "/") {
			return true
		}
	}
	return false
}

// writes reports whether a line would write a file, or may not run all of its commands.
func writes(line string) bool {
	return strings.Contains(line, ">") && !strings.Contains(line, "/dev/null") || strings.Contains(line, "|| ") || strings.Contains(line, "!")
}

func compareWithBash(t *testing.T, lines []string, origin string) {
	t.Helper()
	wrong := 0
	for i, calls := range bashArgs(t, lines) {
		var ours [][]string
		for _, p := range Parse(lines[i], testVars).Parts {
			ours = append(ours, p.args())
		}
		sortCalls(ours)
		sortCalls(calls)
		if diff := cmp.Diff(calls, ours); diff != "" {
			if wrong++; wrong <= 10 {
				t.Errorf("%s: %q (-bash +ours):\n%s", origin, lines[i], diff)
			}
		}
	}
	if wrong > 10 {
		t.Errorf("%d lines differ", wrong)
	}
}

// sortCalls sorts calls, since the commands of a pipeline run concurrently.
func sortCalls(calls [][]string) {
	slices.SortFunc(calls, slices.Compare[[]string])
}

// TestCanonicalTextReadsTheSame checks that the canonical text of a simple command parses to
// the same words and the same text.
//
// Proves SHAST-01.
func TestCanonicalTextReadsTheSame(t *testing.T) {
	m := lineMaker{rand.New(rand.NewPCG(7, 7))}
	for tried, simple := 0, 0; simple < 5000; tried++ {
		s := Parse(m.line(), testVars)
		if !s.Simple {
			continue
		}
		simple++
		for _, p := range s.Parts {
			again := Parse(p.Text, Vars{})
			if !again.Simple || len(again.Parts) != 1 {
				t.Fatalf("%q became %q, which is not simple: %s", s.Source, p.Text, again.Problem)
			}
			if diff := cmp.Diff(p.args(), again.Parts[0].args()); diff != "" || again.Parts[0].Text != p.Text {
				t.Fatalf("%q became %q, then %q (-first +second):\n%s", s.Source, p.Text, again.Parts[0].Text, diff)
			}
		}
	}
}
