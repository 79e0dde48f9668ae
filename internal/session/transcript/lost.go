package transcript

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/proc/task"
	"adze/internal/platform/term"
	"adze/internal/session/store"
)

// A LostTask is a background task or an agent that ended with an earlier process.
type LostTask struct {
	task.Notice
	// Name describes it to the user, with its worktree, if any.
	Name string
}

// lostTasks returns the background tasks that ended with an earlier process and whose end the
// model has not been notified of.
func lostTasks(earlier *store.Contents, folder string) []LostTask {
	if earlier == nil {
		return nil
	}
	var lost []LostTask
	for i := range earlier.Entries {
		e := &earlier.Entries[i]
		for _, value := range e.Structured {
			var r struct {
				ID    string `json:"backgroundTaskId"`
				File  string `json:"outputFile"`
				Agent string `json:"agentId"`
				Title string `json:"description"`
			}
			if json.Unmarshal(value, &r) != nil || r.ID == "" {
				continue
			}
			n := LostTask{task.Notice{ID: r.ID, Status: task.Killed, OutputFile: r.File, Summary: lostSummary(r.ID)}, "task " + r.ID}
			if r.Agent != "" {
				m, _, _ := readMeta(folder, r.Agent) // ok: treated as having no worktree
				n = lostAgent(r.Agent, r.Title, m.Tree)
				n.OutputFile = r.File
			}
			lost = append(lost, n)
		}
		if e.Message.Role == msg.User && len(lost) > 0 {
			text := msg.PlainText(e.Message.Parts)
			lost = slices.DeleteFunc(lost, func(n LostTask) bool { return task.Announced(text, n.ID) })
		}
	}
	return lost
}

// lostSummary describes a task that ended with an earlier process.
func lostSummary(id string) string {
	if id[0] == task.Workflow {
		return "The workflow has stopped: adze ended before its last step did. Started again with the same inputs, it continues with the step that did not finish"
	}
	return "The background command has stopped: adze ended before it could record the result"
}

// lostAgent returns the notice for an agent that ended with an earlier process. tree is its
// worktree's path, or "".
func lostAgent(id, title, tree string) LostTask {
	n := LostTask{task.Notice{
		ID: id, Status: task.Killed,
		Summary: fmt.Sprintf("The agent %q has stopped: adze ended before the agent could report", title),
		Remark:  fmt.Sprintf("Its work up to then is saved. To continue it with its context, send it a message: SendMessage to %s.", id),
	}, fmt.Sprintf("agent %q", title)}
	if info, err := os.Stat(tree); tree != "" && err == nil && info.IsDir() {
		n.Report = &task.Report{Worktree: tree}
		n.Name += fmt.Sprintf(" (its changes are in %s)", term.Sanitize(tree))
	}
	return n
}

// A meta is an agent's metadata file.
type meta struct {
	Title string `json:"description"`
	Use   string `json:"toolUseId"`
	Tree  string `json:"worktreePath"`
}

// readMeta reads an agent's metadata. written is its modification time.
func readMeta(folder, id string) (m meta, written time.Time, err error) {
	if filepath.Base(id) != id {
		return m, written, fmt.Errorf("%q is not the id of an agent", id)
	}
	file := MetaPath(folder, id)
	data, err := os.ReadFile(file)
	if err != nil {
		return m, written, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return m, written, err
	}
	return m, info.ModTime(), json.Unmarshal(data, &m)
}

// lostAgents returns the agents that the earlier process was waiting for when it ended: their
// calls have no result, or are missing because the answer was incomplete. Agents without a call
// were not requested by the model.
func lostAgents(earlier *store.Contents, folder string) []LostTask {
	kept := KeptAgents(folder)
	if earlier == nil || folder == "" || len(kept) == 0 || len(earlier.Entries) == 0 {
		return nil
	}
	open, done := map[string]bool{}, map[string]bool{}
	var told strings.Builder
	for i := range earlier.Entries {
		m := &earlier.Entries[i].Message
		for _, u := range m.Uses() {
			open[u.ID] = true
		}
		for _, p := range m.Parts {
			if r, ok := p.(*msg.ToolResult); ok {
				done[r.ID] = true
			}
		}
		if m.Role == msg.User {
			told.WriteString(msg.PlainText(m.Parts))
		}
	}
	last := earlier.Entries[len(earlier.Entries)-1].Time
	var lost []LostTask
	for _, id := range kept {
		m, written, err := readMeta(folder, id)
		if err != nil || m.Use == "" || done[m.Use] || !open[m.Use] && written.Before(last) {
			continue
		}
		if !task.Announced(told.String(), id) {
			lost = append(lost, lostAgent(id, m.Title, m.Tree))
		}
	}
	return lost
}
