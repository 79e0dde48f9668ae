package tool

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestList checks that every tool is listed, and unavailable ones with the reason.
//
// Proves REG-09.
func TestList(t *testing.T) {
	r := NewRegistry(
		plain("Off", Traits{Hint: "do nothing", Enabled: func() error { return errors.New("it is switched off") }}),
		plain("Old", Traits{Aliases: []string{"Ancient"}}), plain("Left", Traits{}), plain("Read", Traits{Hint: "read a file"}), plain("Rare", Traits{}),
	)
	r.Deferred = func(name string, _ *Traits) bool { return name == "Rare" || strings.HasPrefix(name, "mcp__") }
	p, _ := r.Assemble([]Tool{plain("mcp__db__q", Traits{Origin: "mcp:db", Hint: "not ours to believe"})},
		func(name string) bool { return name == "Ancient" || name == "Left" })
	got := p.List(func(names ...string) string {
		if slices.Contains(names, "Ancient") {
			return "rule Ancient from here"
		}
		return ""
	}, plain("mcp__web__get", Traits{Origin: "mcp:web"}), plain("mcp__web__now", Traits{Origin: "mcp:web", Core: true}))
	want := []Listed{
		{"Left", "built-in", Disabled, "it is not among the tools of this session", ""},
		{"Off", "built-in", Disabled, "it is switched off", "do nothing"},
		{"Old", "built-in", Denied, "rule Ancient from here", ""},
		{"Rare", "built-in", Deferred, "", ""},
		{"Read", "built-in", Core, "", "read a file"},
		{"mcp__db__q", "mcp:db", Deferred, "", "Does mcp__db__q."},
		{"mcp__web__get", "mcp:web", Deferred, "", "Does mcp__web__get."},
		{"mcp__web__now", "mcp:web", Core, "", "Does mcp__web__now."},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
