package agentdef

import (
	"slices"
	"strings"
	"testing"

	"adze/internal/tool"
)

// traits returns the traits of a tool in these tests.
func traits(name string) *tool.Traits {
	return &tool.Traits{
		Background: slices.Contains(strings.Fields("Read Bash Glob SearchExtraTools"), name),
		MainOnly:   slices.Contains(strings.Fields("TaskOutput TaskStop EnterPlanMode ExitPlanMode AskUserQuestion Workflow"), name),
	}
}

// Proves AGENT-11, AGENT-05.
func TestAllows(t *testing.T) {
	tests := []struct {
		name              string
		access            Access
		tools, background []string // subset that it gets, in the foreground and in the background
	}{
		{"all", Access{}, []string{"Read", "Bash", "Glob", "Sleep", "mcp__web__get"}, []string{"Read", "Bash", "Glob", "mcp__web__get"}},
		{"a list", Access{Tools: []string{"Read", "Sleep"}}, []string{"Read", "Sleep", "mcp__web__get"}, []string{"Read", "mcp__web__get"}},
		{"none", Access{Tools: []string{}}, []string{"mcp__web__get"}, []string{"mcp__web__get"}},
		{"subtracted", Access{Disallowed: []string{"Bash", "Sleep"}}, []string{"Read", "Glob", "mcp__web__get"}, []string{"Read", "Glob", "mcp__web__get"}},
		{"subtracted from a list", Access{Tools: []string{"Read", "Bash"}, Disallowed: []string{"Read"}}, []string{"Bash", "mcp__web__get"}, []string{"Bash", "mcp__web__get"}},
		{"a server subtracted", Access{Tools: []string{"Read"}, Disallowed: []string{"mcp__web"}}, []string{"Read"}, []string{"Read"}},
		{"servers subtracted by a pattern", Access{Tools: []string{"Read"}, Disallowed: []string{"mcp__*"}}, []string{"Read"}, []string{"Read"}},
		{"everything subtracted", Access{Disallowed: []string{"*"}}, nil, nil},
		{"never, even if listed", Access{Tools: []string{"TaskOutput", "TaskStop", "KillShell", "EnterPlanMode", "ExitPlanMode", "AskUserQuestion", "Workflow"}},
			[]string{"mcp__web__get"}, []string{"mcp__web__get"}},
		{"a plan agent", Access{Mode: "plan", Tools: []string{"ExitPlanMode", "EnterPlanMode"}}, []string{"ExitPlanMode", "mcp__web__get"}, []string{"mcp__web__get"}},
		{"agents, listed", Access{Tools: []string{"Agent"}}, []string{"Agent", "mcp__web__get"}, []string{"mcp__web__get"}},
		{"agents, by the old name", Access{Tools: []string{"Task(Explore)"}}, []string{"Agent", "mcp__web__get"}, []string{"mcp__web__get"}},
		{"agents, not by a star", Access{Tools: []string{"*"}}, []string{"Read", "Bash", "Glob", "Sleep", "mcp__web__get"}, []string{"Read", "Bash", "Glob", "mcp__web__get"}},
		{"agents, listed with a star", Access{Tools: []string{"*", "Agent(x)"}}, []string{"Read", "Bash", "Glob", "Sleep", "Agent", "mcp__web__get"}, []string{"Read", "Bash", "Glob", "mcp__web__get"}},
		{"agents, listed and subtracted", Access{Tools: []string{"Agent"}, Disallowed: []string{"Task"}}, []string{"mcp__web__get"}, []string{"mcp__web__get"}},
		{"the old name of a tool", Access{Tools: []string{"Shell"}}, []string{"Bash", "mcp__web__get"}, []string{"Bash", "mcp__web__get"}},
		{"an unknown name", Access{Tools: []string{"Raed"}}, []string{"mcp__web__get"}, []string{"mcp__web__get"}},
	}
	all := []string{"Read", "Bash", "Glob", "Sleep", "TaskOutput", "TaskStop", "EnterPlanMode", "ExitPlanMode", "AskUserQuestion", "Workflow", "Agent", "mcp__web__get"}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := Definition{Access: test.access}
			for _, background := range []bool{false, true} {
				var got []string
				for _, name := range all {
					if d.Allows(name, traits(name), background) {
						got = append(got, name)
					}
				}
				want := test.tools
				if background {
					want = test.background
				}
				if !slices.Equal(got, want) {
					t.Errorf("background %v: got %q, want %q", background, got, want)
				}
			}
		})
	}
}

// TestAllowsOtherNames checks that a tool's other names are equivalent to its main name.
//
// Proves AGENT-11.
func TestAllowsOtherNames(t *testing.T) {
	launcher := Definition{Access: Access{Tools: []string{"Agent", "Bash"}}}
	if !launcher.Allows("Task", traits("Agent"), false) || !launcher.Offers("Task") || !launcher.Allows("Shell", traits("Bash"), true) || !(&Definition{}).Allows("ToolSearch", traits("SearchExtraTools"), true) {
		t.Error("a tool is refused for its other name")
	}
	if (&Definition{}).Allows("KillShell", traits("TaskStop"), false) || (&Definition{}).Allows("Task", traits("Agent"), false) {
		t.Error("a tool is had by its other name")
	}
}

// Proves AGENT-05.
func TestMayLaunch(t *testing.T) {
	tests := []struct {
		tools  []string
		agents []string
	}{
		{nil, nil},
		{[]string{"*"}, nil},
		{[]string{"Agent"}, []string{"Explore", "Plan"}},
		{[]string{"Agent(Explore)"}, []string{"Explore"}},
		{[]string{"Read", "Task(Plan, x)"}, []string{"Plan"}},
	}
	for _, test := range tests {
		d := Definition{Access: Access{Tools: test.tools}}
		var got []string
		for _, agent := range []string{"Explore", "Plan"} {
			if d.MayLaunch(agent) {
				got = append(got, agent)
			}
		}
		if !slices.Equal(got, test.agents) {
			t.Errorf("%q: got %q, want %q", test.tools, got, test.agents)
		}
	}
}
