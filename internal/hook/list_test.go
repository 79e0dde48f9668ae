//go:build unix

package hook

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"adze/internal/platform/fs/scope"
)

// Proves HOOK-33.
func TestObserver(t *testing.T) {
	rec := &recorder{}
	r, _ := start(t, Config{Observer: rec}, on(PreToolUse, command("echo seen; echo why >&2; exit 2", `"statusMessage":"Checking"`)))
	r.Fire(t.Context(), OnPreToolUse(shell(t, "ls")))
	r2, _ := start(t, Config{Observer: rec}, on(PreToolUse, command("echo '{\"suppressOutput\":true}'")))
	r2.Fire(t.Context(), OnPreToolUse(shell(t, "ls")))
	var got strings.Builder
	for i, run := range rec.started {
		if run.ID == "" || rec.done[i].Duration <= 0 {
			t.Errorf("no id or duration: %+v %+v", run, rec.done[i])
		}
		d := rec.done[i]
		fmt.Fprintf(&got, "%s %s %q: %s, code %d, stdout %q, stderr %q, reason %q\n", run.Name, run.Event, run.Status, d.Outcome, *d.ExitCode, d.Stdout, d.Stderr, d.Reason)
	}
	golden(t, "observer.golden", got.String())
}

func TestList(t *testing.T) {
	r, problems := New(Config{Dir: t.TempDir(), Sources: []Source{
		{Name: "user settings", Scope: scope.User, File: "/home/u/.adze/settings.json", JSON: json.RawMessage(
			`{"Stop":[{"hooks":[` + command("exit 1") + `,` + command("true", `"once":true`) + `]}],"PreToolUse":[{"matcher":"(","hooks":[` + command("a") + `]}]}`)},
		{Name: "project settings", Scope: scope.Project, Workspace: true, File: ".adze/settings.json", JSON: json.RawMessage(
			`{"PreToolUse":[{"matcher":"Bash","hooks":[` + command("guard", `"if":"Bash(git push*)"`) + `]}]}`)},
		{Name: "managed settings", Scope: scope.Managed, File: "/etc/adze/managed-settings.json", JSON: on(PreToolUse, `{"type":"http","url":"https://hooks.corp.test"}`)},
	}})
	defer r.Close()
	if len(problems) != 1 {
		t.Errorf("problems %v", problems)
	}
	r.SetHost(json.RawMessage(`{"Stop":[{"hookCallbackIds":["hook_0"]}]}`), nil)
	r.Fire(t.Context(), OnStop(false, ""))
	var got strings.Builder
	show := func() {
		for _, l := range r.List() {
			last := "never ran"
			if l.Last != nil {
				last = l.Last.Outcome
			}
			fmt.Fprintf(&got, "%s %q if %q: %s %s (%s, %s); %s; idle %q; slow %v\n", l.Event, l.Matcher, l.If, l.Type, l.Label, l.Source, l.File, last, l.Idle, l.Slow)
		}
	}
	r.host[0].last.Duration = 3 * time.Second
	show()
	golden(t, "list.golden", got.String())
}
