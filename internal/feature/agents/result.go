package agents

import (
	"fmt"
	"strings"

	"adze/internal/domain/agentdef"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
	agenttool "adze/internal/tools/agent"
)

// forkType is the type name of forks.
const forkType = "fork"

// Planning returns the plan-mode reminder for agents.
func Planning(l texts.Language) string { return catalogue.Text(l, "planning") }

// kindOf returns the name of an agent's type.
func kindOf(d *agentdef.Definition) string {
	if d == nil {
		return forkType
	}
	return d.Name
}

// result converts a launch outcome to a tool result.
func (o *Outcome) result(l texts.Language) tool.Result {
	out := agenttool.Output{
		Status: agenttool.Completed, ID: o.ID, Type: o.Type, Description: o.Title, Tokens: o.Tokens, Calls: o.Calls, Took: o.Took.Milliseconds(),
		OutputFile: o.OutputFile, Worktree: o.Worktree, Branch: o.Branch,
	}
	if o.Launched {
		out.Status, out.Task = agenttool.Launched, o.ID
		r := tool.Text(catalogue.Text(l, "launched", o.ID, o.OutputFile))
		r.Structured, r.Display = out, tool.Plain{Text: "works in the background as " + o.ID}
		return r
	}
	text := o.Text
	if text == "" {
		text = catalogue.Text(l, "nothing")
	}
	out.Content = []agenttool.Text{{Type: "text", Text: text}}
	var more []string
	if o.Worktree != "" && !strings.Contains(o.Note, o.Worktree) {
		more = append(more, catalogue.Text(l, "worktree", o.Worktree, o.Branch))
	}
	more = appendText(more, o.asides(l), o.Note, o.Remark)
	if o.Continues {
		more = append(more, catalogue.Text(l, "continue", o.ID))
	}
	if !o.OneShot {
		more = append(more, usage(l, o))
	}
	if len(more) > 0 {
		text += "\n\n" + strings.Join(more, "\n")
	}
	r := tool.Text(text)
	r.Structured = out
	r.Display = tool.Plain{Text: fmt.Sprintf("%s, %s tokens", amount.Of(o.Calls, "call", "calls"), amount.Grouped(o.Tokens))} // the call shows its duration itself
	return r
}

// usage returns an agent's resource usage, in brackets.
func usage(l texts.Language, o *Outcome) string {
	calls := catalogue.Text(l, "calls", amount.Grouped(o.Calls))
	if o.Calls == 1 {
		calls = catalogue.Text(l, "call")
	}
	return catalogue.Text(l, "usage", calls, amount.Grouped(o.Tokens), amount.Seconds(o.Took))
}

// asides returns notes on missing MCP servers and on commands that ended with the agent, or "".
func (o *Outcome) asides(l texts.Language) string {
	var lines []string
	if len(o.Absent) > 0 {
		lines = append(lines, catalogue.Text(l, "without", strings.Join(o.Absent, ", ")))
	}
	if len(o.Ended) > 0 {
		lines = append(lines, catalogue.Text(l, "ended", strings.Join(o.Ended, ", ")))
	}
	return strings.Join(lines, "\n")
}

// appendText appends the non-empty texts.
func appendText(list []string, texts ...string) []string {
	for _, t := range texts {
		if t != "" {
			list = append(list, t)
		}
	}
	return list
}

// failed returns the error for an agent that did not finish, including its last message.
func (o *Outcome) failed(l texts.Language, err error) error {
	text := catalogue.Text(l, "failed", err.Error())
	if !o.Began {
		text = catalogue.Text(l, "unbegun", err.Error())
	}
	if o.Text != "" {
		text += "\n\n" + catalogue.Text(l, "lastwords") + "\n" + o.Text
	}
	if o.Worktree != "" && !strings.Contains(o.Note, o.Worktree) {
		text += "\n\n" + catalogue.Text(l, "worktree", o.Worktree, o.Branch)
	}
	for _, more := range appendText(nil, o.asides(l), o.Note) {
		text += "\n\n" + more
	}
	if o.Continues {
		text += "\n\n" + catalogue.Text(l, "continue", o.ID)
	}
	return fmt.Errorf("%s", text)
}
