package plain

import (
	"fmt"
	"time"

	"adze/internal/platform/proc/task"
	"adze/internal/platform/text/amount"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// taskEnded notifies the user that a background task has ended, with the end of its output if
// it failed.
func (p *printer) taskEnded(t *task.Task) {
	role, state := draw.Good, string(t.Status())
	if t.Status() != task.Completed {
		role = draw.Bad
	}
	if ending := t.Ending(); ending != "" {
		state += ", " + ending
	}
	kind := "Task "
	if r := t.Concluded(); r != nil {
		kind = "Agent "
		state += fmt.Sprintf(", %s, %s tokens", amount.Of(r.Calls, "call", "calls"), amount.Grouped(r.Tokens))
	}
	p.outcome(role, kind+t.ID+", "+t.Title, fmt.Sprintf("%s (%v)", state, t.Took().Round(100*time.Millisecond)))
	if t.Status() == task.Failed {
		tail, lines := t.Output.Tail(tailBytes)
		p.output(tool.Output{Text: string(tail), Lines: lines, File: t.Output.Path()}, outputLines)
	}
}

// tailBytes is the number of bytes read from the end of a task's output.
const tailBytes = 8 << 10
