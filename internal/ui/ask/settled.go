package ask

import (
	"context"
	"errors"

	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// Settled describes who settled a question in place of the user, or why it was withdrawn.
func Settled(q session.Question, s session.Settled) string {
	if s.Reply != nil {
		return "The question was answered " + answeredBy(s.Reply) + "."
	}
	if why := withdrawn(q, s.Cause); why != "" {
		return "The question was withdrawn: " + draw.Clean(why) + "."
	}
	return "The question no longer needs an answer."
}

// answeredBy describes the source of an answer.
func answeredBy(r session.Reply) string {
	d, _ := r.(session.Decision)
	switch d.By {
	case "":
		return "elsewhere"
	case permission.Headless:
		return "with no: the user cannot be asked any more"
	case "host", "lead":
		return "by the " + d.By
	}
	return "by " + tool.OneLine(draw.Clean(d.By), MaxAbout)
}

// withdrawn returns the reason a question was withdrawn, or "".
func withdrawn(q session.Question, cause error) string {
	var why tool.Withdrawal
	var abort tool.Abort
	switch {
	case errors.As(cause, &why):
		return string(why)
	case agentOf(q) != nil:
		return "the agent " + tool.OneLine(agentOf(q).String(), MaxAbout) + " has ended"
	case errors.As(cause, &abort):
		return aborted[abort]
	case errors.Is(cause, context.DeadlineExceeded):
		return aborted[tool.AbortTimeout]
	case serverOf(q) != "":
		return "the server " + tool.OneLine(serverOf(q), MaxAbout) + " no longer asks it"
	}
	return ""
}

// aborted describes why the turn that asked has ended.
var aborted = map[tool.Abort]string{
	tool.AbortUser:       "the turn was stopped",
	tool.AbortNewMessage: "another message was sent",
	tool.AbortFallback:   "another model answers",
	tool.AbortTimeout:    "there was no answer in time",
	tool.AbortShutdown:   "the session ends",
	tool.AbortBroken:     "the answer that asked it broke off",
}

// agentOf returns the agent that asked, or nil.
func agentOf(q session.Question) *permission.Agent {
	p, _ := q.(session.Permission)
	return p.Agent
}

// serverOf returns the server that asked, or "".
func serverOf(q session.Question) string {
	switch q := q.(type) {
	case session.Form:
		return q.From
	case session.Visit:
		return q.From
	case session.Sampling:
		return q.From
	}
	return ""
}
