package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/msg"
	"adze/internal/session/store"
	"adze/internal/session/window"
	"adze/internal/tool"
)

// Limits on the end of an earlier conversation that is shown again: user messages, and entries.
const (
	shownTurns   = 3
	shownEntries = 100
)

// Turns returns the last turns of an earlier conversation, or the whole one as far as it was
// loaded, as events for a front end. Calls have the outcome that their structured results
// describe, so it must be called before [RestoreTools].
func Turns(tools []tool.Tool, earlier *store.Contents, whole bool) []agent.Event {
	if earlier == nil {
		return nil
	}
	entries, compacted := uncompacted(earlier)
	from, prompt := 0, 0
	if !whole {
		from, prompt = lastTurns(entries)
	}
	r := replay{tools: map[string]tool.Tool{}, forwarders: tool.ForwardersOf(tools)}
	for _, t := range tools {
		for _, name := range append([]string{t.Spec().Name}, t.Traits().Aliases...) {
			r.tools[name] = t
		}
	}
	if prompt < from {
		r.entry(entries[prompt])
		r.add(agent.Notice{Text: fmt.Sprintf("%d messages are not shown.", from-prompt-1)})
	}
	for i, e := range entries[from:] {
		if from+i == compacted {
			r.add(agent.Notice{Text: "The conversation was summarised here."})
		}
		r.entry(e)
	}
	if compacted == len(entries) && compacted > 0 {
		r.add(agent.Notice{Text: "The conversation was summarised here."})
	}
	r.end()
	return r.events
}

// uncompacted returns a conversation with the end of what was compacted in its original form, and
// the index of the first entry after the compaction, or -1.
func uncompacted(c *store.Contents) (entries []msg.Entry, compacted int) {
	older := c.Older
	if c.Boundary == nil || len(older) == 0 {
		return c.Entries, -1
	}
	written := append(slices.Concat(c.Boundary.Kept, c.Boundary.Recast), c.Boundary.Summary)
	later := slices.DeleteFunc(slices.Clone(c.Entries), func(e msg.Entry) bool {
		if window.Cleared(e) {
			older = nil
		}
		return slices.Contains(written, e.ID)
	})
	if older == nil {
		return later, -1
	}
	for i, e := range slices.Backward(older) {
		if window.Cleared(e) {
			older = older[i+1:]
			break
		}
	}
	return slices.Concat(older, later), len(older)
}

// lastTurns returns the index of the first entry of the last turns, and of the prompt that it
// belongs to, which may be earlier.
func lastTurns(entries []msg.Entry) (from, prompt int) {
	prompts := 0
	from, prompt = len(entries), len(entries)
	for i, e := range slices.Backward(entries) {
		if prompts == shownTurns || prompts > 0 && len(entries)-i > shownEntries {
			break
		}
		if e.Message.Role != msg.User || e.Hidden || typed(e) == "" {
			continue
		}
		if _, _, ran := msg.RanCommand(typed(e)); !ran {
			prompts++
			from, prompt = i, i
		}
	}
	if prompts == 0 {
		prompt = 0
	}
	if len(entries)-from > shownEntries || prompts == 0 {
		from = max(prompt, len(entries)-shownEntries)
	}
	return from, prompt
}

// typed returns the text of a user message as far as the user sees it.
func typed(e msg.Entry) string {
	texts := slices.DeleteFunc(msg.TypedTexts(e.Message), interruption)
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

func interruption(text string) bool { return strings.HasPrefix(text, "[Request interrupted") }

// A replay turns the entries of a conversation into events.
type replay struct {
	tools      map[string]tool.Tool
	forwarders tool.Forwarders
	events     []agent.Event
	open       []*msg.ToolUse // calls without a result so far
}

func (r *replay) add(ev agent.Event) { r.events = append(r.events, ev) }

func (r *replay) entry(e msg.Entry) {
	for _, p := range e.Message.Parts {
		if result, ok := p.(*msg.ToolResult); ok {
			r.result(result, e.Structured[result.ID])
		}
	}
	switch {
	case e.Hidden:
	case e.Message.Role == msg.Assistant:
		r.end()
		r.add(agent.Appended{Entry: e})
		r.open = e.Message.Uses()
	default:
		if typed(e) != "" {
			r.end()
			r.add(agent.Appended{Entry: e})
		}
		if slices.ContainsFunc(msg.TypedTexts(e.Message), interruption) {
			r.end()
			r.add(agent.Notice{Text: "Stopped."})
		}
	}
}

// result shows a call with its result.
func (r *replay) result(result *msg.ToolResult, structured json.RawMessage) {
	i := slices.IndexFunc(r.open, func(u *msg.ToolUse) bool { return u.ID == result.ID })
	if i < 0 {
		return
	}
	use := r.forwarders.See(r.open[i])
	r.open = slices.Delete(r.open, i, i+1)
	done := agent.ToolDone{Use: use, Result: result}
	done.Refusal, done.Denied = exec.Rejection(result)
	started := agent.ToolStarted{Use: use, Title: tool.OneLine(use.Name, 80), Object: tool.OneLine(use.Name, 80)}
	if t := r.tools[use.Name]; t != nil {
		if call, err := t.Bind(use.Input); err == nil {
			started.Title, started.Fold = tool.TitleOf(use.Name, call), tool.FoldOf(call)
			started.Verb, started.Object = tool.PastOf(use.Name, call)
		}
		if again := t.Traits().Redisplay; again != nil && len(structured) > 0 {
			done.Display = again(structured)
		}
	}
	if d, ok := done.Display.(tool.Output); ok {
		done.Elapsed = d.Elapsed.Round(time.Millisecond)
	}
	r.add(started)
	r.add(done)
}

// end shows the calls that have no result because the program ended.
func (r *replay) end() {
	for _, use := range slices.Clone(r.open) {
		r.result(&msg.ToolResult{ID: use.ID, IsError: true, Parts: []msg.Part{&msg.Text{Text: "adze ended before it finished."}}}, nil)
	}
}
