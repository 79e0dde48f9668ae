package commands

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// offer returns a registry with commands that are not built in.
func offer(commands ...Command) *Registry {
	for i := range commands {
		commands[i].Kind = Ask
		if commands[i].Origin == "" {
			commands[i].Origin = "the project"
		}
		if commands[i].Run == nil {
			name := commands[i].Name
			commands[i].Run = func(context.Context, *Registry, string) (Answer, error) { return Prompt{Text: name}, nil }
		}
	}
	return New(Config{Terminal: true, Env: Env{Commands: func(bool) []Command { return commands }}})
}

// TestLookupOrder checks that an exact match comes first, built in or not; otherwise case is
// ignored, and built-in commands take precedence.
//
// Proves CMD-01.
func TestLookupOrder(t *testing.T) {
	r := offer(Command{Name: "help"}, Command{Name: "Cost"}, Command{Name: "Deploy"}, Command{Name: "deploy"}, Command{Name: "quit"}, Command{Name: "x", Aliases: []string{"y"}})
	for typed, want := range map[string]string{
		"help": "", "HELP": "", "cost": "", "Cost": "Cost", "COST": "", "deploy": "deploy", "Deploy": "Deploy", "DEPLOY": "Deploy", "quit": "", "Quit": "", "Y": "x",
	} {
		c, ok := r.Lookup(typed)
		switch {
		case !ok:
			t.Errorf("/%s is not found", typed)
		case want == "" && c.Origin != "", want != "" && c.Name != want:
			t.Errorf("/%s is /%s from %q", typed, c.Name, c.Origin)
		}
	}
}

// TestSwitches checks that a command whose setting is off is not offered, and that running it
// names the setting. With all settings on, every command is available.
//
// Proves CMD-02.
func TestSwitches(t *testing.T) {
	list := func(on bool) map[string]bool {
		r := New(Config{Terminal: true, Env: Env{Enabled: func(string) bool { return on }}})
		names := map[string]bool{}
		for _, c := range r.Commands() {
			names[c.Name] = true
		}
		for _, c := range r.builtIn() {
			if on != (names[c.Name] && c.Switch != "") && c.Switch != "" {
				t.Errorf("/%s, which needs %s: %t with all switches %t", c.Name, c.Switch, names[c.Name], on)
			}
			if c.Switch == "" || on {
				continue
			}
			want := fmt.Sprintf("/%s is not enabled; the setting %s enables it: adze config set %s true", c.Name, c.Switch, c.Switch)
			if _, err := r.Run(t.Context(), c.Name, ""); err == nil || err.Error() != want {
				t.Errorf("/%s: %v", c.Name, err)
			}
			if page, err := r.Run(t.Context(), "help", c.Name); err != nil || !strings.Contains(fmt.Sprint(page), "is not enabled") {
				t.Errorf("/help %s: %v, %v", c.Name, page, err)
			}
		}
		return names
	}
	off, on := list(false), list(true)
	if len(off) >= len(on) || !on["force-snip"] || off["force-snip"] {
		t.Errorf("off: %v\non: %v", off, on)
	}
}

// TestDocIsBounded checks that the description of a dynamic command is limited and on one line.
func TestDocIsBounded(t *testing.T) {
	r := offer(Command{Name: "x", Doc: strings.Repeat("long ", 1000), Args: "a\nb"})
	for _, c := range r.Commands() {
		if len(c.Doc) > 260 || strings.Contains(c.Args, "\n") {
			t.Errorf("/%s: %d bytes, %q", c.Name, len(c.Doc), c.Args)
		}
	}
}

