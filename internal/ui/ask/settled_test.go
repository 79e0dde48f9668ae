package ask

import (
	"context"
	"fmt"
	"testing"

	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
)

// TestSettled checks the text shown for a settled question, and that external names cannot
// break out of the line.
func TestSettled(t *testing.T) {
	by := func(name string) session.Settled {
		return session.Settled{Reply: session.Decision{Answer: permission.Answer{By: name}}}
	}
	agent := session.Permission{Question: permission.Question{Agent: &permission.Agent{Type: "explore", Title: "find\nit \x1b[31m"}}}
	server := session.Form{From: "docs"}
	for _, tt := range []struct {
		q    session.Question
		s    session.Settled
		want string
	}{
		{agent, by(""), "The question was answered elsewhere."},
		{agent, by("host"), "The question was answered by the host."},
		{agent, by(permission.Headless), "The question was answered with no: the user cannot be asked any more."},
		{agent, by("PermissionRequest hook `./x`"), "The question was answered by PermissionRequest hook `./x`."},
		{server, session.Settled{Reply: session.Filled{Action: session.Decline}}, "The question was answered elsewhere."},
		{agent, session.Settled{Cause: fmt.Errorf("asking: %w", tool.Withdrawal("the hook has ended"))}, "The question was withdrawn: the hook has ended."},
		{agent, session.Settled{Cause: tool.AbortUser}, "The question was withdrawn: the agent explore (find it [31m) has ended."},
		{session.Permission{}, session.Settled{Cause: tool.AbortUser}, "The question was withdrawn: the turn was stopped."},
		{session.Permission{}, session.Settled{Cause: tool.AbortNewMessage}, "The question was withdrawn: another message was sent."},
		{session.Permission{}, session.Settled{Cause: tool.AbortShutdown}, "The question was withdrawn: the session ends."},
		{session.Choices{}, session.Settled{Cause: context.DeadlineExceeded}, "The question was withdrawn: there was no answer in time."},
		{server, session.Settled{Cause: context.Canceled}, "The question was withdrawn: the server docs no longer asks it."},
		{session.Visit{From: "docs"}, session.Settled{Cause: context.Canceled}, "The question was withdrawn: the server docs no longer asks it."},
		{session.Sampling{From: "docs"}, session.Settled{Cause: context.Canceled}, "The question was withdrawn: the server docs no longer asks it."},
		{session.Choices{}, session.Settled{Cause: context.Canceled}, "The question no longer needs an answer."},
		{session.Choices{}, session.Settled{}, "The question no longer needs an answer."},
	} {
		if got := Settled(tt.q, tt.s); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.s, got, tt.want)
		}
	}
}
