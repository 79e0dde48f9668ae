package extensions

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/commands"
	"adze/internal/hook"
)

// Proves HOOK-32.
func TestHooksPage(t *testing.T) {
	if diff := cmp.Diff(commands.Say("No hooks are configured."), hooksPage(commands.Hooks{})); diff != "" {
		t.Error(diff)
	}
	got := hooksPage(commands.Hooks{
		Policy: hook.Policy{Disable: true},
		List: []hook.Listing{
			{Event: hook.PreToolUse, Matcher: "Bash", Label: "check.sh", Source: "user", Last: &hook.Report{Outcome: "success", Duration: 3 * time.Second}, Slow: true},
			{Event: hook.Stop, Label: "say done", Source: "projectSettings", Idle: "not trusted"},
			{Event: hook.Stop, Label: "log", Source: "user"},
		},
	})
	want := commands.Page{Blocks: []commands.Block{
		commands.Text("All hooks are disabled."),
		commands.Table{
			Columns: []commands.Column{{Name: "Event"}, {Name: "matches"}, {Name: "runs", Cut: true}, {Name: "from"}, {Name: "last"}},
			Rows: [][]string{
				{"PreToolUse", "Bash", "check.sh", "user", "success, 3s"},
				{"Stop", "*", "say done", "the project settings", "does not run: not trusted"},
				{"Stop", "*", "log", "user", "-"},
			},
		},
		commands.Notice("check.sh is slow and delays PreToolUse"),
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
