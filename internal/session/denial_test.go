package session_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent/exec"
	"adze/internal/session"
	"adze/internal/tool"
)

// guard is a hook that denies, fails, panics or abstains as its input requests.
type guard struct{}

func (guard) Before(_ context.Context, u *tool.Use) error {
	switch string(u.Input) {
	case `{"text":"deny"}`:
		u.Verdict.Decide(tool.Deny, "a hook", "")
	case `{"text":"fail"}`:
		return errors.New("no verdict")
	case `{"text":"panic"}`:
		panic("boom")
	}
	return nil
}

// TestDenialsOfHooks checks that a hook's denial is reported once, like any other.
//
// Proves SESS-04.
func TestDenialsOfHooks(t *testing.T) {
	b := newBench(t, `
use Do {"text":"deny"}
use Do {"text":"fail"}
use Do {"text":"panic"}
use Do {"text":"fine"}
use Deny {"text":"by the rules"}
---
say ok
`, func(_ *bench, c *session.Config) {
		c.Gates = slices.Concat([]exec.Gate{{Name: "hooks", Gate: guard{}}, {Name: "hooks", Gate: guard{}}}, c.Gates)
	})
	b.completed("go")
	var got []string
	for _, d := range b.Denials() {
		got = append(got, d.UseID+" "+string(d.Input))
	}
	want := []string{`toolu_1_1 {"text":"deny"}`, `toolu_1_2 {"text":"fail"}`, `toolu_1_3 {"text":"panic"}`, `toolu_1_5 {"text":"by the rules"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.played()
}

// TestInterruptedHookDeniesNothing checks that a hook interrupted by the end of a turn does not
// count as a denial.
func TestInterruptedHookDeniesNothing(t *testing.T) {
	var b *bench
	interrupting := gateFunc(func(ctx context.Context, _ *tool.Use) error {
		b.Interrupt(session.Interrupt{})
		<-ctx.Done()
		return ctx.Err()
	})
	b = newBench(t, "use Do {}\n---\nsay never", func(_ *bench, c *session.Config) { c.Gates = []exec.Gate{{Name: "hooks", Gate: interrupting}} })
	b.prompt("go")
	if got := b.Denials(); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

type gateFunc func(context.Context, *tool.Use) error

func (f gateFunc) Before(ctx context.Context, u *tool.Use) error { return f(ctx, u) }
