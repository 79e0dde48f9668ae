package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/permission/judge"
	"adze/internal/tool"
	agenttool "adze/internal/tools/agent"
)

// note records a call.
func (a *activity) note(u *msg.ToolUse) {
	a.calls++
	a.lately = append(a.lately[max(0, len(a.lately)+1-judge.MaxWork):], judge.Work(u))
}

// check reviews the agent's work, unless it was stopped.
func (x *run) check(ask func(context.Context, judge.Handoff) (permission.Judgement, error), report string) (permission.Judgement, error) {
	if x.life.Err() != nil {
		return permission.Judgement{}, errors.New("it was stopped")
	}
	x.mu.Lock()
	h := judge.Handoff{ID: x.spec.ID, Tool: agenttool.Name, Task: x.prompt, Report: report, Calls: slices.Clone(x.activity.lately)}
	x.mu.Unlock()
	return ask(x.life, h)
}

// handOff prepends a warning to a background agent's report if the review requires one or did
// not run. An agent without calls has seen nothing that could have misled it.
func (x *run) handOff(out *Outcome) {
	check := x.agents.cfg.HandOff()
	if check == nil || x.spec.MemoryTask != nil || x.task == nil || !x.task.Background() || x.activity.calls == 0 {
		return
	}
	l := x.agents.cfg.Language()
	verdict, err := x.check(check, out.Text)
	switch {
	case err != nil:
		out.Warning = catalogue.Text(l, "unchecked", msg.Neutralise(tool.OneLine(err.Error(), 200)))
	case verdict.Block:
		out.Warning = catalogue.Text(l, "flagged", strings.TrimRight(verdict.Reason, ".。"))
	case x.activity.calls > len(x.activity.lately):
		out.Warning = catalogue.Text(l, "halfchecked", fmt.Sprint(len(x.activity.lately)), fmt.Sprint(x.activity.calls))
	}
}
