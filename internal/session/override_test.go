package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

// TestOverrideLastsForTheTurn checks that an override applies from the first request or from
// the middle of a turn until the turn ends.
//
// Proves SKILL-15.
func TestOverrideLastsForTheTurn(t *testing.T) {
	var b *bench
	b = newBench(t, `
		use Switch
		---
		say one
		---
		say two
		---
		say three
	`, func(_ *bench, c *session.Config) {
		c.Loop.Effort = model.EffortLow
		c.Tools.Registry = tool.NewRegistry(newTool("Switch", tool.Traits{}, func(ctx context.Context, _ string) error {
			if err := b.Submit(ctx, session.Override{Model: "none"}); err == nil {
				t.Error("an unknown model was taken")
			}
			return b.Submit(ctx, session.Override{Model: "big", Effort: model.EffortMax})
		}))
	})
	b.completed("first")
	b.completed("second")
	made := say("/third")
	made.Make = func(ctx context.Context) (session.Prompt, error) {
		return say("the third"), b.Submit(ctx, session.Override{Model: "big"})
	}
	made.ID = msg.NewID()
	for range b.turn(made) {
	}
	var asked []string
	for line := range strings.Lines(b.String()) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "request to "); ok {
			asked = append(asked, name)
		}
	}
	if got := strings.Join(asked, " "); got != "small big small big" {
		t.Errorf("asked %s", got)
	}
	if b.Model() != "small" {
		t.Errorf("the session continues with %s", b.Model())
	}
	var efforts []string
	for _, r := range b.player.Requests() {
		_, rest, _ := strings.Cut(string(r), `"effort":"`)
		effort, _, _ := strings.Cut(rest, `"`)
		efforts = append(efforts, effort)
	}
	if got := strings.Join(efforts, " "); got != "low max low low" {
		t.Errorf("efforts %s", got)
	}
	if got := b.log.entries[len(b.log.entries)-2].Message; msg.PlainText(got.Parts) != "the third" {
		t.Errorf("the log has %q", msg.PlainText(got.Parts))
	}
	b.played()
}

// TestPromptThatCannotBeMade checks that an error of Make ends the turn without a request to
// the model.
func TestPromptThatCannotBeMade(t *testing.T) {
	b := newBench(t, `say never`, nil)
	p := say("/broken")
	p.Make = func(context.Context) (session.Prompt, error) {
		return session.Prompt{}, errors.New("its command failed")
	}
	after := b.Last()
	b.submit(p)
	for e := range b.Entries(t.Context(), after, session.Every) {
		if done, ok := e.Event.(session.Finished); ok {
			if done.Local == nil || done.Local.Err == nil || done.Local.Err.Error() != "its command failed" {
				t.Errorf("finished with %+v", done.Local)
			}
			break
		}
	}
	if len(b.log.entries) > 0 || strings.Contains(b.String(), "request") {
		t.Errorf("something was sent or kept: %s", b.String())
	}
}
