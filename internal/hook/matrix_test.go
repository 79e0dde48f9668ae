//go:build unix

package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent/exec"
	"adze/internal/msg"
	"adze/internal/tool"
)

// endings lists the ways in which a hook can end.
var endings = []struct{ name, script string }{
	{"0", "exit 0"},
	{"1", "echo oops >&2; exit 1"},
	{"2", "echo never >&2; exit 2"},
	{"126", "/dev/null"},
	{"127", "/no/such/hook"},
	{"signal", "kill -KILL $$"},
	{"timeout", "sleep 100"},
	{"garbage", "echo '{not JSON'"},
	{"no verdict beside an allow", `echo '` + allowing + `'; kill -KILL $$`},
}

// limits sets a time limit for the hook that should exceed it, and none for others.
func limits(ending string) []string {
	if ending == "timeout" {
		return []string{`"timeout":0.2`}
	}
	return []string{`"timeout":60`}
}

const allowing = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`

// permissive is a permission gate that allows everything no hook objects to.
type permissive struct{}

func (permissive) Before(_ context.Context, u *tool.Use) error {
	u.Verdict.Decide(tool.Allow, "the mode", "")
	return nil
}

// through runs a call through the executor with the hooks, and returns whether it ran, and the
// text for the model.
func through(t *testing.T, hooks *Runner) (ran bool, text string) {
	t.Helper()
	var log []string
	pool, _ := tool.NewRegistry(newTool[shellInput]("Bash", shellSchema, &log)).Assemble(nil, nil)
	ex := &exec.Executor{
		Gates:  []exec.Gate{{Name: "hooks", Gate: hooks}, {Name: "permission", Gate: permissive{}}},
		Afters: []exec.After{{Name: "hooks", After: hooks}},
	}
	p := ex.Bind(pool, &msg.ToolUse{ID: "toolu_1", Name: "Bash", Input: json.RawMessage(`{"command":"deploy"}`)})
	ex.Admit(t.Context(), p)
	o := ex.Run(t.Context(), p, nil)
	return len(log) > 0, msg.PlainText(append(o.Result.Parts, o.Context...))
}

// Proves HOOK-14.
func TestEndingsBeforeACall(t *testing.T) {
	tests := []struct {
		onFailure string
		ran       string // endings after which the call runs
	}{
		{"", "0 1"},
		{"continue", "0 1 126 127 signal timeout garbage|no verdict beside an allow"},
		{"block", "0"},
	}
	for _, tt := range tests {
		var more []string
		if tt.onFailure != "" {
			more = append(more, fmt.Sprintf(`"onFailure":%q`, tt.onFailure))
		}
		for _, e := range endings {
			t.Run(tt.onFailure+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				r, said := start(t, Config{}, on(PreToolUse, command(e.script, append(limits(e.name), more...)...)))
				ran, text := through(t, r)
				last, unverdicted, _ := strings.Cut(tt.ran, "|")
				want := strings.Contains(" "+last+" ", " "+e.name+" ") || e.name == unverdicted
				if ran != want {
					t.Errorf("the call ran: %v, want %v; the model reads %q", ran, want, text)
				}
				if e.name != "0" && ran && len(said.get(&said.notes)) != 1 {
					t.Errorf("a failure that the person does not see: %q", said.get(&said.notes))
				}
				if !ran && !strings.Contains(text, "Not allowed: refused by PreToolUse hook") {
					t.Errorf("the model reads %q", text)
				}
			})
		}
	}
}

// Proves HOOK-14.
func TestEndingsOfAllEvents(t *testing.T) {
	// Expected results of the endings, by reach.
	want := map[blockEffect]map[string]string{
		shown:   {"0": "", "1": "said", "2": "said", "126": "said", "127": "said", "signal": "said", "timeout": "said", "garbage": "said"},
		blocks:  {"0": "", "1": "said", "2": "blocked", "126": "said", "127": "said", "signal": "said", "timeout": "said", "garbage": "said"},
		toModel: {"0": "", "1": "said", "2": "told", "126": "said", "127": "said", "signal": "said", "timeout": "said", "garbage": "said"},
		refuses: {"0": "", "1": "said", "2": "denied", "126": "said asked", "127": "said asked", "signal": "said asked", "timeout": "said asked", "garbage": "said asked"},
	}
	for _, e := range everyEvent(t) {
		k, _ := kindOf(e.Name)
		t.Run(string(e.Name), func(t *testing.T) {
			t.Parallel()
			for _, end := range endings {
				if _, ok := want[k.reach][end.name]; !ok {
					continue
				}
				r, _ := start(t, Config{}, on(e.Name, command(end.script, limits(end.name)...)))
				got := summary(r.Fire(t.Context(), e))
				if diff := cmp.Diff(want[k.reach][end.name], got); diff != "" {
					t.Errorf("after %s (-want +got):\n%s", end.name, diff)
				}
			}
		})
	}
}

// Proves HOOK-14.
func TestJSONAtAnyExitCode(t *testing.T) {
	deny := strings.ReplaceAll(allowing, "allow", "deny")
	tests := []struct {
		name, script string
		want         tool.Decision
	}{
		{"allow", "echo '" + allowing + "'", tool.Allow},
		{"allow against code 2", "echo '" + allowing + "'; exit 2", tool.Deny},
		{"deny beside code 1", "echo '" + deny + "'; exit 1", tool.Deny},
		{"deny and killed", "echo '" + deny + "'; kill -KILL $$", tool.Deny},
		{"allow and killed", "echo '" + allowing + "'; kill -KILL $$", tool.Ask},
		{"old spelling", `echo '{"decision":"approve"}'`, tool.Allow},
		{"block", `echo '{"decision":"block","reason":"no"}'`, tool.Deny},
		{"stop", `echo '{"continue":false}'`, tool.Deny},
		{"blank lines", "echo; echo '" + deny + "'", tool.Deny},
		{"chatter before", "echo hello; echo '" + deny + "'", tool.Undecided}, // treated as text, not JSON
		{"another event", "echo '" + strings.ReplaceAll(allowing, "PreToolUse", "PostToolUse") + "'", tool.Ask},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := start(t, Config{}, on(PreToolUse, command(tt.script)))
			if out := r.Fire(t.Context(), OnPreToolUse(shell(t, "ls"))); out.Decision != tt.want {
				t.Errorf("decision %d, want %d: %s", out.Decision, tt.want, out.Reason)
			}
		})
	}
}
