package wire

import (
	"fmt"
	"testing"

	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/settings"
)

// TestOfferedServerTools checks which server tools are offered: deny rules remove them, and
// --tools affects them only if it names any.
//
// Proves REG-02.
func TestOfferedServerTools(t *testing.T) {
	all := []string{"mcp__a__x", "mcp__a__y", "mcp__ab__x", "mcp__b__x"}
	for _, tt := range []struct {
		deny, tools []string
		want        []string
	}{
		{nil, nil, all},
		{[]string{"mcp__a"}, nil, []string{"mcp__ab__x", "mcp__b__x"}},
		{[]string{"mcp__a__*"}, nil, []string{"mcp__ab__x", "mcp__b__x"}},
		{[]string{"mcp__a__y", "Bash"}, nil, []string{"mcp__a__x", "mcp__ab__x", "mcp__b__x"}},
		{nil, []string{"Bash,Read"}, all},
		{nil, []string{""}, all},
		{nil, []string{"Bash,mcp__a__x"}, []string{"mcp__a__x"}},
		{nil, []string{"mcp__a"}, []string{"mcp__a__x", "mcp__a__y"}},
		{nil, []string{"mcp__a__* mcp__b"}, []string{"mcp__a__x", "mcp__a__y", "mcp__b__x"}},
		{[]string{"mcp__a__x"}, []string{"mcp__a"}, []string{"mcp__a__y"}},
	} {
		p := newPlace(t)
		gate := permission.NewGate(permission.GateConfig{})
		for _, text := range tt.deny {
			r, err := rule.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			r.Behavior, r.Scope = permission.Deny, scope.User
			gate.AddRule(r)
		}
		denied := p.open(settings.Source{}).deniedTools(&Spec{Access: AccessSpec{Tools: tt.tools, Chosen: tt.tools != nil}}, gate, nil)
		var got []string
		for _, name := range all {
			if !denied(name) {
				got = append(got, name)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("deny %v, tools %q: %v, want %v", tt.deny, tt.tools, got, tt.want)
		}
	}
}
