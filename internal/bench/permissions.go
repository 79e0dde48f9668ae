package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/proc/osproc"
	"adze/internal/tool"
	"adze/internal/tool/command"
	"adze/internal/tools/bash"
)

// Limits for a permission decision.
const (
	decisions       = 10_000
	decisionMedian  = 100 * time.Microsecond
	decisionP99     = 5 * time.Millisecond
	ruleGrowth      = 2.0 // 1,000 rules relative to 10
	lengthGrowth    = 16.0
	shortCommand    = 1_000
	longCommand     = 10_000
	decisionSamples = 300
	decisionTries   = 3
)

// runPermissions measures a complete permission decision about a command: parsing it, resolving
// its paths, and matching the rules.
func runPermissions() error {
	dir, err := os.MkdirTemp("", "adze-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"main.go", "src/a.go", "src/b.go", "docs/x.md"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte("x\n"), 0o644); err != nil {
			return err
		}
	}
	b := &bench{}
	shell := bash.New(bash.Config{Config: command.Config{Dir: func() string { return dir }, Runner: new(osproc.Runner)}})
	fmt.Printf("%s/%s, %d cores, %s, %d decisions\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), decisions)
	fmt.Printf("%-58s %10s %10s\n", "figure", "measured", "at most")

	few, many := policy(dir, 10), policy(dir, 1000)
	took, err := decideAll(few, shell, variedCommands(decisions))
	if err != nil {
		return err
	}
	slices.Sort(took)
	b.report("decision, median", "µs", micros(took[len(took)/2]), micros(decisionMedian))
	b.report("decision, p99", "µs", micros(took[len(took)*99/100]), micros(decisionP99))

	typical := slices.Repeat(typicalCommands(), decisionSamples)
	ten, err := decideAll(few, shell, typical)
	if err != nil {
		return err
	}
	thousand, err := decideAll(many, shell, typical)
	if err != nil {
		return err
	}
	b.report("1,000 rules against 10", "x", middle(thousand)/middle(ten), ruleGrowth)

	short, err := decideAll(few, shell, slices.Repeat([]string{ofLength(shortCommand)}, decisionSamples))
	if err != nil {
		return err
	}
	long, err := decideAll(few, shell, slices.Repeat([]string{ofLength(longCommand - 10)}, decisionSamples))
	if err != nil {
		return err
	}
	b.report("10,000 characters against 1,000", "x", middle(long)/middle(short), lengthGrowth)
	if b.missed > 0 {
		return fmt.Errorf("%d figures are over their limit", b.missed)
	}
	return nil
}

// policy returns a policy with n rules of all kinds.
func policy(dir string, n int) *permission.Policy {
	kinds := []string{"Bash(tool%d run:*)", "Read(secret%d/**)", "Edit(generated%d/*.go)", "Bash(script%d)",
		"WebFetch(domain:host%d.example.org)"}
	c := permission.Config{Dir: dir, Home: filepath.Dir(dir)}
	for i := range n {
		r, err := rule.Parse(fmt.Sprintf(kinds[i%len(kinds)], i))
		if err != nil {
			panic(err)
		}
		r.Behavior = []permission.Behavior{permission.Allow, permission.Deny, permission.Ask}[i%3]
		r.Scope = scope.User
		c.Rules = append(c.Rules, r)
	}
	return permission.Compile(c)
}

// decideAll returns the time of each decision: the best of a few, because the machine may be
// shared.
func decideAll(p *permission.Policy, t tool.Tool, commands []string) ([]time.Duration, error) {
	took := make([]time.Duration, 0, len(commands))
	for _, command := range commands {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			return nil, err
		}
		call, err := t.Bind(input)
		if err != nil {
			return nil, fmt.Errorf("binding %.60q: %w", command, err)
		}
		best := time.Hour
		for range decisionTries {
			began := time.Now()
			permission.Decide(p, permission.FactsOf(p, t, call))
			best = min(best, time.Since(began))
		}
		took = append(took, best)
	}
	return took, nil
}

func typicalCommands() []string {
	return []string{
		"ls -la", "cat main.go", "grep -rn func src", "git status", "git diff HEAD~1", "go test ./...", "cd src && ls", "rm src/b.go",
		"cat main.go | head -20", "find . -name '*.go' | wc -l", "echo done > out.txt", "sed -n '1,20p' main.go", "npm run build && npm test",
		"tool7 run x", "sudo make install", "bash -c 'rm x'", "FOO=1 make", "git commit -m 'fix the bug'",
	}
}

// variedCommands returns n commands of all lengths up to the longest that can be analyzed.
func variedCommands(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	base := typicalCommands()
	all := make([]string, 0, n)
	for i := range n {
		command := base[r.IntN(len(base))]
		if i%20 == 0 { // most commands are short
			command = ofLength(1 + r.IntN(longCommand-20))
		}
		if i%3 == 0 {
			command += fmt.Sprintf(" && echo %d", i)
		}
		all = append(all, command)
	}
	return all
}

// ofLength returns a command of about n characters: many parts, then long arguments.
func ofLength(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n && i < 40; i++ {
		fmt.Fprintf(&b, "cat src/file%d.go | grep -n 'pattern %d'; ", i, i)
	}
	b.WriteString("echo ")
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "word%d ", i)
	}
	return strings.TrimRight(b.String()[:max(4, min(b.Len(), n))], " ;|'")
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func middle(d []time.Duration) float64 {
	s := slices.Sorted(slices.Values(d))
	return micros(s[len(s)/2])
}
