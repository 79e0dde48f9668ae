package lifecycle

import (
	"context"
	"strings"

	"adze/internal/agent/compact"
	"adze/internal/hook"
	"adze/internal/msg"
)

// Compaction returns an adapter that runs the hooks around compactions.
func (h *Hooks) Compaction() compact.Hooks { return compaction{h} }

type compaction struct{ h *Hooks }

// Before fires the PreCompact event.
func (c compaction) Before(ctx context.Context, t compact.Trigger, focus string) (keep, block string) {
	out := c.h.Fire(ctx, hook.OnPreCompact(string(t), focus))
	switch {
	case out.Stop != "":
		return "", out.Stop
	case out.Blocked:
		return "", out.By + ": " + out.Reason
	}
	return plainReminders(out.Context), ""
}

// After fires the event of a finished compaction and then SessionStart, so that hooks that add
// context to the start of a conversation do so again.
func (c compaction) After(ctx context.Context, t compact.Trigger, summary string) []msg.Part {
	parts := c.h.Fire(ctx, hook.OnPostCompact(string(t), summary)).Context
	return append(parts, c.h.start(ctx, "compact")...)
}

// plainReminders returns the text of reminders.
func plainReminders(parts []msg.Part) string {
	var said []string
	for _, p := range parts {
		if text, ok := msg.ReminderText(p); ok {
			said = append(said, text)
		}
	}
	return strings.Join(said, "\n")
}
