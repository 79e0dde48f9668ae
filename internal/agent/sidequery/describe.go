package sidequery

import (
	"context"
	_ "embed"
	"log/slog"
	"strings"
	"sync"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

const (
	// maxFacts and maxFact limit the number of facts in a description and the length of each,
	// in characters.
	maxFacts, maxFact = 12, 200
	maxDescription    = 80
	describeTokens    = 1024
	describeTime      = 15 * time.Second
)

// A Describer uses the small model to describe session activity in one line. It returns "" when
// it has no description. Each kind of description is given up separately when it keeps failing.
// It is safe for concurrent use. Log may be nil.
type Describer struct {
	Small    *SmallModel
	Language func() texts.Language
	Log      *slog.Logger

	mu     sync.Mutex
	failed map[string]Failures // keyed by text name
}

// Calls describes a batch of calls, or returns "". It can be used as [agent.Options.Label].
func (d *Describer) Calls(ctx context.Context, uses []*msg.ToolUse) string {
	var facts []string
	for _, u := range uses[:min(len(uses), maxFacts)] {
		facts = append(facts, u.Name+" "+tool.OneLine(string(u.Input), maxFact))
	}
	if len(facts) == 0 {
		return ""
	}
	return d.describe(ctx, "calls", "labels of calls", facts)
}

// Agent describes an agent's current activity, given its task and last steps, or returns "".
func (d *Describer) Agent(ctx context.Context, task string, steps []string) string {
	if len(steps) == 0 {
		return ""
	}
	facts := []string{"Task: " + tool.OneLine(task, maxFact)}
	for _, s := range steps[max(0, len(steps)-maxFacts):] {
		facts = append(facts, "- "+tool.OneLine(s, maxFact))
	}
	return d.describe(ctx, "agent", "progress of agents", facts)
}

// describe asks with the named text, unless that text has failed too often.
func (d *Describer) describe(ctx context.Context, name, purpose string, facts []string) string {
	if d.tired(name) || !d.Small.Own() {
		return ""
	}
	line, err := d.ask(ctx, name, purpose, facts)
	if ctx.Err() != nil {
		return ""
	}
	d.count(name, err)
	if err != nil && d.Log != nil {
		d.Log.Warn("nothing was described", "purpose", purpose, "err", err)
	}
	return line
}

func (d *Describer) tired(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed[name].TooMany()
}

func (d *Describer) count(name string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed == nil {
		d.failed = map[string]Failures{}
	}
	failed := d.failed[name]
	failed.Count(err)
	d.failed[name] = failed
}

func (d *Describer) ask(ctx context.Context, name, purpose string, facts []string) (string, error) {
	answer, err := d.Small.Ask(ctx, Question{
		Purpose:   purpose,
		System:    []msg.Part{&msg.Text{Text: catalogue.Text(d.Language(), name)}},
		Messages:  []msg.Message{msg.UserText(NewNonce().Quote(name, strings.Join(facts, "\n")))},
		MaxTokens: describeTokens, Timeout: describeTime,
	})
	if err != nil {
		return "", err
	}
	text, err := answer.Words()
	if err != nil {
		return "", err
	}
	return tool.OneLine(strings.Trim(text, "\"'`*#“”「」《》.。 "), maxDescription), nil
}

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)
