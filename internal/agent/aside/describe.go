package aside

import (
	"context"
	_ "embed"
	"log/slog"
	"strings"
	"sync"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/texts"
	"adze/internal/tool"
)

const (
	// maxFacts and maxFact are how many facts a description is made of, and how much of each, in characters.
	maxFacts, maxFact = 12, 200
	maxDescription    = 80
	describeTokens    = 1024
	describeTime      = 15 * time.Second
)

// A Describer describes in a line what happens in a session, as the small model puts it. What it has no line for has
// none. Each kind of description is given up by itself when it keeps failing. It is safe for concurrent use. Log may be
// nil.
type Describer struct {
	Small    *Small
	Language func() texts.Language
	Log      *slog.Logger

	mu     sync.Mutex
	failed map[string]Failures // by the name of the text
}

// Calls returns what calls did, or nothing. It has the form of [agent.Options.Label].
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

// Agent returns what an agent is doing, given its task and its last steps, or nothing.
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

// describe asks with the text of a name, unless that has failed too often.
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
		Messages:  []msg.Message{msg.UserText(NewSeal().Quote(name, strings.Join(facts, "\n")))},
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
