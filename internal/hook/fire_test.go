//go:build unix

package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/platform/scope"
	"adze/internal/tool"
)

// said as PreToolUse hooks say it.
func decides(decision, more string) string {
	return fmt.Sprintf(`echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":%q,%s"additionalContext":%q}}'`, decision, more, "from "+decision)
}

// Proves HOOK-15.
func TestOrderOfConfigurationDecides(t *testing.T) {
	// The first in the file is the last to end.
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
	plugin := func(root string) Source {
		return Source{Name: "plugin " + root, Plugin: &Plugin{Root: root}, JSON: on(UserPromptSubmit, command("echo ${ADZE_PLUGIN_ROOT}"))}
	}
	r, _ := start(t, Config{Sources: []Source{
		{Name: "user", Scope: scope.User, JSON: on(UserPromptSubmit, command("echo a", `"timeout":1`), command("echo b"))},
		{Name: "project", Scope: scope.Project, JSON: on(UserPromptSubmit, command("echo a", `"timeout":7`), command("echo b", `"shell":"sh"`))},
		plugin("/p"), plugin("/q"),
	}})
	var got []string
	for _, h := range r.matching(OnUserPromptSubmit("hi"), "/") {
		got = append(got, fmt.Sprint(h.source.Name, " ", h.label(), " ", h.timeout))
	}
	want := []string{"user echo b 0s", "project echo a 7s", "project echo b 0s", "plugin /p echo ${ADZE_PLUGIN_ROOT} 0s", "plugin /q echo ${ADZE_PLUGIN_ROOT} 0s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	context := contextOf(t, r)
	if strings.Count(context, "hook `echo a`:") != 1 || !strings.Contains(context, "/p") || !strings.Contains(context, "/q") {
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
		defer r.Function(Agent{}, Stop, "", nil)()
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
		{"all", Policy{}, "policy echo same, user echo own, the host x, adze built in"},
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
	cfg.Policy = Policy{}
	r, _ := start(t, cfg)
	r.SetDisabled(true)
	if n := len(r.matching(OnStop(false, ""), "/")); n != 1 {
		t.Errorf("disabled for the session: %d hooks", n)
	}
}

// Proves HOOK-27.
func TestSettingsAreASnapshot(t *testing.T) {
	data := on(Stop, command("echo a"))
	r, _ := start(t, Config{}, data)
	copy(data, on(Stop, command("echo b"))) // an editor at work
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
					`{"SessionStart":[{"hooks":[` + mark("start") + `]}],"Setup":[{"hooks":[` + mark("setup") + `]}]}`)},
			},
			Approved: func(src Source, event, matcher string, handler json.RawMessage) bool {
				if src.Name != "project" || matcher != "" {
					t.Errorf("asked about %s %q", src.Name, matcher)
				}
				return strings.Contains(string(handler), approve)
			},
		})
		r.Fire(t.Context(), OnSessionStart("startup", "", ""))
		r.Fire(t.Context(), OnSetup("init"))
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
	if got := run(true, "touch"); got != "setup start user" {
		t.Errorf("trusted: %s", got)
	}
	if got := run(true, "setup"); got != "setup user" {
		t.Errorf("one approved: %s", got)
	}
}

// Proves HOOK-31.
func TestScopedHooks(t *testing.T) {
	dir := t.TempDir()
	r, _ := start(t, Config{Dir: dir})
	a, b := Agent{ID: "a", Type: "x"}, Agent{ID: "b", Type: "x"}
	remove, problems := r.Register(a, Source{Name: "agent x", JSON: json.RawMessage(
		`{"Stop":[{"hooks":[{"type":"command","command":["touch","stop of a"]}]}],"PreToolUse":[{"hooks":[` + command("touch used") + `]}]}`)})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	r.Fire(t.Context(), OnStop(false, ""))
	r.Fire(t.Context(), OnSubagentStop(b, false, "", ""))
	r.Fire(t.Context(), OnPreToolUse(shell(t, "ls")).From(b))
	r.Fire(t.Context(), OnPreToolUse(shell(t, "ls")))
	if exists("stop of a") || exists("used") {
		t.Error("a hook of agent a fired elsewhere")
	}
	func() {
		defer func() { recover() }() // ok: the panic is the test's own
		defer remove()
		r.Fire(t.Context(), OnSubagentStop(a, false, "", ""))
		r.Fire(t.Context(), OnPreToolUse(shell(t, "ls")).From(a))
		panic("the agent breaks")
	}()
	if !exists("stop of a") || !exists("used") {
		t.Error("a hook of agent a did not fire")
	}
	remove()
	if n := len(r.List()); n != 0 {
		t.Errorf("%d hooks remain", n)
	}
}

