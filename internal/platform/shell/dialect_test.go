package shell

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// posixNames are the commands known to the sh recorder, which has no handler for unknown
// commands.
var posixNames = []string{"git", "ls", "cmd1", "cmd2", "npm"}

// shArgs returns, for each line, the argument lists of the commands that a real sh runs.
func shArgs(t *testing.T, lines []string) [][][]string {
	t.Helper()
	var script strings.Builder
	script.WriteString("end=$(printf '\\001')\n")
	for _, name := range posixNames {
		fmt.Fprintf(&script, "%s() { printf '%%s\\0' %s \"$@\" \"$end\" >&3; }\n", name, name)
	}
	for _, line := range lines {
		fmt.Fprintf(&script, "( eval '%s' ) 3>&9 >/dev/null 2>&1 </dev/null\nprintf '\\002\\0' >&9\n", strings.ReplaceAll(line, "'", `'\''`))
	}
	cmd := exec.Command("dash", "-c", "exec 9>&1\n. /dev/stdin")
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=/nowhere", "HOME=/home/u", "USER=u", "TMPDIR=/nowhere/t"}
	cmd.Stdin = strings.NewReader(script.String())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("dash: %v: %s", err, stderr.String())
	}
	all := splitCalls(string(out))
	if len(all) != len(lines) {
		t.Fatalf("%d answers for %d lines", len(all), len(lines))
	}
	return all
}

// TestShReadsTheSame checks that every line considered simple in the POSIX dialect is read the
// same way by a real sh that supports only the standard.
//
// Proves SH-02, SHAST-01.
func TestShReadsTheSame(t *testing.T) {
	const seed = 5
	m := lineMaker{rand.New(rand.NewPCG(seed, seed))}
	var lines []string
	for made := 0; len(lines) < 1200; made++ {
		line := m.line()
		if POSIX.Parse(line, testVars).Simple && onlyPosixNames(line) {
			lines = append(lines, line)
		}
		if made > 400_000 {
			t.Fatalf("only %d of %d lines are simple", len(lines), made)
		}
	}
	wrong := 0
	for i, calls := range shArgs(t, lines) {
		var ours [][]string
		for _, p := range POSIX.Parse(lines[i], testVars).Parts {
			ours = append(ours, p.args())
		}
		sortCalls(ours)
		sortCalls(calls)
		if diff := cmp.Diff(calls, ours); diff != "" {
			if wrong++; wrong <= 10 {
				t.Errorf("seed %d: %q (-sh +ours):\n%s", seed, lines[i], diff)
			}
		}
	}
}

func onlyPosixNames(line string) bool {
	for _, p := range POSIX.Parse(line, testVars).Parts {
		known := false
		for _, name := range posixNames {
			known = known || p.Words[0].Value == name
		}
		if !known {
			return false
		}
	}
	return true
}

// TestWhatOnlyBashReads checks that bash-only syntax is not judged by bash's grammar if sh runs
// it.
//
// Proves SH-02.
func TestWhatOnlyBashReads(t *testing.T) {
	for line, want := range map[string]string{
		"ls &> /dev/null":        "not valid shell", // sh runs ls in the background
		"cat <<< x":              "not valid shell",
		"ls | cat":               "",
		"git status && ls -la":   "",
		"cat <(ls)":              "not valid shell",
		"[[ -f x ]]":             "sh",
		"ls {a,b}":               "brace",
		"echo $'a'":              "sh",
		"time ls":                "",
		"f() { ls; }":            "function",
		"function f { ls; }":     "sh",
		"ls |& cat":              "not valid shell",
		"cat <<'E'\n$x\nE":       "",
		"echo ${x//a/b}":         "not valid shell",
		"a=(1 2)":                "not valid shell",
		"echo $(ls)":             "substitution",
		"grep -c x f || echo no": "",
	} {
		s := POSIX.Parse(line, Vars{})
		if s.Simple != (want == "") || !strings.Contains(s.Problem, want) {
			t.Errorf("%q: simple %v, %q", line, s.Simple, s.Problem)
		}
	}
	rm, _ := ParsePattern("rm:*") // ok: a valid pattern
	for _, line := range []string{"ls &> x; rm y", "cat <(rm y)", "[[ a ]] && rm y", "cat <<< x; rm y", "ls |& rm y"} {
		if _, ok := POSIX.Parse(line, Vars{}).Suspected(rm); !ok {
			t.Errorf("%q is not suspected", line)
		}
	}
}

// TestWith checks that variable values can be supplied later, without parsing the line again.
func TestWith(t *testing.T) {
	vars := Vars{Home: "/home/u", Dir: "/work"}
	lines := []string{"ls ~/x > $HOME/y", "cd $HOME && cat $PWD/a", "echo $USER", "for x in a; do ls $HOME; done", "ls (", "echo a\u200bb", "cat <<< $HOME", "rm -rf $PWD"}
	readLines(t, "testdata/readonly.txt", func(text string) { lines = append(lines, text[2:]) })
	for _, d := range []Dialect{Bash, POSIX} {
		for _, line := range lines {
			bare := d.Parse(line, Vars{})
			got, want := bare.With(vars), d.Parse(line, vars)
			if got.Simple != want.Simple || got.Problem != want.Problem || got.Opaque != want.Opaque || got.Unknown() != want.Unknown() ||
				!sameParts(got.Parts, want.Parts) || !cmp.Equal(got.Suggest(), want.Suggest()) || (got.ReadOnly() == nil) != (want.ReadOnly() == nil) {
				t.Errorf("%q: %+v, want %+v", line, got, want)
			}
			if got.tree.file != bare.tree.file || bare.With(Vars{}) != bare {
				t.Errorf("%q was parsed again", line)
			}
		}
	}
}
