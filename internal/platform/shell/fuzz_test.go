package shell

import (
	"slices"
	"strings"
	"testing"
)

// seed adds the lines of the test tables.
func seed(f *testing.F) {
	add := &testing.T{}
	readLines(add, "testdata/readonly.txt", func(text string) { f.Add(text[2:]) })
	readLines(add, "testdata/rules.txt", func(text string) {
		_, line, _ := strings.Cut(text, " => ")
		f.Add(line)
	})
}

// FuzzParse checks that nothing panics and that the results are consistent.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, line string) {
		everything(line)
		s := Parse(line, Vars{Home: "/home/u"})
		switch {
		case s.Simple && (s.Opaque || s.Problem != "" || len(s.Parts) == 0):
			t.Errorf("%q is simple, opaque %v, problem %q", line, s.Opaque, s.Problem)
		case !s.Simple && s.Problem == "":
			t.Errorf("%q is not simple for no reason", line)
		case s.ReadOnly() == nil && !s.Simple:
			t.Errorf("%q is read-only but not simple", line)
		case strings.ContainsFunc(line, hidden) && (s.Simple || !s.Opaque):
			t.Errorf("%q hides something and is trusted", line)
		}
		if !s.Simple {
			return
		}
		for _, p := range s.Parts {
			again := Parse(p.Text, Vars{})
			if !again.Simple || len(again.Parts) != 1 || !slices.Equal(again.Parts[0].args(), p.args()) {
				t.Errorf("%q has the part %q, which reads as %q", line, p.args(), p.Text)
			}
			if pat, err := ParsePattern(Quote(p.Text)); err == nil {
				if _, ok := s.Suspected(pat); !ok {
					t.Errorf("the rule %q does not match %q", pat, line)
				}
			}
		}
	})
}

// FuzzPattern checks that a pattern never panics, and that a line covered by an allow rule is
// also found by a deny rule with the same text.
func FuzzPattern(f *testing.F) {
	f.Add("git push:*", "git push origin")
	f.Add("*a*b*", "x a y b")
	f.Add(`a\*b *`, "a*b c")
	f.Fuzz(func(t *testing.T, content, line string) {
		pat, err := ParsePattern(content)
		if err != nil {
			return
		}
		s := Parse(line, Vars{})
		for _, p := range s.Parts {
			if p.Allowed(pat) {
				if _, ok := s.Suspected(pat); !ok {
					t.Errorf("%q allows %q but would not deny it", content, line)
				}
			}
		}
	})
}

// everything runs all analyses on a line.
func everything(line string) {
	s := Parse(line, Vars{Home: "/home/u", Dir: "/work"})
	s.ReadOnly() // ok: the result does not matter
	s.Jailed()   // ok: the result does not matter
	s.Paths()
	s.DangerousRemovals("/home/u", []string{"/work"}, nil)
	s.Suggest()
	s.Class()
	s.Destructive()
	for _, rule := range []string{"rm:*", "*push*", "git * main", "npm test", "g*x*y*z"} {
		pat, _ := ParsePattern(rule) // ok: valid patterns
		s.Suspected(pat)
	}
}
