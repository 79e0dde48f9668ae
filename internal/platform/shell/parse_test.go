package shell

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// args returns the values of the words.
func (p *Part) args() []string {
	args := make([]string, len(p.Words))
	for i, w := range p.Words {
		args[i] = w.Value
	}
	return args
}

// Proves SHAST-01.
func TestQuotingVariantsAreOneCommand(t *testing.T) {
	want := []string{"git", "push"}
	for _, line := range []string{
		"git push", "  git   push  ", "git\tpush", `"git" "push"`, `'git' 'push'`, `g'i't p"us"h`, `\g\i\t \p\u\s\h`, "git \\\n push",
		"git push # now", "git push;", "(git push)", "{ git push; }", "git push\n",
	} {
		s := Parse(line, Vars{})
		if !s.Simple || len(s.Parts) != 1 {
			t.Errorf("%q: simple %v, %d parts: %s", line, s.Simple, len(s.Parts), s.Problem)
			continue
		}
		if diff := cmp.Diff(want, s.Parts[0].args()); diff != "" || s.Parts[0].Text != "git push" {
			t.Errorf("%q: text %q (-want +got):\n%s", line, s.Parts[0].Text, diff)
		}
	}
}

// TestConstructsAreNamed checks that each construct that is not understood is named.
//
// Proves SHAST-02.
func TestConstructsAreNamed(t *testing.T) {
	tests := []struct {
		line, want string
		opaque     bool
	}{
		{"ls $(pwd)", "a command substitution", false},
		{"ls `pwd`", "a command substitution", false},
		{"$(echo ls)", "a command substitution", false},
		{"cat <(ls)", "a process substitution", false},
		{"$x -l", "a variable ($x)", false},
		{"ls $x", "a variable ($x)", false},
		{"ls ${x:-y}", "a variable ($x)", false},
		{"ls ${!x}", "a variable ($x)", false},
		{"ls ${x@P}", "a variable ($x)", false},
		{"ls \"$1\"", "a variable ($1)", false},
		{"echo $((1+1))", "arithmetic", false},
		{"echo $[1+1]", "arithmetic", false},
		{"((x=1))", "arithmetic", false},
		{"let x=1", "arithmetic", false},
		{"f() { ls; }", "defines a function", false},
		{"function f { ls; }", "defines a function", false},
		{"for f in a b; do ls; done", "a loop", false},
		{"for ((;;)); do ls; done", "a loop", false},
		{"select f in a; do ls; done", "a loop", false},
		{"while true; do ls; done", "a loop", false},
		{"until true; do ls; done", "a loop", false},
		{"if true; then ls; fi", "a condition", false},
		{"case a in a) ls;; esac", "a condition", false},
		{"[[ a == b ]]", "a condition", false},
		{"[[ 'a[$(x)]' -eq 0 ]]", "a condition", false},
		{"declare x=1", "declares variables (declare)", false},
		{"export A=b", "declares variables (export)", false},
		{"\\export A=b", "it uses export", false},
		{"eval ls", "it uses eval", false},
		{"exec ls", "it uses exec", false},
		{"source f", "it uses source", false},
		{". f", "it uses .", false},
		{"trap ls EXIT", "it uses trap", false},
		{"'eval' ls", "it uses eval", false},
		{"alias a=b", "it uses alias", false},
		{"read x", "it uses read", false},
		{"unset 'a[$(x)]'", "it uses unset", false},
		{"printf -v 'a[$(x)]' x", "sets a variable", false},
		{"wait -p x", "sets a variable", false},
		{"test -v 'a[$(x)]'", "tests a variable", false},
		{"coproc ls", "a coprocess", false},
		{"A=1", "sets a variable (A)", false},
		{"A=(1 2)", "sets a variable (A)", false},
		{"A+=1 ls", "sets a variable in an unusual way (A)", false},
		{"ls &", "in the background", false},
		{"ls |& cat", "|&", false},
		{"cat <<E\n$x\nE", "a here-document with expansions", false},
		{"cat <<E\n$(x)\nE", "a here-document with expansions", false},
		{"{ls,-l}", "brace expansion", false},
		{"echo {1..3}", "brace expansion", false},
		{"l? -l", "the command is a pattern", false},
		{"~/ls", "~", false},
		{"ls ~root", "~", false},
		{"$HOME/x", "a variable", false},
		{"echo $'a'", "quoting", false},
		{`echo $"a"`, "quoting", false},
		{"echo !(a)", "an extended pattern", false},
		{"ls > $x", "a variable", false},
		{"ls > *", "redirects to a pattern", false},
		{"ls {fd}> x", "for a variable", false},
		{"> x", "without a command", false},
		{"", "no command", false},
		{"# only words", "no command", false},
		{"lѕ", "unusual characters", false},
		{"%1", "names a job", false},
		{"ls # \\\nrm x", "a comment", false},
		{"l\\\ns", "breaks a line", false},
		{strings.Repeat("a", maxChars+1), "longer than 10,000", false},
		{strings.Repeat("a;", maxParts+1), "more than 50", false},
		{strings.Repeat("(", maxDepth) + "ls" + strings.Repeat(")", maxDepth), "nests too deep", false},
		{strings.Repeat("{ ", maxDepth) + "ls" + strings.Repeat("; }", maxDepth), "nests too deep", false},
		{"ls 'a", "not valid shell", true},
		{"ls )", "not valid shell", true},
		{"ls \r\n", "U+000D", true},
		{"ls \x00", "U+0000", true},
		{"ls \x1b[0m", "U+001B", true},
		{"ls \x7f", "U+007F", true},
		{"ls \u0085", "U+0085", true},
		{"ls\u00a0-l", "U+00A0", true},
		{"ls\u3000-l", "U+3000", true},
		{"ls \u200b", "U+200B", true},
		{"ls \u202e", "U+202E", true},
		{"ls \ufeff", "U+FEFF", true},
		{"ls \U000e0041", "U+E0041", true},
		{"ls \xff", "not valid UTF-8", true},
	}
	for _, tt := range tests {
		s := Parse(tt.line, Vars{})
		if s.Simple || !strings.Contains(s.Problem, tt.want) || s.Opaque != tt.opaque {
			t.Errorf("%.40q: simple %v, opaque %v, problem %q", tt.line, s.Simple, s.Opaque, s.Problem)
		}
		if s.ReadOnly() == nil {
			t.Errorf("%.40q is taken for read-only", tt.line)
		}
		for _, p := range s.Parts {
			if all, _ := ParsePattern("*"); p.Allowed(all) {
				t.Errorf("%.40q is covered by a rule", tt.line)
			}
		}
	}
}

