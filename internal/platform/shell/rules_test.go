package shell

import (
	"strings"
	"testing"
)

// verdict returns whether a rule matches a line, as an allow rule and as a deny rule.
func verdict(t *testing.T, rule, line string) (allowed, denied bool) {
	t.Helper()
	pat, err := ParsePattern(rule)
	if err != nil {
		t.Fatalf("ParsePattern(%q): %v", rule, err)
	}
	s := Parse(line, Vars{Home: "/home/u", Dir: "/work", User: "u", Temp: "/tmp"})
	_, denied = s.Suspected(pat)
	if denied && pat.Program() != "" && !s.Programs()[pat.Program()] {
		t.Errorf("%q matches %q but its program is not among those to look for", rule, line)
	}
	allowed = s.Simple
	for _, p := range s.Parts {
		allowed = allowed && (p.Allowed(pat) || p.WordsReadOnly() == nil)
	}
	return allowed || pat.Quotes(s), denied
}

// TestRules runs the cases in a file, one per line: whether the rule allows the line, whether
// it denies it, the rule, and the line.
//
// Proves PERM-08, SHAST-04, SHAST-05.
func TestRules(t *testing.T) {
	cases := 0
	readLines(t, "testdata/rules.txt", func(text string) {
		head, rest, _ := strings.Cut(text, " ")
		rule, line, ok := strings.Cut(rest, " => ")
		if !ok || len(head) != 2 {
			t.Fatalf("the case %q is not understood", text)
		}
		cases++
		allowed, denied := verdict(t, rule, line)
		if want := head[0] == 'A'; allowed != want {
			t.Errorf("allow %q => %q: allowed %v", rule, line, allowed)
		}
		if want := head[1] == 'D'; denied != want {
			t.Errorf("deny %q => %q: denied %v", rule, line, denied)
		}
	})
	if cases < 150 {
		t.Errorf("only %d cases", cases)
	}
}

func TestPatternsThatAreNone(t *testing.T) {
	for _, content := range []string{"", "  ", ":*", " :* "} {
		if _, err := ParsePattern(content); err == nil {
			t.Errorf("%q was accepted", content)
		}
	}
}

func TestPatternProgram(t *testing.T) {
	for content, want := range map[string]string{
		"git push": "git", "git:*": "git", "git *": "git", "/usr/bin/git push": "git", "g* push": "", "*": "", "* push": "", "'git' push": "git", "npm*": "",
	} {
		pat, err := ParsePattern(content)
		if err != nil || pat.Program() != want {
			t.Errorf("%q: program %q, %v", content, pat.Program(), err)
		}
		if pat.String() != content {
			t.Errorf("%q became %q", content, pat.String())
		}
	}
}

func TestQuoteAndQuotesAgree(t *testing.T) {
	for _, line := range []string{"ls *.go", `echo \*`, "for f in *; do rm $f; done", "a:*", "git log -- '*'", "echo a\necho b"} {
		pat, err := ParsePattern(Quote(line))
		if err != nil || !pat.Exact() || !pat.Quotes(Parse(line, Vars{})) {
			t.Errorf("the rule %q does not quote %q", Quote(line), line)
		}
	}
	pat, _ := ParsePattern("ls\u200b")
	if pat.Quotes(Parse("ls\u200b", Vars{})) {
		t.Error("a rule quotes what cannot be read")
	}
}
