package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// behind returns a pool with a core tool, two doors and the deferred tools.
func behind(denied func(string) bool, deferred ...tool.Tool) *tool.Pool {
	w := &worker{}
	r := tool.NewRegistry(append([]tool.Tool{
		w.tool("Read", tool.Traits{Aliases: []string{"View"}}),
		w.tool("Search", tool.Traits{Dispatcher: true, Aliases: []string{"Find"}}),
		tool.NewForwarder(tool.Def{Name: "Execute", Traits: tool.Traits{Dispatcher: true, Aliases: []string{"Invoke"}}}),
	}, deferred...)...)
	r.Deferred = func(name string, _ *tool.Traits) bool { return name != "Read" }
	r.Missing = func(name string) string {
		if strings.HasPrefix(name, "mcp__db__") {
			return "The server db is not connected: it failed."
		}
		return ""
	}
	p, _ := r.Assemble(nil, denied)
	return p
}

// through returns a use of a tool through the door.
func through(name, params string) *msg.ToolUse {
	return use("Execute", fmt.Sprintf(`{"tool_name":%q,"params":%s}`, name, params))
}

// Proves EXEC-02, XTR-02.
func TestDoorRefuses(t *testing.T) {
	ran := 0
	w := &worker{run: func(context.Context, job) (tool.Result, error) { ran++; return tool.Text("ran"), nil }}
	off := errors.New("it is switched off")
	denied := func(name string) bool { return name == "Gone" }
	pool := behind(denied, w.tool("Cron", tool.Traits{Aliases: []string{"Timer"}}), w.tool("Gone", tool.Traits{}),
		w.tool("Off", tool.Traits{Aliases: []string{"Out"}, Enabled: func() error { return off }}))
	e := &Executor{Gates: gates(allow())}
	for _, tt := range []struct {
		use  *msg.ToolUse
		want []string
	}{
		{through("Crom", `{"text":"x"}`), []string{`unknown tool "Crom"`, "Did you mean Cron?"}},
		{through("mcp__db__query", `{}`), []string{`unknown tool "mcp__db__query"`, "The server db is not connected: it failed."}},
		{through("Read", `{"text":"x"}`), []string{"Read is among the tools that you have: call it directly, without Execute"}},
		{through("View", `{"text":"x"}`), []string{"Read is among the tools that you have"}},
		{through("Search", `{"text":"x"}`), []string{"Search is among the tools that you have: call it directly"}},
		{through("Execute", `{"tool_name":"Cron","params":{"text":"x"}}`), []string{"Execute cannot run itself"}},
		{through("Invoke", `{"tool_name":"Cron","params":{"text":"x"}}`), []string{"Execute cannot run itself"}},
		{through("Cron", `{"txt":5}`), []string{"text: required, but missing", "txt", "The input schema of Cron is: " + jobSchema}},
		{through("Cron", `[1]`), []string{"expected object", jobSchema}},
		{through("Cron", `"x"`), []string{"expected object", jobSchema}},
		{through("Gone", `{"text":"x"}`), []string{"Gone is not available", "a permission rule denies it"}},
		{through("Out", `{"text":"x"}`), []string{"Off is not available", "it is switched off"}},
		{use("Execute", `{"params":{}}`), []string{"tool_name: required, but missing"}},
		{use("Execute", `{"tool_name`), []string{"the input of Execute is not valid JSON"}},
		{use("Execute", `{"tool_name":"Cron","tool_name":"Off","params":{"text":"x"}}`), []string{"given twice"}},
		{use("Crom", `{}`), []string{"Did you mean Cron?"}},
		{use("Cron", `{}`), []string{"text: required, but missing", jobSchema}},
		{use("Read", `{}`), []string{"text: required, but missing"}},
	} {
		o := e.perform(t.Context(), pool, tt.use)
		wantError(t, o, tt.want...)
		if name := tt.use.Name; name == "Read" && strings.Contains(text(o), jobSchema) {
			t.Error("the schema of a listed tool is repeated")
		}
	}
	if ran > 0 {
		t.Errorf("%d calls were run", ran)
	}
}

// TestDoorIsTransparent checks that a use through the door is treated as the target tool's
// everywhere except in the model's own block.
//
// Proves XTR-01, XTR-03, XTR-04.
func TestDoorIsTransparent(t *testing.T) {
	w := &worker{
		facts: func(j job) bool { return j.Text == "look" },
		words: func(j job) string { return "schedule " + j.Text },
	}
	pool := behind(nil, w.tool("Cron", tool.Traits{Aliases: []string{"Timer"}, Shell: true, MaxChars: 10}))
	var seen []string
	hooks := gateFunc(func(_ context.Context, u *tool.Use) error {
		input, _ := json.Marshal(tool.ObservedInput(u.Call)) // ok: an object
		seen = append(seen, u.Name+string(u.Input)+string(input))
		return nil
	})
	e := &Executor{Gates: gates(hooks, allow())}
	raw := use("Invoke", `{ "tool_name":"Timer", "params": "{\"text\": \"look\"}" }`)
	before := string(raw.Input)
	p := e.Bind(pool, raw)
	if !p.ReadOnly() || !p.Concurrent() || !p.Traits().Shell || p.Title() != "schedule look" || p.Activity() != "schedule look" {
		t.Errorf("the call is not the target's: %q %+v", p.Title(), p.Traits())
	}
	if diff := cmp.Diff(&msg.ToolUse{ID: "toolu_1", Name: "Cron", Input: json.RawMessage(`{"text": "look"}`)}, p.Use()); diff != "" {
		t.Errorf("what users see (-want +got):\n%s", diff)
	}
	if !e.Admit(t.Context(), p) {
		t.Fatal(text(*p.Refused()))
	}
	if o := e.Run(t.Context(), p, nil); o.Result.ID != "toolu_1" || text(o) != "did look" {
		t.Errorf("result %s %q", o.Result.ID, text(o))
	}
	if diff := cmp.Diff([]string{`Cron{"text": "look"}{"text":"look"}`}, seen); diff != "" {
		t.Errorf("hooks saw (-want +got):\n%s", diff)
	}
	if string(raw.Input) != before || raw.Name != "Invoke" {
		t.Errorf("the model's block changed: %s%s", raw.Name, raw.Input)
	}
}

