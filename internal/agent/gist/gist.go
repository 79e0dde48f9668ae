// Package gist says in a line what an agent is doing, as the small model puts it. When it is asked, and where the line is
// shown, is left to others; an agent that it has no line for has none.
package gist

import (
	"context"
	_ "embed"
	"log/slog"
	"strings"
	"sync"
	"time"

	"adze/internal/agent/aside"
	"adze/internal/msg"
	"adze/internal/platform/texts"
	"adze/internal/tool"
)

const (
	// maxSteps and maxStep are how many steps the model reads, and how much of each, in characters.
	maxSteps, maxStep = 12, 200
	maxGist           = 80
	maxTokens         = 1024
	maxTime           = 15 * time.Second
)

// A Teller tells what the agents of one session are doing. It is safe for concurrent use. Log may be nil.
type Teller struct {
	Small    *aside.Small
	Language func() texts.Language
	Log      *slog.Logger

	mu     sync.Mutex
	failed aside.Failures
}

// Tell returns what an agent is doing, given its task and its last steps, or nothing.
func (t *Teller) Tell(ctx context.Context, task string, steps []string) string {
	t.mu.Lock()
	tired := t.failed.TooMany()
	t.mu.Unlock()
	if tired || len(steps) == 0 || !t.Small.Own() {
		return ""
	}
	text, err := t.ask(ctx, task, steps)
	if ctx.Err() != nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed.Count(err)
	if err != nil && t.Log != nil {
		t.Log.Warn("what an agent is doing was not told", "err", err)
	}
	return text
}

func (t *Teller) ask(ctx context.Context, task string, steps []string) (string, error) {
	said := []string{"Task: " + tool.OneLine(task, maxStep)}
	for _, s := range steps[max(0, len(steps)-maxSteps):] {
		said = append(said, "- "+tool.OneLine(s, maxStep))
	}
	answer, err := t.Small.Ask(ctx, aside.Question{
		Purpose:  "progress of agents",
		System:   []msg.Part{&msg.Text{Text: catalogue.Text(t.Language(), "gist")}},
		Messages: []msg.Message{msg.UserText(aside.NewSeal().Quote("agent", strings.Join(said, "\n")))}, MaxTokens: maxTokens, Timeout: maxTime,
	})
	if err != nil {
		return "", err
	}
	text, err := answer.Words()
	if err != nil {
		return "", err
	}
	return tool.OneLine(strings.Trim(text, "\"'`*#“”「」《》.。 "), maxGist), nil
}

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)
