package judge

import (
	"context"
	"encoding/json"
	"strings"

	"adze/internal/agent/aside"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/tool"
)

const handOffPurpose = "reports of agents"

// How much of the work of an agent the model sees: so many calls, the last ones, each cut to so many characters, and the
// beginning and end of its task and report.
const (
	MaxWork   = 120
	workChars = 400
	taskChars = 4000
	saidChars = 6000
)

// A Handoff is what an agent did whose report is about to be handed to the one that launched it.
type Handoff struct {
	ID, Task, Report string
	// Tool is the tool that launched it, for the record.
	Tool string
	// Calls are what it did, the oldest first; see [Work].
	Calls []string
}

// Work returns a call of an agent as a line for [Handoff].
func Work(u *msg.ToolUse) string {
	input := u.Input[:min(len(u.Input), 8*workChars)]
	return u.Name + " " + tool.OneLine(strings.ToValidUTF8(string(input), ""), workChars)
}

// HandOff asks whether a warning has to come with the report of an agent that worked without its user. An error means that
// it was not found out.
func (j *Judge) HandOff(ctx context.Context, h Handoff) (permission.Judgement, error) {
	seal := aside.NewSeal()
	said, _ := told(j.cfg.Said(), "")
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
	q := aside.Question{Purpose: handOffPurpose, Timeout: carefulTime, Format: json.RawMessage(carefulSchema)}
	if err := j.ask(ctx, seal, "handoff", strings.TrimSpace(b.String()), q, &flag, &verdict.Reason); err != nil {
		return permission.Judgement{Block: true}, err
	}
	verdict.Block, verdict.Reason = *flag, msg.Neutralise(tool.OneLine(verdict.Reason, maxReason))
	j.cfg.Decided(Verdict{h.ID, h.Tool, !verdict.Block, verdict.Reason})
	return verdict, nil
}
