package wire

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/commands"
	"adze/internal/domain/agentdef"
	"adze/internal/feature/agents"
	"adze/internal/feature/agents/builtin"
	"adze/internal/feature/teams"
	"adze/internal/permission"
	"adze/internal/settings"
)

// TestOrder prints the order of prompt hooks, gates, result observers and stop hooks for each kind
// of conversation, with its tools and commands. The golden file documents them.
func TestOrder(t *testing.T) {
	p := newPlace(t)
	p.Write("home/.adze/settings.json", `{"agents":{"fork":true},"experimental":{"coordinator":true,"monitor":true},"schedule":{"tools":true},"worktree":{"tools":true}}`)
	open := func(spec Spec) *Conversation {
		if spec.Calls == FromModel {
			p.Write("model.replay", "forever\nsay Yes.")
			spec.Model.Name = "replay:" + p.Path("model.replay")
		}
		c, err := p.open(settings.Source{Trust: true}).Converse(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	lead := open(Spec{Entry: Interactive})
	under := func(c *Conversation, s agents.Spec, mate teams.Spec) *Conversation {
		s.ID, s.Title, s.Dir, s.Asks = "a1", "Agent", p.Path("work"), func() bool { return true }
		if s.Mode == "" {
			s.Mode = permission.Default
		}
		child, err := c.launch(t.Context(), s, mate)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(child.Close)
		return child
	}
	general, err := lead.agents.Definition(builtin.General)
	if err != nil {
		t.Fatal(err)
	}
	withMemory := &agentdef.Definition{Name: "diarist", Prompt: "Keep a diary.", Memory: "project"}
	mate := &teams.Teammate{}
	coordinator := func() *Conversation {
		p.Vars["ADZE_COORDINATOR_MODE"] = "1"
		defer delete(p.Vars, "ADZE_COORDINATOR_MODE")
		return open(Spec{Entry: Interactive})
	}
	var b strings.Builder
	first := lead.Commands().Commands()
	fmt.Fprintf(&b, "commands at a terminal: %s\n\n", strings.Join(names(first, nil), ", "))
	for _, k := range []struct {
		name string
		c    *Conversation
	}{
		{"main conversation at a terminal", lead},
		{"main conversation for a host", open(Spec{Entry: Host})},
		{"main conversation, a single turn", open(Spec{})},
		{"main conversation, bare", open(Spec{Bare: true})},
		{"main conversation, not stored", open(Spec{Session: SessionSpec{Ephemeral: true}})},
		{"coordinator", coordinator()},
		{"sub-agent", under(lead, agents.Spec{Definition: general}, teams.Spec{})},
		{"sub-agent in the background", under(lead, agents.Spec{Definition: general, Background: true}, teams.Spec{})},
		{"sub-agent with its own memory", under(lead, agents.Spec{Definition: withMemory}, teams.Spec{})},
		{"sub-agent of a hook", under(lead, agents.Spec{Definition: general, ForHook: true}, teams.Spec{})},
		{"fork that maintains memories", under(lead, agents.Spec{MemoryTask: &agents.MemoryTask{}}, teams.Spec{})},
		{"teammate in its lead's process", under(lead, agents.Spec{Definition: general}, teams.Spec{Team: "team", Name: "mate", Mate: mate})},
		{"calls of the user", open(Spec{Calls: FromStream})},
		{"single call", open(Spec{Calls: Single})},
		{"calls of another program", open(Spec{Calls: FromClient})},
	} {
		fmt.Fprintf(&b, "%s\n%s  not among its commands: %s\n\n", k.name, order(k.c), strings.Join(names(first, k.c.Commands().Commands()), ", "))
	}
	if *update {
		if err := os.WriteFile("testdata/order.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/order.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("run with -update if this is meant:\n%s", diff)
	}
}

// order describes the order of a conversation's parts, one kind per line.
func order(c *Conversation) string {
	var b strings.Builder
	cfg := reflect.ValueOf(c.Session).Elem().FieldByName("cfg")
	for _, list := range []string{"PromptHooks", "Gates", "Afters"} {
		var names []string
		for _, v := range cfg.FieldByName(list).Seq2() {
			names = append(names, v.FieldByName("Name").String())
		}
		fmt.Fprintf(&b, "  %s: %s\n", list, strings.Join(names, ", "))
	}
	var stops []string
	for _, v := range cfg.FieldByName("Stops").Seq2() {
		stops = append(stops, v.Elem().Type().String())
	}
	fmt.Fprintf(&b, "  Stops: %s\n", strings.Join(stops, ", "))
	var tools []string
	for _, s := range c.Session.Pool().Specs() {
		tools = append(tools, s.Name)
	}
	fmt.Fprintf(&b, "  tools: %s\n", strings.Join(tools, ", "))
	return b.String()
}

// names returns the names of the built-in commands in all but not in others.
func names(all, others []commands.Command) (list []string) {
	for _, c := range all {
		if c.Origin == "" && !slices.ContainsFunc(others, func(o commands.Command) bool { return o.Name == c.Name }) {
			list = append(list, c.Name)
		}
	}
	return list
}
