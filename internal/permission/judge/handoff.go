package judge

import (
	"context"
	"encoding/json"
	"strings"

	"adze/internal/agent/sidequery"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/tool"
)

const handOffPurpose = "reports of agents"

// Limits on the part of an agent's work the model sees: the last MaxWork calls, each truncated,
// and the start and end of its task and report.
const (
	MaxWork   = 120
	workChars = 400
	taskChars = 4000
	saidChars = 6000
)

// A Handoff describes the work of an agent whose report is about to be returned to its
// launcher.
type Handoff struct {
	ID, Task, Report string
	// Tool is the tool that launched it, for the record.
	Tool string
	// Calls holds the agent's calls, oldest first; see [Work].
	Calls []string
}

// Work formats an agent's call as a line for [Handoff].
func Work(u *msg.ToolUse) string {
	input := u.Input[:min(len(u.Input), 8*workChars)]
	return u.Name + " " + tool.OneLine(strings.ToValidUTF8(string(input), ""), workChars)
}

// HandOff asks whether the report of an agent that worked without its user needs a warning. An
// error means that the question went unanswered.
func (j *Judge) HandOff(ctx context.Context, h Handoff) (permission.Judgement, error) {
	seal := sidequery.NewNonce()
	said, _ := transcriptOf(j.cfg.Said(), "")
	var b strings.Builder
	add := func(name, text string) {
		if text != "" {
			b.WriteString(seal.Quote(name, text) + "\n\n")
		}
	}
	for _, w := range j.remembered(said) {
		add("user", w)
	}
	add("task", cut(h.Task, taskChars))
	add("calls", strings.Join(h.Calls, "\n"))
	add("report", cut(h.Report, saidChars))
	var verdict permission.Judgement
	var flag *bool
	q := sidequery.Question{Purpose: handOffPurpose, Timeout: carefulTime, Format: json.RawMessage(carefulSchema)}
	if err := j.ask(ctx, seal, "handoff", strings.TrimSpace(b.String()), q, &flag, &verdict.Reason); err != nil {
		return permission.Judgement{Block: true}, err
	}
	verdict.Block, verdict.Reason = *flag, msg.Neutralise(tool.OneLine(verdict.Reason, maxReason))
	j.cfg.Decided(Verdict{h.ID, h.Tool, !verdict.Block, verdict.Reason})
	return verdict, nil
}