// TestCompleteNames checks that names are completed by their parts: prefix matches first, then
// the most used.
//
// Proves CMD-01.
func TestCompleteNames(t *testing.T) {
	r := offer(
		Command{Name: "team:deploy-web"}, Command{Name: "team:deploy-api"}, Command{Name: "commit"}, Command{Name: "ops:commit"}, Command{Name: "Upper", Args: "[X]"},
	)
	used := map[string]float64{"team:deploy-api": 3}
	r.Env.Score = func(name string) float64 { return used[name] }
	for _, tt := range []struct {
		text, want string
		choices    []string
	}{
		{"/team:", "/team:deploy-", []string{"/team:deploy-api", "/team:deploy-web"}},
		{"/deploy", "/team:deploy-", []string{"/team:deploy-api", "/team:deploy-web"}},
		{"/tdw", "/team:deploy-web", nil},
		{"/te:de-a", "/team:deploy-api", nil},
		{"/comm", "/commit", []string{"/commit", "/ops:commit"}},
		{"/opsco", "/ops:commit", nil},
		{"/pper", "/Upper ", nil},
		{"/upp", "/Upper ", nil},
		{"/dployweb", "/team:deploy-web", nil},
		{"/qqq", "/qqq", nil},
	} {
		got, choices := r.Complete(t.Context(), tt.text)
		if got != tt.want {
			t.Errorf("%q is completed to %q, not %q", tt.text, got, tt.want)
		}
		if diff := cmp.Diff(tt.choices, choices); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

// TestCommandIsGone checks the error for a command that was completed and has since
// disappeared.
//
// Proves CMD-01.
func TestCommandIsGone(t *testing.T) {
	all := []Command{{Name: "deploy", Origin: "the project"}}
	r := New(Config{Env: Env{Commands: func(bool) []Command { return all }}})
	if done, _ := r.Complete(t.Context(), "/depl"); done != "/deploy" {
		t.Fatal(done)
	}
	all = nil
	if _, err := r.Run(t.Context(), "deploy", ""); err == nil || err.Error() != "/deploy no longer exists: its file or server is gone" {
		t.Error(err)
	}
	if _, err := r.Run(t.Context(), "hlep", ""); err == nil || !strings.Contains(err.Error(), "did you mean /help") {
		t.Error(err)
	}
}

// BenchmarkComplete completes a name among 2,000 commands, as each key does: it must stay below
// 1 ms.
func BenchmarkComplete(b *testing.B) {
	all := make([]Command, 2000)
	for i := range all {
		all[i] = Command{Name: fmt.Sprintf("plugin-%d:deploy-%d", i%300, i), Doc: strings.Repeat("about ", 30), Origin: "plugin"}
	}
	r := offer(all...)
	r.Env.Score = func(name string) float64 { return float64(len(name)) }
	for _, typed := range []string{"/", "/p", "/deploy", "/pd19", "/dly", "/zzz"} {
		b.Run(typed[1:], func(b *testing.B) {
			for b.Loop() {
				r.Complete(b.Context(), typed)
			}
		})
	}
}

// TestHelpPages checks that help lists built-in commands by section and others by origin, and
// explains one command, those matching a word, or all.
//
// Proves CMD-04.
func TestHelpPages(t *testing.T) {
	var more []Command
	for i := range 40 {
		more = append(more, Command{Name: fmt.Sprint("skill-", i), Doc: "does things", Origin: []string{"the project", "server x"}[i%2]})
	}
	r := offer(more...)
	card, err := r.Run(t.Context(), "help", "")
	if err != nil {
		t.Fatal(err)
	}
	if c := card.(Page).Blocks[0].(Columns); len(c.Terms[1]) != 10 || len(c.Terms[0]) != 3 {
		t.Errorf("the card has %d commands of this package, and %d keys without bindings", len(c.Terms[1]), len(c.Terms[0]))
	}
	r.Env.Keys.Lines = true
	page := func(arg string) Page {
		t.Helper()
		a, err := r.Run(t.Context(), "help", arg)
		if err != nil {
			t.Fatalf("/help %s: %v", arg, err)
		}
		return a.(Page)
	}
	all := page("")
	listed := map[string]string{}
	for _, b := range all.Blocks {
		if fields, ok := b.(Fields); ok {
			for _, f := range fields {
				listed[f.Name] = f.Value
			}
		}
	}
	for _, c := range r.builtIn() {
		if section := listed[r.sectionOf(&c)]; !strings.Contains(section+" ", "/"+c.Name+" ") {
			t.Errorf("/%s is not in %q", c.Name, section)
		}
	}
	if n := strings.Count(listed["From the project"]+listed["From server x"], "/skill-"); n != maxOffered || !strings.Contains(fmt.Sprint(all), "And 10 commands more") {
		t.Errorf("%d of others are listed: %v", n, all)
	}
	if text := fmt.Sprint(page("/settings")); !strings.Contains(text, "/config") || !strings.Contains(text, "/settings") {
		t.Error(text)
	}
	if text := fmt.Sprint(page("skill-3")); !strings.Contains(text, "the project") && !strings.Contains(text, "server x") {
		t.Error(text)
	}
	if text := fmt.Sprint(page("background")); !strings.Contains(text, "/tasks") || strings.Contains(text, "/clear") {
		t.Error(text)
	}
	if terms := page("model").Blocks[0].(Terms); len(terms) != 1 || terms[0].Name != "/model [NAME]" {
		t.Error(terms)
	}
	if terms := page("effort").Blocks[0].(Terms); len(terms) != 1 {
		t.Error(terms)
	}
	if terms := page("all").Blocks[0].(Terms); len(terms) != len(r.builtIn())+maxOffered {
		t.Error(len(terms))
	}
	if _, err := r.Run(t.Context(), "help", "qqqq"); err == nil || err.Error() != "no command is about qqqq; /help lists the commands" {
		t.Error(err)
	}
}

// TestConfigSearch checks that a word finds settings by name and description, and that a single
// match is shown in full.
//
// Proves CMD-04.
func TestConfigSearch(t *testing.T) {
	options := []Option{
		{Key: "effort", Value: "low", Doc: "how hard the model works", Origin: "your settings"}, {Key: "sandbox.enabled", Value: "false", Doc: "confine commands"},
		{Key: "sandbox.hosts", Doc: "hosts that commands may reach"}, {Key: "shell", Value: "bash", Doc: "runs commands, in the sandbox or not"},
	}
	r := New(Config{Env: Env{Options: func(bool) []Option { return options }}})
	run := func(arg string) string {
		a, err := r.Run(t.Context(), "config", arg)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(a)
	}
	for arg, want := range map[string]string{
		"hard": "{[[{effort low} {from your settings} {about how hard the model works}]]}", "efort": "unknown setting efort; did you mean effort?", "qqqq": "unknown setting qqqq",
		"SANDBOX": "{[[{sandbox.enabled false (the default): confine commands} {sandbox.hosts not set: hosts that commands may reach} " +
			"{shell bash (the default): runs commands, in the sandbox or not}] /config KEY VALUE changes a setting.]}",
	} {
		if diff := cmp.Diff(want, run(arg)); diff != "" {
			t.Errorf("/config %s: %s", arg, diff)
		}
	}
}
