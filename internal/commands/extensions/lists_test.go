package extensions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"adze/internal/commands"
	"adze/internal/domain/agentdef"
)

// find returns the named action of a list or of a view.
func find(t *testing.T, l commands.List, view int, name string) commands.Action {
	t.Helper()
	for _, a := range append(l.Actions, l.Views[view].Actions...) {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("nothing %s in %+v", name, l)
	return commands.Action{}
}

// TestAgentsList checks that /agents at a terminal is a list with previews, in which an agent
// is shown, edited, created, and deleted after confirmation. Elsewhere it is a page.
//
// Proves CMD-04.
func TestAgentsList(t *testing.T) {
	set := &agentdef.Set{Definitions: []*agentdef.Definition{{Name: "scout", Description: "looks around"}}}
	removed := ""
	agents := commands.Agents{
		Set: func() *agentdef.Set { return set },
		Working: func() []commands.RunningAgent {
			return []commands.RunningAgent{{ID: "a1", Type: "scout", Title: "look", Calls: 2}}
		},
		File:   func(name string) (string, error) { return "/" + name + ".md", nil },
		Remove: func(name string) (string, error) { removed = name; return "/" + name + ".md", nil },
	}
	run := func(terminal bool) commands.Answer {
		r := commands.New(commands.Config{Terminal: terminal, Extensions: commands.Extensions{Agents: agents}})
		a, err := runAgents(t.Context(), r, "")
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if _, ok := run(false).(commands.Page); !ok {
		t.Error("there is a list without a terminal")
	}
	l := run(true).(commands.List)
	if len(l.Choices) > 0 || len(l.Page.Blocks) == 0 {
		t.Error("front ends that read lines do not get the page")
	}
	choices, err := l.Views[0].Load(t.Context())
	if err != nil || len(choices) != 1 || choices[0].ID != "scout" {
		t.Fatalf("%v, %v", choices, err)
	}
	if shown, err := l.Preview(t.Context(), choices[0]); err != nil || !strings.Contains(fmt.Sprint(shown), "looks around") {
		t.Errorf("%v, %v", shown, err)
	}
	if busy, err := l.Views[1].Load(t.Context()); err != nil || len(busy) != 1 || busy[0].Cells[1] != "2 calls" {
		t.Errorf("%v, %v", busy, err)
	}
	if a, err := find(t, l, 0, "edits").Run(t.Context(), choices[0], ""); err != nil || a.(commands.Edit).Path != "/scout.md" {
		t.Errorf("%v, %v", a, err)
	}
	if a, err := find(t, l, 0, "creates").Run(t.Context(), commands.Choice{}, "ranger walks far"); err != nil || len(a.(commands.List).Choices) != 2 {
		t.Errorf("%v, %v", a, err)
	}
	remove := find(t, l, 0, "deletes")
	if q := remove.Confirm(choices[0]); q != "Delete the file of scout?" {
		t.Error(q)
	}
	if _, err := remove.Run(t.Context(), choices[0], ""); err != nil || removed != "scout" {
		t.Errorf("%q, %v", removed, err)
	}
}

// A fakePlugins records the operations.
type fakePlugins struct {
	commands.Plugins
	did []string
}

func (p *fakePlugins) List(context.Context) ([]commands.Plugin, error) {
	return []commands.Plugin{{Name: "fmt@shop", Version: "1", State: "used"}}, nil
}
func (p *fakePlugins) Offered(context.Context) ([]commands.Plugin, error) {
	return nil, errors.New("no net")
}
func (p *fakePlugins) Markets(context.Context) ([]commands.Marketplace, error) {
	return []commands.Marketplace{{Name: "shop", Source: "/shop"}}, nil
}
func (p *fakePlugins) Problems() []string { return []string{"broken: no manifest"} }
func (p *fakePlugins) Details(_ context.Context, name string) (commands.Fields, []string, error) {
	if name != "fmt@shop" {
		return nil, nil, errors.New("no such plugin")
	}
	return commands.Fields{{Name: "Plugin", Value: name}}, []string{"1 command"}, nil
}
func (p *fakePlugins) note(what string) (string, error) {
	p.did = append(p.did, what)
	return what, nil
}
func (p *fakePlugins) Disable(_ context.Context, name string) (string, error) {
	return p.note("disable " + name)
}
func (p *fakePlugins) Uninstall(_ context.Context, name string) (string, error) {
	return p.note("uninstall " + name)
}
func (p *fakePlugins) AddMarket(_ context.Context, name string) (string, error) {
	return p.note("add " + name)
}
func (p *fakePlugins) RemoveMarket(_ context.Context, name string) (string, error) {
	return p.note("remove " + name)
}

// TestPluginsList checks that /plugin lists installed and installable plugins, marketplaces and
// problems, with their actions.
//
// Proves CMD-04.
func TestPluginsList(t *testing.T) {
	plugins := &fakePlugins{}
	r := commands.New(commands.Config{Terminal: true, Extensions: commands.Extensions{Plugins: plugins}})
	a, err := runPlugins(t.Context(), r, "")
	if err != nil {
		t.Fatal(err)
	}
	l := a.(commands.List)
	choices, err := l.Views[0].Load(t.Context())
	if err != nil || len(choices) != 1 {
		t.Fatal(choices, err)
	}
	if shown, err := l.Preview(t.Context(), choices[0]); err != nil || !strings.Contains(fmt.Sprint(shown), "1 command") {
		t.Errorf("%v, %v", shown, err)
	}
	if _, err := l.Views[1].Load(t.Context()); err == nil {
		t.Error("missing error")
	}
	for _, x := range []struct {
		view           int
		does, id, text string
	}{{0, "disables", "fmt@shop", ""}, {0, "uninstalls", "fmt@shop", ""}, {2, "adds", "", " /other "}, {2, "removes", "shop", ""}} {
		if _, err := find(t, l, x.view, x.does).Run(t.Context(), commands.Choice{ID: x.id}, x.text); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(plugins.did, "; "); got != "disable fmt@shop; uninstall fmt@shop; add /other; remove shop" {
		t.Error(got)
	}
	for view, name := range map[int]string{0: "uninstalls", 2: "removes"} {
		if find(t, l, view, name).Confirm == nil {
			t.Errorf("no prompt before it %s", name)
		}
	}
	if v := l.Views[3]; v.Name != "problems" || v.Choices[0].Title != "broken: no manifest" {
		t.Errorf("%+v", v)
	}
}
