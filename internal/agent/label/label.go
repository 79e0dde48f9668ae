// Package label says in a line what a batch of calls did, as the small model puts it. When it is asked, and where the
// line is shown, is left to others; a batch that it has no line for has none.
package label

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
	// maxCalls and maxInput are how many calls the model reads, and how much of each, in characters.
	maxCalls, maxInput = 12, 200
	maxLabel           = 80
	maxTokens          = 1024
	maxTime            = 15 * time.Second
)

// A Labeller labels the calls of one session. It is safe for concurrent use. Log may be nil.
type Labeller struct {
	Small    *aside.Small
	Language func() texts.Language
	Log      *slog.Logger

	mu     sync.Mutex
	failed aside.Failures
}

// Label returns what calls did in a line, or nothing. It has the form of [agent.Options.Label].
func (l *Labeller) Label(ctx context.Context, uses []*msg.ToolUse) string {
	l.mu.Lock()
	tired := l.failed.TooMany()
	l.mu.Unlock()
	if tired || len(uses) == 0 || !l.Small.Own() {
		return ""
	}
	text, err := l.ask(ctx, uses)
	if ctx.Err() != nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed.Count(err)
	if err != nil && l.Log != nil {
		l.Log.Warn("calls were not labelled", "err", err)
	}
	return text
}

func (l *Labeller) ask(ctx context.Context, uses []*msg.ToolUse) (string, error) {
	var calls []string
	for _, u := range uses[:min(len(uses), maxCalls)] {
		calls = append(calls, u.Name+" "+tool.OneLine(string(u.Input), maxInput))
	}
	answer, err := l.Small.Ask(ctx, aside.Question{
		Purpose:  "labels of calls",
		System:   []msg.Part{&msg.Text{Text: catalogue.Text(l.Language(), "label")}},
		Messages: []msg.Message{msg.UserText(aside.NewSeal().Quote("calls", strings.Join(calls, "\n")))}, MaxTokens: maxTokens, Timeout: maxTime,
	})
	if err != nil {
		return "", err
	}
	text, err := answer.Words()
	if err != nil {
		return "", err
	}
	return tool.OneLine(strings.Trim(text, "\"'`*#“”「」《》.。 "), maxLabel), nil
}

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)
