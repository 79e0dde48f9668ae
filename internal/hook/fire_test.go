//go:build unix

package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// decides returns a script that prints a PreToolUse decision.
func decides(decision, more string) string {
	return fmt.Sprintf(`echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":%q,%s"additionalContext":%q}}'`, decision, more, "from "+decision)
}

// Proves HOOK-15.
func TestOrderOfConfigurationDecides(t *testing.T) {
	// The first hook in the file ends last.
	r, _ := start(t, Config{}, on(PreToolUse,
		command("while [ ! -e b ]; do sleep 0.01; done; "+decides("allow", `"updatedInput":{"command":"one"},`)),
		command("while [ ! -e c ]; do sleep 0.01; done; touch b; "+decides("ask", `"updatedInput":{"command":"two"},"permissionDecisionReason":"why",`)),
		command("touch c; "+decides("allow", "")),
	))
	out := r.Fire(t.Context(), OnPreToolUse(shell(t, "ls")))
	if out.Decision != tool.Ask || out.Reason != "why" || string(out.UpdatedInput) != `{"command":"two"}` {
		t.Errorf("decision %d, reason %q, input %s", out.Decision, out.Reason, out.UpdatedInput)
	}
	var order []string
	for _, p := range out.Context {
		text := msg.PlainText([]msg.Part{p})
		order = append(order, text[strings.Index(text, "from "):strings.Index(text, "\n</")])
	}
	if diff := cmp.Diff([]string{"from allow", "from ask", "from allow"}, order); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	if len(out.Messages) != 1 || !strings.HasPrefix(out.Messages[0], "several hooks give an input; that of PreToolUse hook `while [ ! -e c ]") {
		t.Errorf("messages %q", out.Messages)
	}
}

