package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adze/internal/commands"
)

// Limits for completing a command name, as each key press does.
const (
	completedCommands = 2000
	completeLimit     = time.Millisecond
	completeRatio     = 10 // relative to searching for the text in all names
)

// reportCompletion measures the time to complete a name among many.
func reportCompletion(b *bench, runs int) {
	all := make([]commands.Command, completedCommands)
	for i := range all {
		all[i] = commands.Command{Name: fmt.Sprintf("plugin-%d:deploy-%d", i%skillPlugins, i), Origin: "a plugin"}
	}
	r := commands.New(commands.Config{Terminal: true, Env: commands.Env{
		Commands: func(bool) []commands.Command { return all }, Score: func(name string) float64 { return float64(len(name)) },
	}})
	slowest, search := time.Duration(0), time.Duration(0)
	for _, typed := range []string{"/", "/p", "/deploy", "/pd19", "/dly", "/zzz"} {
		best, plain := time.Hour, time.Hour
		for range max(runs, 20) {
			best = min(best, took(func() { r.Complete(context.Background(), typed) }))
			plain = min(plain, took(func() {
				for i := range all {
					_ = strings.Contains(strings.ToLower(all[i].Name), typed[1:])
				}
			}))
		}
		slowest, search = max(slowest, best), max(search, plain)
	}
	b.report(fmt.Sprintf("a key, completed among %d commands", completedCommands), " ms", float64(slowest)/float64(time.Millisecond), float64(completeLimit)/float64(time.Millisecond))
	b.report("the same, against looking for the text in all names", "x", float64(slowest)/float64(search), completeRatio)
}

func took(do func()) time.Duration {
	start := time.Now()
	do()
	return time.Since(start)
}
