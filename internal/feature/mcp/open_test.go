package mcp

import (
	"runtime"
	"testing"

	"adze/internal/mcp/roster"
	"adze/internal/platform/net/transport"
	"adze/internal/settings"
)

// TestNoServersCostNothing checks that a run without servers starts no goroutine, client or
// network.
func TestNoServersCostNothing(t *testing.T) {
	p := newPlace(t)
	project := p.open(settings.Source{})
	for name, flags := range map[string]Flags{
		"none":       {},
		"loaded":     {Loaded: &roster.Roster{}},
		"unapproved": {Loaded: &roster.Roster{Entries: []*roster.Entry{{Name: "a", Type: roster.Stdio, Command: "x", Unapproved: true}}}},
		"disabled":   {Loaded: &roster.Roster{Entries: []*roster.Entry{{Name: "a", Type: roster.HTTP, URL: "https://x", Disabled: true}}}},
	} {
		before := runtime.NumGoroutine()
		f, err := Open(Config{
			Project: project, Flags: flags,
			Environ: func() []string { t.Errorf("%s: the client was made", name); return nil },
			Network: func() transport.Config { t.Errorf("%s: the network was opened", name); return transport.Config{} },
			Say:     func(text string) { t.Errorf("%s: said %q", name, text) },
		})
		if err != nil {
			t.Fatal(err)
		}
		f.Start()
		f.Wait(t.Context())
		if n := runtime.NumGoroutine(); n > before || len(f.Tools()) != 0 { // a goroutine of an earlier test may just be ending
			t.Errorf("%s: %d goroutines more, %d tools", name, n-before, len(f.Tools()))
		}
		if allocs := testing.AllocsPerRun(10, func() { f.Tools() }); allocs > 0 {
			t.Errorf("%s: looking at the tools allocates", name)
		}
		f.Close()
	}
}
