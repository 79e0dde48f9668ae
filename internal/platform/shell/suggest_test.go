package shell

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Proves SHAST-07, PERM-18.
func TestSuggest(t *testing.T) {
	tests := []struct {
		line string
		want []string
	}{
		{"npm run test", []string{"npm run test:*"}},
		{"npm run test:unit -- --watch", []string{"npm run test:unit:*"}},
		{"npm test", []string{"npm test:*"}},
		{"npm install x", []string{"npm install:*"}},
		{"git push origin main", []string{"git push:*"}},
		{"git -C x push", []string{"git -C x push"}},
		{"go test ./...", []string{"go test:*"}},
		{"go run .", []string{"go run ."}},
		{"make", []string{"make"}},
		{"make test", []string{"make test:*"}},
		{"gh pr create --fill", []string{"gh pr create:*"}},
		{"python x.py", []string{"python x.py"}},
		{"bash -c x", []string{"bash -c x"}},
		{"sudo ls", []string{"sudo ls"}},
		{"node a.js", []string{"node a.js"}},
		{"npx tsc", []string{"npx tsc"}},
		{"docker run x sh", []string{"docker run x sh"}},
		{"timeout 5 git push", []string{"git push:*"}},
		{"./run.sh a", []string{"./run.sh a"}},
		{"mkdir -p a/*", []string{`mkdir -p a/\*`}},
		{"FOO=1 make test", []string{"FOO=1 make test"}},
		{"CI=1 make test", []string{"make test:*"}},
		{"find . -delete", []string{"find . -delete"}},
		{"ls", nil},
		{"cat a > b", nil},
		{"ls && make test && git push", []string{"make test:*", "git push:*"}},
		{"make a; make a; make b", []string{"make a:*", "make b:*"}},
		{"make a; make b; make c; make d; make e; make f", []string{"make a:*", "make b:*", "make c:*", "make d:*", "make e:*"}},
		{"cd x && make test", []string{"make test:*"}},
		{"for f in *; do x; done", []string{`for f in \*; do x; done`}},
		{"ls 'x", nil},
		{"ls\u200b", nil},
		{" ", nil},
	}
	for _, tt := range tests {
		got := Parse(tt.line, Vars{}).Suggest()
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.line, diff)
		}
	}
}

// TestSuggestionsAllow checks that a suggested rule allows its line and never covers a bare
// interpreter or wrapper.
//
// Proves SHAST-07.
func TestSuggestionsAllow(t *testing.T) {
	bare := strings.Fields("bash sh zsh sudo env python python3 node ruby perl xargs timeout nice npx eval ssh")
	readLines(t, "testdata/rules.txt", func(text string) {
		_, line, _ := strings.Cut(text, " => ")
		s := Parse(line, Vars{})
		rules := s.Suggest()
		var patterns []Pattern
		for _, rule := range rules {
			pat, err := ParsePattern(rule)
			if err != nil {
				t.Fatalf("%q proposes %q: %v", line, rule, err)
			}
			patterns = append(patterns, pat)
			for _, name := range bare {
				if rule == name+":*" || rule == name+" *" {
					t.Errorf("%q proposes %q", line, rule)
				}
			}
		}
		if len(rules) == 0 || len(rules) == maxSuggestions || patterns[0].Quotes(s) {
			return
		}
		for _, p := range s.Parts {
			ok := p.WordsReadOnly() == nil || isMove(p)
			for _, pat := range patterns {
				ok = ok || p.Allowed(pat)
			}
			if !ok {
				t.Errorf("%q: %q is not allowed by %q", line, p.Text, rules)
			}
		}
	})
}

// Proves SHRO-08.
func TestClass(t *testing.T) {
	tests := map[string]Class{
		"ls": ClassList, "tree": ClassList, "cat a": ClassRead, "grep a b": ClassSearch, "find . -delete": ClassSearch, "rg a | head": ClassSearch,
		"cat a | wc -l": ClassRead, "ls | wc -l": ClassRead, "ls && echo x": ClassList, "echo x": ClassNone, "make": ClassNone, "ls; make": ClassNone, "cd a && ls": ClassList, "": ClassNone,
	}
	for line, want := range tests {
		if got := Parse(line, Vars{}).Class(); got != want {
			t.Errorf("%q: class %d, want %d", line, got, want)
		}
	}
	if Parse("find . -delete", Vars{}).ReadOnly() == nil {
		t.Error("the class decides what is read-only")
	}
}