// TestDoorEqualsTheDirectCall checks that for any tool, rules, hooks and mode, a call through
// the door has the same decision, hook and denial records, and result bytes as the direct call.
// A rule on the door itself grants nothing.
//
// Proves XTR-01.
func TestDoorEqualsTheDirectCall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"Cron", "mcp__db__drop", "mcp__db__read", "mcp__web__get"}
		name := rapid.SampledFrom(names).Draw(t, "name")
		readOnly, fails := rapid.Bool().Draw(t, "read-only"), rapid.Bool().Draw(t, "fails")
		w := &worker{facts: func(job) bool { return readOnly }, words: func(j job) string { return "title " + j.Text }}
		if fails {
			w.run = func(context.Context, job) (tool.Result, error) { return tool.Result{}, errors.New("no luck") }
		}
		origin := ""
		if server, _, ok := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__"); ok {
			origin = "mcp:" + server
		}
		target := w.tool(name, tool.Traits{Origin: origin, MaxChars: rapid.SampledFrom([]int{0, 5}).Draw(t, "max")})
		var rules []rule.Rule
		for _, written := range rapid.SliceOfN(rapid.SampledFrom([]string{
			"Cron", "Cron(x)", "mcp__db", "mcp__db__*", "mcp__db__drop", "mcp__web__get", "Execute", "Execute(*)", "Invoke", "Read",
		}), 0, 4).Draw(t, "rules") {
			r, err := rule.Parse(written)
			if err != nil {
				t.Fatal(err)
			}
			r.Behavior, r.Scope = rapid.SampledFrom([]rule.Behavior{rule.Allow, rule.Ask, rule.Deny}).Draw(t, "behaviour"), scope.User
			if r.Tool == "Execute" || r.Tool == "Invoke" {
				r.Behavior = rule.Allow // a deny rule would close the door
			}
			rules = append(rules, r)
		}
		mode := rapid.SampledFrom([]permission.Mode{permission.Default, permission.AcceptEdits, permission.Plan, permission.DontAsk, permission.Bypass}).Draw(t, "mode")
		hook := rapid.SampledFrom([]string{"", "allow", "deny", "rewrite", "nonsense", "stop"}).Draw(t, "hook")
		matcher := rapid.SampledFrom(append(names, "Execute")).Draw(t, "matcher")
		input := rapid.SampledFrom([]string{`{"text":"x"}`, `{"text": "a b"}`, `{"txt":1}`, `{}`, `{"text":5}`}).Draw(t, "input")

		attempt := func(u *msg.ToolUse) string {
			gate := permission.NewGate(permission.GateConfig{Config: permission.Config{Rules: rules, Mode: mode, Dir: "/work", Home: "/home"}, MayBypass: true})
			var log strings.Builder
			hooks := gateFunc(func(_ context.Context, u *tool.Use) error {
				if u.Name != matcher || hook == "" {
					return nil
				}
				observed, _ := json.Marshal(tool.ObservedInput(u.Call)) // ok: an object
				fmt.Fprintf(&log, "hook: %s %s %s\n", u.Name, u.Input, observed)
				switch hook {
				case "allow":
					u.Verdict.HookAllow = "a hook"
				case "deny":
					u.Verdict.Decide(tool.Deny, "a hook", "no")
				case "rewrite":
					return u.Rewrite("a hook", json.RawMessage(`{"text":"rewritten"}`))
				case "nonsense":
					return u.Rewrite("a hook", json.RawMessage(`{"nonsense":1}`))
				case "stop":
					u.Verdict.Stop = "enough"
				}
				return nil
			})
			after := afterFunc(func(_ context.Context, u *tool.Use, r *tool.Result) error {
				fmt.Fprintf(&log, "after: %s %s %v\n", u.Name, u.Input, r.IsError)
				return nil
			})
			e := &Executor{
				Gates: gates(hooks, gate), Afters: []After{{"hooks", after}},
				Denied: func(u *tool.Use) {
					fmt.Fprintf(&log, "denied: %s %s %s %+v\n", u.Name, u.ID, u.Input, u.Verdict)
				},
			}
			p := e.Bind(behind(nil, target), u)
			fmt.Fprintf(&log, "%s %s %s %v %v\n", p.Use().Name, p.Use().Input, p.Title(), p.ReadOnly(), p.Concurrent())
			o := Outcome{}
			if e.Admit(t.Context(), p) {
				o = e.Run(t.Context(), p, nil)
			} else {
				o = *p.Refused()
			}
			fmt.Fprintf(&log, "%v %v %q %q %q %v %s\n", o.Denied, o.Rejected, o.Refusal, o.Remedy, o.Stop, o.Result.IsError, text(o))
			return log.String()
		}
		direct := attempt(use(name, input))
		if diff := cmp.Diff(direct, attempt(through(name, input))); diff != "" {
			t.Fatalf("direct and through the door (-direct +door):\n%s", diff)
		}
	})
}
