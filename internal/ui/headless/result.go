package headless

import (
	"errors"
	"maps"
	"slices"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
)

// A result is what one turn came to. It collects while the turn runs.
type result struct {
	session.Finished
	f    *Front
	text string // of the last answer
	open bool   // the last answer was cut off and may be carried on
	note bool   // nothing comes of it
}

func (r *result) add(ev agent.Event) {
	if ev, ok := ev.(agent.Appended); ok && ev.Entry.Message.Role == msg.Assistant {
		r.answer(ev.Entry)
	}
}

// answer keeps the text of the last answer. One that the output limit cut off is carried on by the
// next, at the very point of the cut.
func (r *result) answer(e msg.Entry) {
	text := e.Message.Text()
	if r.open {
		text = r.text + text
	}
	r.text = text
	r.open = e.Stop == string(model.StopMaxTokens) && len(e.Message.Uses()) == 0
}

// say adds a line to what the turn came to.
func (r *result) say(text string) {
	if r.text != "" {
		r.text += "\n"
	}
	r.text += text
}

// answered returns what the turn came to as text.
func (r *result) answered() string {
	switch {
	case r.Local != nil:
		return r.Local.Text
	case r.Output != nil:
		return string(r.Output)
	}
	return r.text
}

// subtype returns the name that clients know for how the turn ended, and whether it is an error.
func (r *result) subtype() (name string, isError bool) {
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

// problem returns why the turn ended, for the user, or "" if it did what it was asked to do.
func (r *result) problem() string {
	switch end := r.Ended; {
	case r.Local != nil && r.Local.Err != nil:
		return r.Local.Err.Error()
	case end.Reason.OK():
		return ""
	case end.Err != nil:
		return r.f.explain(end.Err)
	case end.Reason.Aborted():
		return "interrupted before the answer was complete"
	case end.Detail != "":
		return end.Detail
	default:
		return string(end.Reason)
	}
}

// explain says what err means, in the words of the model in use.
func (f *Front) explain(err error) string {
	if f.cfg.Explain == nil {
		return err.Error()
	}
	return f.cfg.Explain(err, f.cfg.Session.Model())
}

// record returns the result as clients read it.
func (r *result) record() *object {
	o := &object{}
	subtype, isError := r.subtype()
	o.str("type", "result")
	o.str("subtype", subtype)
	o.bool("is_error", isError)
	switch {
	case subtype != "success":
		o.strs("errors", []string{r.problem()})
	case isError:
		o.str("result", r.problem())
		var e *model.Error
		if errors.As(r.Err, &e) && e.Status != 0 {
			o.int("api_error_status", int64(e.Status))
		}
	default:
		o.str("result", r.answered())
	}
	if r.Output != nil {
		o.raw("structured_output", r.Output)
	}
	o.strOrNull("stop_reason", string(r.Stop))
	o.str("terminal_reason", terminalReason(r.Reason))
	o.int("num_turns", int64(r.Iterations))
	o.int("duration_ms", r.Took.Milliseconds())
	o.int("duration_api_ms", (r.After.API - r.Before.API).Milliseconds())
	o.float("total_cost_usd", r.After.CostUSD)
	o.object("usage", func(o *object) { appendUsage(o, difference(r.After.Usage, r.Before.Usage)) })
	o.object("modelUsage", r.modelUsage)
	o.list("permission_denials", len(r.Denials), func(i int, item *object) {
		item.str("tool_name", r.Denials[i].Tool)
		item.str("tool_use_id", r.Denials[i].UseID)
		item.raw("tool_input", r.Denials[i].Input)
	})
	return o
}

// terminalReason returns the reason in the words of clients.
func terminalReason(r agent.Reason) string {
	if r == agent.ModelError {
		return "api_error"
	}
	return string(r)
}

func (r *result) modelUsage(o *object) {
	for _, name := range slices.Sorted(maps.Keys(r.After.Models)) {
		m := r.After.Models[name]
		o.object(name, func(o *object) {
			o.int("inputTokens", int64(m.Input))
			o.int("outputTokens", int64(m.Output))
			o.int("cacheReadInputTokens", int64(m.CacheRead))
			o.int("cacheCreationInputTokens", int64(m.CacheWrite))
			o.int("webSearchRequests", int64(m.WebSearches))
			o.float("costUSD", m.CostUSD)
			if m.HasUnknownCost {
				o.bool("hasUnknownCost", true)
			}
			o.int("contextWindow", int64(m.ContextWindow))
			o.int("maxOutputTokens", int64(m.MaxOutput))
		})
	}
}

func appendUsage(o *object, u msg.Usage) {
	o.int("input_tokens", int64(u.Input))
	o.int("cache_creation_input_tokens", int64(u.CacheWrite))
	o.int("cache_read_input_tokens", int64(u.CacheRead))
	o.int("output_tokens", int64(u.Output))
	o.object("server_tool_use", func(o *object) { o.int("web_search_requests", int64(u.WebSearches)) })
	o.object("cache_creation", func(o *object) {
		o.int("ephemeral_5m_input_tokens", int64(u.CacheWrite-u.CacheWrite1h))
		o.int("ephemeral_1h_input_tokens", int64(u.CacheWrite1h))
	})
}

// difference returns what was added to before.
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
