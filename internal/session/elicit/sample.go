package elicit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/internal/agent/sidequery"
	"adze/internal/mcp"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
)

const (
	// maxTokens limits the model's answer to a server in tokens, and maxText its input in
	// bytes.
	maxTokens = 8192
	maxText   = 100_000
)

// sample lets a server query the conversation's model if the user agrees.
func (a *Asker) sample(ctx context.Context, s mcp.SampleRequest) (mcp.SampleResult, error) {
	if a.cfg.Model == nil {
		return mcp.SampleResult{}, errors.New("no model to ask")
	}
	if err := a.count(s.Server); err != nil {
		return mcp.SampleResult{}, err
	}
	q, err := samplingOf(s)
	if err != nil {
		return mcp.SampleResult{}, err
	}
	r, err := a.cfg.Ask(ctx, session.Sampling{From: s.Server, Text: promptText(s), MaxTokens: q.MaxTokens})
	if err != nil {
		return mcp.SampleResult{}, err
	}
	if r.(session.Filled).Action != session.Accept {
		return mcp.SampleResult{}, errors.New("the user declined the request to the model")
	}
	q.Purpose, q.Model, q.Interactive = "questions of servers", a.cfg.ModelID(), true
	got, err := a.cfg.Model(ctx, q)
	if err != nil {
		return mcp.SampleResult{}, err
	}
	out := mcp.SampleResult{Text: got.Text(), Model: q.Model, StopReason: "endTurn"}
	if got.Stop == model.StopMaxTokens {
		out.StopReason = "maxTokens"
	}
	return out, nil
}

// samplingOf returns the request to the model: text only, within limits.
func samplingOf(s mcp.SampleRequest) (sidequery.Question, error) {
	q := sidequery.Question{MaxTokens: min(s.MaxTokens, maxTokens)}
	size := len(s.System)
	var conv msg.Conversation
	for _, m := range s.Messages {
		if m.Content.Kind != mcp.TextContent || m.Content.Flaw != "" {
			return q, errors.New("only texts can be sent to the model")
		}
		role := msg.User
		if m.Role == "assistant" {
			role = msg.Assistant
		}
		size += len(m.Content.Text)
		conv.Add(msg.Message{Role: role, Parts: []msg.Part{&msg.Text{Text: m.Content.Text}}})
	}
	q.Messages, _ = conv.Messages()
	switch {
	case size > maxText:
		return q, fmt.Errorf("the texts for the model have more than %d bytes", maxText)
	case q.MaxTokens < 1:
		return q, errors.New("maxTokens is not positive")
	case len(q.Messages) == 0 || q.Messages[len(q.Messages)-1].Role != msg.User:
		return q, errors.New("the last message must be the user's")
	}
	if s.System != "" {
		q.System = []msg.Part{&msg.Text{Text: s.System}}
	}
	return q, nil
}

// promptText returns the complete input to the model, for the user to review.
func promptText(s mcp.SampleRequest) string {
	var b strings.Builder
	if s.System != "" {
		fmt.Fprintf(&b, "system: %s\n", s.System)
	}
	for _, m := range s.Messages {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Content.Text)
	}
	return b.String()
}
