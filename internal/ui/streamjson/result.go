package streamjson

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
)

// A Result is the outcome of a turn: the answer is collected while it runs, and Finished is set
// at its end.
type Result struct {
	session.Finished
	// Prompt is the ID of the prompt that began the turn; may be empty.
	Prompt string
	// Explain returns a user-facing explanation of an error.
	Explain func(error) string
	// Note is true if the turn was a note, which has no answer.
	Note bool
	// Chore is true if an operation ran instead of a turn: its notices are the result.
	Chore bool

	text string // text of the last answer
	open bool   // the last answer was cut off, and the next one may continue it
	done bool   // the last answer ended normally without calls
}

// Add adds an event of the turn.
func (r *Result) Add(ev agent.Event) {
	switch ev := ev.(type) {
	case agent.Appended:
		if ev.Entry.Message.Role == msg.Assistant {
			r.answer(ev.Entry)
		}
	case agent.Notice:
		if r.Chore && !ev.Compacting {
			r.say(ev.Text)
		}
	case agent.Compacted:
		if r.Chore {
			r.say(shortened(ev))
		}
	}
}

// shortened returns the result of a compaction.
func shortened(ev agent.Compacted) string {
	if ev.Cleared {
		return "Starting a new conversation; the previous one is saved on disk."
	}
	return fmt.Sprintf("The conversation was shortened from about %d to %d tokens.", ev.Before, ev.After)
}

// answer stores the text of the last answer. If the output limit cut it off, the next answer
// continues it exactly there.
func (r *Result) answer(e msg.Entry) {
	text := e.Message.Text()
	if r.open {
		text = r.text + text
	}
	r.text = text
	r.open = e.Stop == string(model.StopMaxTokens) && len(e.Message.Uses()) == 0
	r.done = e.Stop == string(model.StopEnd) && text != ""
}

// Answered reports whether the turn was interrupted after the model had answered, while waiting
// for background commands.
func (r *Result) Answered() bool { return r.done && r.Ended.Reason.Aborted() }

// say adds a line to the text.
func (r *Result) say(text string) {
	if r.text != "" {
		r.text += "\n"
	}
	r.text += text
}

// Text returns the answer: a command's output, the structured output, or the model's last text.
func (r *Result) Text() string {
	switch {
	case r.Local != nil:
		return r.Local.Text
	case r.Output != nil:
		return string(r.Output)
	}
	return r.text
}

// Subtype returns the protocol name for how the turn ended, and whether it is an error.
func (r *Result) Subtype() (name string, isError bool) {
	switch r.Reason {
	case agent.Completed, agent.TokenBudgetDone:
		return "success", r.Local != nil && r.Local.Err != nil
	case agent.ModelError, agent.PromptTooLong, agent.BlockingLimit, agent.ImageError:
		return "success", true
	case agent.MaxTurnsReached:
		return "error_max_turns", true
	case agent.BudgetExhausted:
		return "error_max_budget_usd", true
	case agent.StructuredOutputFailed:
		return "error_max_structured_output_retries", true
	}
	return "error_during_execution", true
}

// Problem returns why the turn failed, for the user, or "" if it succeeded.
func (r *Result) Problem() string {
	switch end := r.Ended; {
	case r.Local != nil && r.Local.Err != nil:
		return r.Local.Err.Error()
	case end.Reason.OK():
		return ""
	case end.Err != nil:
		return r.Explain(end.Err)
	case r.Answered():
		return "interrupted while background commands ran; the answer is complete"
	case end.Reason.Aborted():
		return "interrupted before the answer was complete"
	case end.Detail != "":
		return end.Detail
	default:
		return string(end.Reason)
	}
}

// Line returns the result as a line of the stream.
func (r *Result) Line(session string) []byte { return r.record().Identified(session, msg.NewID()) }

// record returns the result in the protocol's format.
func (r *Result) record() *Object {
	o := &Object{}
	subtype, isError := r.Subtype()
	o.Str("type", "result")
	o.Str("subtype", subtype)
	o.Bool("is_error", isError)
	switch {
	case subtype != "success":
		o.Strs("errors", []string{r.Problem()})
		if r.Answered() {
			o.Str("result", r.Text())
		}
	case isError:
		o.Str("result", r.Problem())
		var e *model.Error
		if errors.As(r.Err, &e) && e.Status != 0 {
			o.Int("api_error_status", int64(e.Status))
		}
	default:
		o.Str("result", r.Text())
	}
	if r.Output != nil {
		o.Raw("structured_output", r.Output)
	}
	o.StrOrNull("stop_reason", string(r.Stop))
	o.Str("terminal_reason", terminalReason(r.Reason))
	o.Int("num_turns", int64(r.Iterations))
	o.Int("duration_ms", r.Took.Milliseconds())
	o.Int("duration_api_ms", (r.After.API - r.Before.API).Milliseconds())
	o.Float("total_cost_usd", r.After.CostUSD)
	o.Object("usage", func(o *Object) { appendUsage(o, difference(r.After.Usage, r.Before.Usage)) })
	o.Object("modelUsage", r.modelUsage)
	o.List("permission_denials", len(r.Denials), func(i int, item *Object) {
		item.Str("tool_name", r.Denials[i].Tool)
		item.Str("tool_use_id", r.Denials[i].UseID)
		item.Raw("tool_input", r.Denials[i].Input)
	})
	o.StrIf("prompt_uuid", r.Prompt)
	return o
}

// terminalReason returns the protocol name for a reason.
func terminalReason(r agent.Reason) string {
	if r == agent.ModelError {
		return "api_error"
	}
	return string(r)
}

func (r *Result) modelUsage(o *Object) {
	for _, name := range slices.Sorted(maps.Keys(r.After.Models)) {
		m := r.After.Models[name]
		o.Object(name, func(o *Object) {
			o.Int("inputTokens", int64(m.Input))
			o.Int("outputTokens", int64(m.Output))
			o.Int("cacheReadInputTokens", int64(m.CacheRead))
			o.Int("cacheCreationInputTokens", int64(m.CacheWrite))
			o.Int("webSearchRequests", int64(m.WebSearches))
			o.Float("costUSD", m.CostUSD)
			if m.HasUnknownCost {
				o.Bool("hasUnknownCost", true)
			}
			o.Int("contextWindow", int64(m.ContextWindow))
			o.Int("maxOutputTokens", int64(m.MaxOutput))
		})
	}
}

func appendUsage(o *Object, u msg.Usage) {
	o.Int("input_tokens", int64(u.Input))
	o.Int("cache_creation_input_tokens", int64(u.CacheWrite))
	o.Int("cache_read_input_tokens", int64(u.CacheRead))
	o.Int("output_tokens", int64(u.Output))
	o.Object("server_tool_use", func(o *Object) { o.Int("web_search_requests", int64(u.WebSearches)) })
	o.Object("cache_creation", func(o *Object) {
		o.Int("ephemeral_5m_input_tokens", int64(u.CacheWrite-u.CacheWrite1h))
		o.Int("ephemeral_1h_input_tokens", int64(u.CacheWrite1h))
	})
}

// difference returns after minus before.
func difference(after, before msg.Usage) msg.Usage {
	return msg.Usage{
		Input:        after.Input - before.Input,
		Output:       after.Output - before.Output,
		CacheRead:    after.CacheRead - before.CacheRead,
		CacheWrite:   after.CacheWrite - before.CacheWrite,
		CacheWrite1h: after.CacheWrite1h - before.CacheWrite1h,
		WebSearches:  after.WebSearches - before.WebSearches,
	}
}