// Proves HOOK-31.
func TestOnce(t *testing.T) {
	dir := t.TempDir()
	r, _ := start(t, Config{Dir: dir}, on(Setup, command("echo x >>log; [ $(wc -l <log) -ge 2 ]", `"once":true`)))
	for range 4 {
		r.Fire(t.Context(), OnSetup("init"))
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil || string(log) != "x\nx\n" { // the first run fails
		t.Errorf("log %q, %v", log, err)
	}
}

// Proves HOOK-05.
func TestTypes(t *testing.T) {
	use := shell(t, "deploy")
	fire := func(r *Runner) string { return summary(r.Fire(t.Context(), OnPreToolUse(use))) }
	var asked []Query
	answer := func(text string) func(context.Context, Query) (string, error) {
		return func(_ context.Context, q Query) (string, error) { asked = append(asked, q); return text, nil }
	}
	prompt := on(PreToolUse, `{"type":"prompt","prompt":"Is $ARGUMENTS fine?","model":"small"}`)
	agent := on(PreToolUse, `{"type":"agent","prompt":"Check it."}`)
	tests := []struct {
		name     string
		settings json.RawMessage
		cfg      Config
		want     string
	}{
		{"command", on(PreToolUse, command("exit 2")), Config{}, "denied"},
		{"prompt says yes", prompt, Config{Prompt: answer(`{"ok":true}`)}, ""},
		{"prompt says no", prompt, Config{Prompt: answer("```json\n{\"ok\":false,\"reason\":\"risky\"}\n```")}, "denied"},
		{"prompt as context", prompt, Config{Prompt: answer(`{"ok":true,"additionalContext":"mind the gap"}`)}, "told"},
		{"prompt babbles", prompt, Config{Prompt: answer("sure")}, "said asked"},
		{"prompt forgets", prompt, Config{Prompt: answer(`{}`)}, "said asked"},
		{"prompt missing", prompt, Config{}, "said asked"},
		{"agent says no", agent, Config{Agent: answer(`{"ok":false}`)}, "denied"},
		{"agent missing", agent, Config{}, "said asked"},
		{"agent fails", agent, Config{Agent: func(context.Context, Query) (string, error) { return "", errors.New("overloaded") }}, "said asked"},
	}
	for _, tt := range tests {
		r, _ := start(t, tt.cfg, tt.settings)
		if got := fire(r); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if q := asked[0]; q.Model != "small" || !strings.Contains(q.Prompt, `Is {"session_id"`) || !strings.Contains(q.Prompt, `"deploy"`) {
		t.Errorf("the model was asked %+v", q)
	}
	if q := asked[len(asked)-1]; q.MaxIterations != 50 || !strings.HasPrefix(q.Prompt, "Check it.\n\n{") {
		t.Errorf("the agent was asked %+v", q)
	}
}

// Proves HOOK-05.
func TestFunctionsAndCallbacks(t *testing.T) {
	use := shell(t, "deploy")
	tests := []struct {
		name string
		f    Func
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
		remove := r.Function(Agent{}, PreToolUse, "Bash", tt.f)
		if got := summary(r.Fire(t.Context(), OnPreToolUse(use))); got != tt.want {
			t.Errorf("function %s: %q, want %q", tt.name, got, tt.want)
		}
		remove()
		if out := r.Fire(t.Context(), OnPreToolUse(use)); !reflect.DeepEqual(out, Outcome{}) {
			t.Errorf("function %s fired after it was removed", tt.name)
		}
		var called []string
		problems := r.SetHost(json.RawMessage(`{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["hook_0"],"timeout":5},{"matcher":"Edit","hookCallbackIds":["hook_1"]}]}`),
			func(ctx context.Context, id string, input json.RawMessage, useID string) (json.RawMessage, error) {
				called = append(called, id+" "+useID)
				return tt.f(ctx, input)
			})
		if got := summary(r.Fire(t.Context(), OnPreToolUse(use))); got != tt.want || len(problems) > 0 {
			t.Errorf("callback %s: %q, want %q; %v", tt.name, got, tt.want, problems)
		}
		if diff := cmp.Diff([]string{"hook_0 toolu_1"}, called); diff != "" {
			t.Errorf("called (-want +got):\n%s", diff)
		}
	}
	r, _ := start(t, Config{})
	problems := r.SetHost(json.RawMessage(`{"PreToolUse":[{"hookCallbackIds":[3]},7],"Nope":[]}`), nil)
	if len(problems) != 3 {
		t.Errorf("problems %v", problems)
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
