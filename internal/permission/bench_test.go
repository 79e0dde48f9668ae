package permission

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkDecide(b *testing.B) {
	w := newWorld(b)
	var long strings.Builder
	for i := range 40 {
		fmt.Fprintf(&long, "cat src/file%d.go | grep -n 'pattern %d'; ", i, i)
	}
	long.WriteString("echo " + strings.Repeat("word ", 1500))
	for name, command := range map[string]string{
		"short": "ls -la", "git": "git status", "pipe": "cat main.go | head -20", "unknown": "go test ./...", "long": long.String(),
	} {
		for _, n := range []int{10, 1000} {
			rules := make([]string, 0, n)
			for i := range n {
				rules = append(rules, []string{"deny Read(secret%d/**)", "allow Bash(tool%d:*)", "ask Edit(gen%d/*.go)"}[i%3])
				rules[i] = fmt.Sprintf(rules[i], i)
			}
			p := Compile(w.config(Default, rules...))
			u := newUse(b, fake{name: "Bash"}, runs(command))
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					Decide(p, FactsOf(p, u.Tool, u.Call))
				}
			})
		}
	}
}