// Proves HOOK-15.
func TestStrictestWins(t *testing.T) {
	all := map[string]string{"deny": decides("deny", ""), "ask": decides("ask", ""), "allow": decides("allow", ""), "none": "true"}
	rank := map[string]tool.Decision{"deny": tool.Deny, "ask": tool.Ask, "allow": tool.Allow, "none": tool.Undecided}
	for a, first := range all {
		for b, second := range all {
			r, _ := start(t, Config{}, on(PreToolUse, command(first), command(second+" #")))
			if got := r.Fire(t.Context(), OnPreToolUse(shell(t, "ls"))).Decision; got != max(rank[a], rank[b]) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
	r, _ := start(t, Config{}, on(Stop, command(`echo '{"continue":false,"stopReason":"enough"}'`), command("true")))
	if out := r.Fire(t.Context(), OnStop(false, "")); out.Stop != "enough" {
		t.Errorf("stop %q", out.Stop)
	}
}

// Proves HOOK-28.
func TestTheSameHookRunsOnce(t *testing.T) {
	r, _ := start(t, Config{Sources: []Source{
		{Name: "user", Scope: scope.User, JSON: on(UserPromptSubmit, command("echo a", `"timeout":1`), command("echo b"))},
		{Name: "project", Scope: scope.Project, JSON: on(UserPromptSubmit, command("echo a", `"timeout":7`), command("echo b", `"shell":"sh"`))},
	}})
	var got []string
	for _, h := range r.matching(OnUserPromptSubmit("hi"), "/") {
		got = append(got, fmt.Sprint(h.source.Name, " ", h.label(), " ", h.timeout))
	}
	want := []string{"user echo b 0s", "project echo a 7s", "project echo b 0s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	context := contextOf(t, r)
	if strings.Count(context, "hook `echo a`:") != 1 {
		t.Errorf("context %q", context)
	}
	r.SetHost(json.RawMessage(`{"UserPromptSubmit":[{"hookCallbackIds":["x","x"]}]}`), nil)
	if n := len(r.matching(OnUserPromptSubmit("hi"), "/")); n != len(want)+2 {
		t.Errorf("%d hooks with two callbacks of the host", n)
	}
}

// Proves HOOK-27.
func TestManagedHooksRankFirst(t *testing.T) {
	same := on(Stop, command("echo same"))
	cfg := Config{Sources: []Source{
		{Name: "user", Scope: scope.User, JSON: same}, {Name: "user", Scope: scope.User, JSON: on(Stop, command("echo own"))}, {Name: "policy", Scope: scope.Managed, JSON: same},
	}}
	names := func(cfg Config) string {
		r, _ := start(t, cfg)
		r.SetHost(json.RawMessage(`{"Stop":[{"hookCallbackIds":["x"]}]}`), nil)
		var list []string
		for _, h := range r.matching(OnStop(false, ""), "/") {
			list = append(list, h.source.Name+" "+h.label())
		}
		return strings.Join(list, ", ")
	}
	tests := []struct {
		name   string
		policy Policy
		want   string
	}{
		{"all", Policy{}, "policy echo same, user echo own, the host x"},
		{"disabled", Policy{Disable: true}, "policy echo same"},
		{"disabled by policy", Policy{Disable: true, DisableManaged: true}, ""},
		{"managed only", Policy{ManagedOnly: true}, "policy echo same, the host x"},
		{"inside a hook", Policy{InHook: true}, "policy echo same"},
	}
	for _, tt := range tests {
		cfg.Policy = tt.policy
		if got := names(cfg); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestMute checks that the user can disable hooks, except the administrator's and the host's.
//
// Proves HOOK-32.
func TestMute(t *testing.T) {
	r, _ := start(t, Config{Sources: []Source{
		{Name: "user", Scope: scope.User, JSON: on(Stop, command("echo own"))}, {Name: "policy", Scope: scope.Managed, JSON: on(Stop, command("echo policy"))},
		{Name: "user", Scope: scope.User, JSON: on(PreToolUse, command("echo own"))},
	}})
	r.SetHost(json.RawMessage(`{"Stop":[{"hookCallbackIds":["x"]}]}`), nil)
	state := func() string {
		var list []string
		for _, h := range r.matching(OnStop(false, ""), "/") {
			list = append(list, h.source.Name)
		}
		for _, l := range r.List() {
			if l.Idle != "" {
				list = append(list, l.Source+" "+string(l.Event)+": "+l.Idle)
			}
		}
		return fmt.Sprintf("%s; %t %t", strings.Join(list, ", "), r.Has(PreToolUse), r.Has(Stop))
	}
	before := "policy, user, the host; true true"
	if got := state(); got != before {
		t.Errorf("before: %s", got)
	}
	r.Mute(true)
	if got := state(); got != "policy, the host, user Stop: you switched hooks off, user PreToolUse: you switched hooks off; false true" {
		t.Errorf("off: %s", got)
	}
	r.Mute(false)
	if got := state(); got != before {
		t.Errorf("on again: %s", got)
	}
}

// Proves HOOK-27.
func TestSettingsAreASnapshot(t *testing.T) {
	data := on(Stop, command("echo a"))
	r, _ := start(t, Config{}, data)
	copy(data, on(Stop, command("echo b"))) // simulates an editor changing the buffer
	if got := r.matching(OnStop(false, ""), "/")[0].label(); got != "echo a" {
		t.Errorf("the hook changed under our hands: %s", got)
	}
	problems := r.Reload([]Source{{Name: "user", JSON: json.RawMessage(`{"Stop":3}`)}, {Name: "local", Scope: scope.Local, JSON: on(Stop, command("echo c"))}})
	if len(problems) != 1 || problems[0].Source != "user" {
		t.Errorf("problems %v", problems)
	}
	if hooks := r.matching(OnStop(false, ""), "/"); len(hooks) != 1 || hooks[0].label() != "echo c" {
		t.Errorf("after reloading: %v", hooks)
	}
}

// Proves HOOK-30.
func TestWorkspaceHooksNeedTrust(t *testing.T) {
	mark := func(name string) string { return command("touch " + name) }
	run := func(trusted bool, approve string) string {
		dir := t.TempDir()
		r, _ := start(t, Config{
			Dir: dir,
			Sources: []Source{
				{Name: "user", Scope: scope.User, JSON: on(SessionStart, mark("user"))},
				{Name: "project", Scope: scope.Project, Workspace: true, Trusted: trusted, JSON: json.RawMessage(
					`{"SessionStart":[{"hooks":[` + mark("start") + `]}],"Stop":[{"hooks":[` + mark("stop") + `]}]}`)},
			},
			Approved: func(src Source, event, matcher string, handler json.RawMessage) bool {
				if src.Name != "project" || matcher != "" {
					t.Errorf("asked about %s %q", src.Name, matcher)
				}
				return strings.Contains(string(handler), approve)
			},
		})
		r.Fire(t.Context(), OnSessionStart("startup", ""))
		r.Fire(t.Context(), OnStop(false, ""))
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	if got := run(false, "touch"); got != "user" {
		t.Errorf("not trusted: %s", got)
	}
	if got := run(true, "touch"); got != "start stop user" {
		t.Errorf("trusted: %s", got)
	}
	if got := run(true, "stop"); got != "stop user" {
		t.Errorf("one approved: %s", got)
	}
}

// Proves HOOK-31.
func TestOnce(t *testing.T) {
	dir := t.TempDir()
	r, _ := start(t, Config{Dir: dir}, on(Stop, command("echo x >>log; [ $(wc -l <log) -ge 2 ]", `"once":true`)))
	for range 4 {
		r.Fire(t.Context(), OnStop(false, ""))
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil || string(log) != "x\nx\n" { // the first run fails
		t.Errorf("log %q, %v", log, err)
	}
}

// TestTypes checks that a hook of a type that cannot run yet gives no verdict, so that its call
// needs confirmation.
//
// Proves HOOK-05.
func TestTypes(t *testing.T) {
	for entry, want := range map[string]string{
		command("exit 2"):                       "denied",
		`{"type":"prompt","prompt":"Fine?"}`:    "said asked",
		`{"type":"agent","prompt":"Check it."}`: "said asked",
	} {
		r, _ := start(t, Config{}, on(PreToolUse, entry))
		if got := summary(r.Fire(t.Context(), OnPreToolUse(shell(t, "deploy")))); got != want {
			t.Errorf("%s: %q, want %q", entry, got, want)
		}
	}
}

// Proves HOOK-05.
func TestCallbacks(t *testing.T) {
	use := shell(t, "deploy")
	tests := []struct {
		name string
		f    func(context.Context, json.RawMessage) (json.RawMessage, error)
		want string
	}{
		{"silent", func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }, ""},
		{"empty", func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`{}`), nil }, ""},
		{"allows", func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(allowing), nil }, "allowed"},
		{"blocks", func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"decision":"block"}`), nil
		}, "denied"},
		{"fails", func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errors.New("no") }, "said asked"},
		{"panics", func(context.Context, json.RawMessage) (json.RawMessage, error) { panic("boom") }, "said asked"},
		{"babbles", func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`{"x`), nil }, "said asked"},
	}
	for _, tt := range tests {
		r, _ := start(t, Config{})
		var called []string
		notes, err := r.SetHost(json.RawMessage(`{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["hook_0"],"timeout":5},{"matcher":"Edit","hookCallbackIds":["hook_1"]}]}`),
			func(ctx context.Context, id string, input json.RawMessage, useID string) (json.RawMessage, error) {
				called = append(called, id+" "+useID)
				return tt.f(ctx, input)
			})
		if got := summary(r.Fire(t.Context(), OnPreToolUse(use))); got != tt.want || len(notes) > 0 || err != nil {
			t.Errorf("callback %s: %q, want %q; %v, %v", tt.name, got, tt.want, notes, err)
		}
		if diff := cmp.Diff([]string{"hook_0 toolu_1"}, called); diff != "" {
			t.Errorf("called (-want +got):\n%s", diff)
		}
	}
}

// TestHooksOfAHostForSubAgents checks that sub-agents at any depth have the host's hooks,
// including ones set later, and that hooks disabled by the user are disabled for them.
//
// Proves HOOK-05.
func TestHooksOfAHostForSubAgents(t *testing.T) {
	use := &tool.Use{ToolUse: *msg.NewToolUse("toolu_1", "Bash", `{"command":"make"}`)}
	settings := []Source{{Name: "settings", JSON: json.RawMessage(`{"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}`)}}
	lead, _ := start(t, Config{})
	worker, _ := start(t, Config{Sources: settings})
	below, _ := start(t, Config{})
	worker.Under(lead)
	below.Under(worker)
	if worker.Has(PreToolUse) || !worker.Has(Stop) {
		t.Error("it has hooks that no one set, or none of its own")
	}
	_, err := lead.SetHost(json.RawMessage(`{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["hook_0"]}]}`),
		func(context.Context, string, json.RawMessage, string) (json.RawMessage, error) {
			return json.RawMessage(`{"decision":"block"}`), nil
		})
	if err != nil {
		t.Fatal(err)
	}
	lead.Mute(true)
	for _, r := range []*Runner{lead, worker, below} {
		if got := summary(r.Fire(t.Context(), OnPreToolUse(use))); got != "denied" {
			t.Errorf("the host is not heard: %q", got)
		}
	}
	if worker.Has(Stop) {
		t.Error("hooks that are switched off would run")
	}
}

// TestHostHooks checks that unusable host hooks are an error that keeps the previous ones, and
// that unknown events and ineffective fields are noted.
//
// Proves HOOK-05.
func TestHostHooks(t *testing.T) {
	tests := []struct {
		hooks, err, notes string
	}{
		{`{}`, "", ""},
		{`{"PreToolUse":[]}`, "", ""},
		{`{"PreToolUse":[{"hookCallbackIds":[]}]}`, "", ""},
		{`{"PreToolUse":[{"matcher":null,"hookCallbackIds":["a"],"timeout":null}]}`, "", ""},
		{`{"PostModelSwitch":[{"hookCallbackIds":["a"]}]}`, "", "hooks.PostModelSwitch: unknown event"},
		{`{"PreTolUse":{"anything":1}}`, "", "did you mean PreToolUse?"},
		{`{"PreToolUse":[{"hookCallbackIds":["a"],"color":"red"}]}`, "", "hooks.PreToolUse[0]: color is not known and has no effect"},
		{`[]`, "expected an object", ""},
		{`7`, "expected an object", ""},
		{`"PreToolUse"`, "expected an object", ""},
		{`{"PreToolUse":{}}`, "expected a list", ""},
		{`{"PreToolUse":null}`, "expected a list", ""},
		{`{"PreToolUse":"cb"}`, "expected a list", ""},
		{`{"PreToolUse":[7]}`, "expected an object", ""},
		{`{"PreToolUse":[null]}`, "expected an object", ""},
		{`{"PreToolUse":[["cb"]]}`, "expected an object", ""},
		{`{"PreToolUse":[{}]}`, "hookCallbackIds: expected a list of texts", ""},
		{`{"PreToolUse":[{"hookCallbackIds":null}]}`, "expected a list of texts", ""},
		{`{"PreToolUse":[{"hookCallbackIds":"a"}]}`, "expected a list of texts", ""},
		{`{"PreToolUse":[{"hookCallbackIds":[3]}]}`, "expected a list of texts", ""},
		{`{"PreToolUse":[{"hookCallbackIds":[null]}]}`, "expected a list of texts", ""},
		{`{"PreToolUse":[{"hookCallbackIds":[""]}]}`, "expected a list of texts", ""},
		{`{"PreToolUse":[{"hookCallbackIds":["a"],"matcher":7}]}`, "matcher: expected", ""},
		{`{"PreToolUse":[{"hookCallbackIds":["a"],"matcher":["Bash"]}]}`, "matcher: expected", ""},
		{`{"PreToolUse":[{"hookCallbackIds":["a"],"matcher":"(("}]}`, "the hooks never run", ""},
		{`{"PreToolUse":[{"hookCallbackIds":["a"],"timeout":"5"}]}`, "timeout: expected a number", ""},
		{`{"PreToolUse":[{"hookCallbackIds":["a"],"timeout":-1}]}`, "timeout: expected a number", ""},
		{`{"PreToolUse":[{"HookCallbackIds":["a"]}]}`, "HookCallbackIds is written otherwise", ""},
		{`{"PreToolUse":[{"hookCallbackIds":["a"],"Matcher":"Bash"}]}`, "Matcher is written otherwise", ""},
	}
	for _, tt := range tests {
		r, _ := start(t, Config{})
		if _, err := r.SetHost(json.RawMessage(`{"Stop":[{"hookCallbackIds":["before"]}]}`), nil); err != nil {
			t.Fatal(err)
		}
		notes, err := r.SetHost(json.RawMessage(tt.hooks), nil)
		said := ""
		for _, n := range notes {
			said += n.Error()
		}
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) || !strings.Contains(said, tt.notes) || tt.notes == "" && said != "" {
			t.Errorf("%s: %v, %q", tt.hooks, err, said)
		}
		if kept := r.Has(Stop); kept != (err != nil) {
			t.Errorf("%s: the hooks from before are there: %t", tt.hooks, kept)
		}
	}
}

func TestSlowFunctionIsEnded(t *testing.T) {
	r, _ := start(t, Config{})
	r.SetHost(json.RawMessage(`{"PreToolUse":[{"hookCallbackIds":["a"],"timeout":0.05}]}`),
		func(ctx context.Context, _ string, _ json.RawMessage, _ string) (json.RawMessage, error) {
			<-ctx.Done()
			return json.RawMessage(allowing), nil
		})
	if out := r.Fire(t.Context(), OnPreToolUse(shell(t, "ls"))); out.Decision != tool.Ask || !strings.Contains(out.Reason, "time limit") {
		t.Errorf("%d: %s", out.Decision, out.Reason)
	}
}