// Proves SHAST-03.
func TestAssignments(t *testing.T) {
	tests := []struct {
		line              string
		readOnly, allowed bool
	}{
		{"LD_PRELOAD=x ls", false, false},
		{"FOO=1 ls", false, false},
		{"TZ=UTC date", true, true},
		{"LC_ALL=C LANG=C ls", true, true},
		{"TERM=dumb ls", true, true},
		{"TERM=x ls", false, true},
		{"CI=1 ls", false, true},
		{"GIT_DIR=x ls", false, false},
		{"PATH=x ls", false, false},
		{"TZ=UTC FOO=1 ls", false, false},
	}
	any, _ := ParsePattern("*")
	for _, tt := range tests {
		p := Parse(tt.line, Vars{}).Parts[0]
		if readOnly := p.ReadOnly() == nil; readOnly != tt.readOnly {
			t.Errorf("%s: read-only %v", tt.line, readOnly)
		}
		if allowed := p.Allowed(any); allowed != tt.allowed {
			t.Errorf("%s: allowed %v", tt.line, allowed)
		}
	}
	if rm, _ := ParsePattern("rm:*"); !suspected("FOO=1 rm -rf x", rm) {
		t.Error("an assignment hides a command")
	}
}

func suspected(line string, pat Pattern) bool {
	_, ok := Parse(line, Vars{}).Suspected(pat)
	return ok
}

func TestDynamicPrograms(t *testing.T) {
	for line, want := range map[string]bool{"$x a": true, "ls $x": false, "if $c; then ls; fi": true, "ls": false, "~/x": true} {
		if got := Parse(line, Vars{}).Unknown(); (got != "") != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}

func TestKnownVariables(t *testing.T) {
	vars := Vars{Home: "/home/u", Dir: "/a b", User: "u", Temp: "/tmp"}
	tests := []struct {
		line string
		want []string // nil if not simple
	}{
		{"x $HOME ${HOME} \"$HOME/a\" ~ ~/b", []string{"x", "/home/u", "/home/u", "/home/u/a", "/home/u", "/home/u/b"}},
		{"x $USER-1 $TMPDIR", []string{"x", "u-1", "/tmp"}},
		{`x "$PWD"`, []string{"x", "/a b"}},
		{"x $PWD", nil}, // splits into two words
		{"cd y && x \"$PWD\"", nil},
		{"x $PATH", nil},
		{"x ${HOME%u}", nil},
		{"x A=~/b", nil},
	}
	for _, tt := range tests {
		s := Parse(tt.line, vars)
		if s.Simple != (tt.want != nil) {
			t.Errorf("%q: simple %v: %s", tt.line, s.Simple, s.Problem)
			continue
		}
		if tt.want == nil {
			continue
		}
		if diff := cmp.Diff(tt.want, s.Parts[len(s.Parts)-1].args()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.line, diff)
		}
	}
}

// TestOddComments checks lines with a # inside a word, which the parser sometimes takes for a
// comment and bash does not.
func TestOddComments(t *testing.T) {
	for src, want := range map[string]bool{
		"#": false, "ls #": false, "ls;#": false, "(ls)#": false, "ls\n# a": false, "ls\t#a\nx": false,
		"ls''#": true, "ls $x# a": true, "ls \\\n# a": true, "ls # a\\\nb": true, "ls #\\": true,
	} {
		if got := oddComment(src, strings.IndexByte(src, '#')); got != want {
			t.Errorf("%q: odd %v", src, got)
		}
	}
}
