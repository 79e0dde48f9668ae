package extensions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/commands"
	"adze/internal/domain/agentdef"
)

// TestAgentsAtWork checks that running agents are listed after the definitions, if any.
//
// Proves AGENT-22.
func TestAgentsAtWork(t *testing.T) {
	var list []commands.RunningAgent
	r := commands.New(commands.Config{Extensions: commands.Extensions{Agents: commands.Agents{
		Set: func() *agentdef.Set { return &agentdef.Set{} }, Working: func() []commands.RunningAgent { return list },
	}}})
	shown := func() commands.Answer {
		t.Helper()
		a, err := runAgents(t.Context(), r, "")
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if p := shown().(commands.Page); len(p.Blocks) != 0 {
		t.Errorf("shown: %+v", p)
	}
	list = []commands.RunningAgent{{ID: "a1", Type: "scout", Title: "look around", Calls: 2000, Last: "Read a.go"}}
	p := shown().(commands.Page)
	want := [][]string{{"a1", "scout", "look around", "2,000", "Read a.go"}}
	if diff := cmp.Diff(want, p.Blocks[0].(commands.Table).Rows); diff != "" {
		t.Error(diff)
	}
}

// TestManyAgents checks that a page lists only some of very many agents, including the built-in
// ones, and explains how to show others.
//
// Proves CMD-04.
func TestManyAgents(t *testing.T) {
	set := &agentdef.Set{Definitions: []*agentdef.Definition{{Name: "Explore"}, {Name: "own", Source: agentdef.Source{Kind: agentdef.User}}}}
	for i := range 300 {
		name := fmt.Sprintf("p%03d", i)
		set.Definitions = append(set.Definitions, &agentdef.Definition{Name: name + ":helper", Source: agentdef.Source{Kind: agentdef.Plugin, By: name}})
	}
	text := fmt.Sprint(AgentsPage(set))
	for _, want := range []string{"1 agent from your files:", "p000:helper", "1 agent built in:", "And 151 agents more from other plugins; /agents NAME shows one"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}

// TestCompleteAgents checks that edit and delete complete only agents that can be changed.
//
// Proves CMD-04.
func TestCompleteAgents(t *testing.T) {
	set := &agentdef.Set{Definitions: []*agentdef.Definition{
		{Name: "Explore"}, {Name: "own", Source: agentdef.Source{Kind: agentdef.User}}, {Name: "p:helper", Source: agentdef.Source{Kind: agentdef.Plugin, By: "p"}},
	}}
	r := commands.New(commands.Config{Extensions: commands.Extensions{Agents: commands.Agents{Set: func() *agentdef.Set { return set }}}})
	for arg, want := range map[string][]string{
		"":         {"Explore", "own", "p:helper", "create ", "generate ", "edit ", "delete "},
		"edit ":    {"edit own"},
		"delete o": {"delete own"},
		"create ":  nil,
	} {
		if diff := cmp.Diff(want, completeAgents(r, arg)); diff != "" {
			t.Errorf("%q: %s", arg, diff)
		}
	}
}
