package mcp

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/tool"
)

// Proves MCP-30, TOOL-21.
func TestNames(t *testing.T) {
	long := strings.Repeat("a_rather_long_name_", 6)
	tests := []struct {
		name, server string
		tools, want  []string // pairs
	}{
		{"plain", "db", []string{"query", "drop-all"}, []string{"mcp__db__query", "mcp__db__drop-all"}},
		{"other characters", "db", []string{"user.get/one", "größe", "名前"}, []string{"mcp__db__user_get_one", "mcp__db__gr__e", "mcp__db____"}},
		{"the exact one keeps its name", "db", []string{"a.b", "a_b", "a/b"}, []string{"mcp__db__a_b_34a5add0", "mcp__db__a_b", "mcp__db__a_b_13e5ec4b"}},
		{"too long", "db", []string{long + "1", long + "2"}, []string{"mcp__db__a_rather_long_name_a_rather_long_name_a_rather_9bfda982", "mcp__db__a_rather_long_name_a_rather_long_name_a_rather_66299b97"}},
		{"nothing", "db", []string{""}, []string{"mcp__db___"}},
		{"like a built-in", "db", []string{"Bash", "Read"}, []string{"mcp__db__Bash", "mcp__db__Read"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			names := Names(tt.server, tt.tools)
			var got []string
			for _, tool := range tt.tools {
				got = append(got, names[tool])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNamesProperty checks that names are legal and distinct, and do not depend on the order.
//
// Proves MCP-30.
func TestNamesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.SampledFrom([]rune("ab._-/é名 ")), 0, 70, -1)
		tools := rapid.SliceOfN(word, 1, 12).Draw(t, "tools")
		server := rapid.StringMatching(`[a-z_-]{1,60}`).Draw(t, "server")
		names := Names(server, tools)
		seen := map[string]string{}
		for _, one := range tools {
			name := names[one]
			if err := tool.CheckName(name); err != nil {
				t.Fatal(err)
			}
			if other, taken := seen[name]; taken && other != one {
				t.Fatalf("%q and %q are both called %s", one, other, name)
			}
			seen[name] = one
		}
		slices.Reverse(tools)
		if diff := cmp.Diff(names, Names(server, tools)); diff != "" {
			t.Fatal(diff)
		}
	})
}
