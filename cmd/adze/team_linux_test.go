package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"adze/internal/domain/tasklist"
	"adze/internal/domain/team"
)

// startTeam begins the model scripts of a team with one teammate.
const startTeam = `
when last "begin"
use ExecuteExtraTool {"tool_name":"TeamCreate","params":{"team_name":"crew"}}
---
when last "Created the team"
use TaskCreate {"subject":"count","description":"the files"}
---
when last "Task 1 was added"
use Agent {"description":"a helper","prompt":"write it","name":"Ann","team_name":"crew"}
---
when last "The teammate ann"
say Ann is started.
---
`

// openPane begins a conversation that leads a team, with a teammate in a separate pane.
func openPane(t *testing.T, script string) *terminal {
	t.Helper()
	return openPaneWith(t, `{"teammateMode":"tmux","sandbox":{"enabled":false}}`, "", script)
}

// openPaneWith is like openPane with settings and further flags.
func openPaneWith(t *testing.T, settings, flags, script string) *terminal {
	t.Helper()
	tm := newTerminal(t, 160, 60, startTeam+script)
	if err := os.WriteFile(filepath.Join(tm.dir, ".env"), []byte("SECRET-VALUE\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tm.enter(`clear; adze --model replay:model.txt --settings '` + settings + `' ` + flags)
	tm.waitFor(`^❯ $`)
	tm.enter("begin with a team of agents")
	tm.waitFor(`Ann is started\.`)
	return tm
}

// member returns the stored state of a team member.
func (tm *terminal) member(name string) *team.Member {
	tm.t.Helper()
	data, err := os.ReadFile(filepath.Join(tm.home, "teams", "crew", "config.json"))
	if err != nil {
		tm.t.Fatal(err)
	}
	var crew team.Team
	if err := json.Unmarshal(data, &crew); err != nil {
		tm.t.Fatal(err)
	}
	return crew.Member(name)
}

// task returns the team's first task.
func (tm *terminal) task() (task tasklist.Task) {
	tm.t.Helper()
	data, err := os.ReadFile(filepath.Join(tm.home, "tasks", "crew", "1.json"))
	if err == nil {
		err = json.Unmarshal(data, &task)
	}
	if err != nil {
		tm.t.Fatal(err)
	}
	return task
}

// panes returns the number of panes in the terminal.
func (tm *terminal) panes() int {
	tm.t.Helper()
	return strings.Count(tm.tmux("list-panes", "-a"), "\n")
}

// TestTeammateInPane checks that a teammate in a tmux pane prompts its lead's user, whose
// answer applies to the teammate alone, that it can message the lead and claim a task, and that
// the lead is notified of the released task when the teammate's process is killed.
//
// Proves TEAM-02, TEAM-06, TEAM-09.
func TestTeammateInPane(t *testing.T) {
	t.Parallel()
	tm := openPane(t, `
when last "write it"
expect system "You are ann, a member of the team crew"
use Write {"file_path":"made.txt","content":"made\n"}
---
when last "made.txt"
use Write {"file_path":"second.txt","content":"made\n"}
---
when last "second.txt"
use Write {"file_path":"third.txt","content":"made\n"}
---
when last "third.txt"
use SendMessage {"to":"team-lead","message":"the file is there"}
---
when last "Sent to team-lead"
say Written.
---
when last "the file is there"
say Ann has written it.
---
when last "You have taken task 1"
say Counting.
hang
---
when last "1 (count)"
expect last "its process has ended"
say Ann is lost.
---
when last "write yourself"
use Write {"file_path":"own.txt","content":"made\n"}
`)
	tm.waitFor(`── teammate \(ann\) asks ─`)
	tm.waitFor(`\+ *made`)
	if _, err := os.Stat(filepath.Join(tm.dir, "made.txt")); err == nil {
		t.Error("the file was written before it was allowed")
	}
	tm.answer(`made\.txt`, "1")
	tm.answer(`second\.txt`, "2")
	screen := tm.waitFor(`Ann has written it\.`)
	if strings.Contains(screen, "Change third.txt?") {
		t.Errorf("the teammate asks although edits are always allowed:\n%s", screen)
	}
	for _, name := range []string{"made.txt", "second.txt", "third.txt"} {
		if data, err := os.ReadFile(filepath.Join(tm.dir, name)); string(data) != "made\n" {
			t.Errorf("%s holds %q, %v", name, data, err)
		}
	}
	until(t, "the teammate takes no task", func() bool { return tm.task().Owner == "ann" })
	ann := tm.member("ann")
	if ann.Backend != team.Tmux || tm.panes() != 2 {
		t.Errorf("there are %d panes, and the teammate is %+v", tm.panes(), ann)
	}
	if err := syscall.Kill(ann.Process.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	tm.waitFor(`Ann is lost\.`)
	if task := tm.task(); task.Owner != "" || task.Status != tasklist.Pending {
		t.Errorf("the task is not free: %+v", task)
	}
	tm.enter("write yourself")
	tm.answer(`own\.txt`, "3") // the teammate's permission does not apply to the lead
	tm.waitFor(`What next\?`)
	tm.enter("/exit")
	until(t, "the team outlives its lead", func() bool {
		_, err := os.Stat(filepath.Join(tm.home, "teams", "crew"))
		return err != nil
	})
}

// TestTeammateLimits checks that everything that restricts the lead restricts a teammate in
// another process: rules, hooks and settings from flags, and the mode, including later changes
// by the lead.
//
// Proves AGENT-15, TEAM-02.
func TestTeammateLimits(t *testing.T) {
	t.Parallel()
	settings := `{"teammateMode":"tmux","sandbox":{"enabled":false},"permissions":{"allow":["Bash"],"deny":["Bash(touch:*)","Read(./.env)"]},` +
		`"hooks":{"PreToolUse":[{"matcher":"Glob","hooks":[{"type":"command","command":"echo no globbing >&2; exit 2"}]}]}}`
	tm := openPaneWith(t, settings, `--managed-settings '{"permissions":{"deny":["Bash(mkdir:*)"]}}' --disallowed-tools WebFetch --permission-mode acceptEdits`, `
when last "write it"
expect no-tool WebFetch
use id=a1 Bash {"command":"touch made.txt"}
use id=a2 Bash {"command":"mkdir made"}
use id=a3 Read {"file_path":".env"}
use id=a4 Glob {"pattern":"*"}
use id=a5 Bash {"command":"echo x >written.txt"}
---
when last "no globbing"
expect error-result a1 "touch"
expect error-result a2 "mkdir"
expect error-result a3 "denies"
expect error-result a4 "no globbing"
expect no-text "SECRET-VALUE"
use SendMessage {"to":"team-lead","message":"I was kept from all of it"}
---
when last "Sent to team-lead"
say Reported.
---
when last "I was kept from all of it"
say Ann was kept.
---
when last "You have taken task 1"
say Counting.
---
when last "ask ann"
use SendMessage {"to":"ann","message":"once more"}
---
when last "Sent to ann"
say Asked.
---
when last "once more"
use id=b1 Write {"file_path":"planned.txt","content":"x"}
use id=b2 Bash {"command":"echo x >planned.txt"}
---
when last "plan mode is on"
expect error-result b1 "plan mode is on"
expect error-result b2 "plan mode is on"
use SendMessage {"to":"team-lead","message":"we are planning"}
---
when last "we are planning"
say Ann plans too.
---
forever
say Fine.
`)
	tm.waitFor(`Ann was kept\.`)
	until(t, "a lead's allow rule is lost", func() bool {
		_, err := os.Stat(filepath.Join(tm.dir, "written.txt"))
		return err == nil
	})
	tm.enter("/mode plan")
	tm.waitFor(`^  ● plan `)
	until(t, "the teammate does not follow the lead's mode", func() bool {
		var l struct{ Mode string }
		return json.Unmarshal(tm.member("ann").Limits, &l) == nil && l.Mode == "plan"
	})
	tm.enter("ask ann")
	tm.waitFor(`Ann plans too\.`)
	for _, name := range []string{"made.txt", "made", "planned.txt"} {
		if _, err := os.Stat(filepath.Join(tm.dir, name)); err == nil {
			t.Errorf("the teammate made %s", name)
		}
	}
}

// TestKilledLead checks that the teammates of a killed lead end, and that the next start
// removes the team and reports it.
//
// Proves TEAM-06, TEAM-10.
func TestKilledLead(t *testing.T) {
	t.Parallel()
	tm := openPane(t, `
when last "write it"
say Ready.
---
when last "You have taken task 1"
say Counting.
hang
`)
	until(t, "the teammate takes no task", func() bool { return tm.task().Owner == "ann" })
	tm.kill()
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`The team crew is removed`)
	tm.waitFor(`^❯ $`)
	if task := tm.task(); task.Owner != "" || task.Status != tasklist.Pending {
		t.Errorf("the task is not free: %+v", task)
	}
	until(t, "the teammate outlives its lead", func() bool { return tm.panes() == 1 })
	tm.enter("/exit")
}

// TestTeammateWithoutLimits checks that a teammate in another process does not start without
// the limits saved by its lead.
//
// Proves AGENT-15, TEAM-02.
func TestTeammateWithoutLimits(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 120, 40, "say Started.")
	tm.enter("clear; adze --team-name crew --agent-name ann --model replay:model.txt; echo code=$?")
	tm.waitFor(`--team-name: .*crew`)
	tm.waitFor(`^code=2`)

	dir := filepath.Join(tm.home, "teams", "crew")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const config = `{"version":1,"name":"crew","created":"2026-11-18T10:00:00Z","session":"11111111-2222-4333-8444-555555555555","members":[` +
		`{"name":"team-lead","id":"team-lead@crew","joined":"2026-11-18T10:00:00Z"},{"name":"ann","id":"ann@crew","mode":"bypassPermissions","dir":"/","joined":"2026-11-18T10:00:00Z","limits":{"Mode":"bypassPermissions"}}]}`
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	tm.enter("clear; adze --team-name crew --agent-name ann --model replay:model.txt; echo code=$?")
	tm.waitFor(`the lead of the team crew has not started a teammate ann`)
	tm.waitFor(`^code=2`)
}
