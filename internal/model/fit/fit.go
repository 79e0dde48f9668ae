// Package fit wraps a provider so that each request uses only features its model supports. A
// session's preferences are the same for every model, but the model may change per request or
// with the fallback.
package fit

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/msg"
)

// Config configures the wrapper.
type Config struct {
	// Table describes the models.
	Table catalog.Table
	// FirstParty reports whether the named model is served by its vendor, whose endpoint
	// supports more features. Nil means that none is.
	FirstParty func(name string) bool
	// Note is called once for each change made to requests.
	Note func(string)
	// CacheKey is sent to providers that cache automatically. It may be empty.
	CacheKey string
	// Describe, if non-nil, rewrites the tool descriptions for the model.
	Describe func([]msg.ToolSpec) []msg.ToolSpec
}

// New returns p with requests adapted to their models.
func New(p model.Provider, c Config) model.Provider {
	return &provider{next: p, c: c, told: map[string]bool{}}
}

type provider struct {
	next model.Provider
	c    Config

	mu    sync.Mutex
	told  map[string]bool
	texts map[msg.Part]msg.Part // replacements for media in the last request that had some
}

// Unwrap returns the wrapped provider; see [model.As].
func (p *provider) Unwrap() model.Provider { return p.next }

// Stream implements [model.Provider].
func (p *provider) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	m, ok := p.c.Table.Lookup(req.Model)
	if !ok {
		m = catalog.Unknown(req.Model)
	}
	m = m.At(p.c.FirstParty != nil && p.c.FirstParty(req.Model))
	if !m.Tools && len(req.Tools) > 0 {
		return failure(&model.Error{Kind: model.NoTools, Message: "it cannot call tools"})
	}
	r := *req
	r.Thinking, r.Effort = p.budget(m, r.Thinking, r.Effort)
	r.Effort = p.effort(m, r.Effort, len(r.Tools) > 0)
	r.Thinking = p.thinking(m, r.Thinking, r.Effort, r.MaxTokens)
	r.Messages = p.media(m, r.Messages)
	if m.Caching == catalog.AutomaticCaching || !m.Known {
		r.CacheKey = p.c.CacheKey
	}
	if !m.Strict {
		r.Omit |= model.OmitStrict
	}
	if !m.Structured {
		r.Format = nil
	}
	if p.c.Describe != nil {
		r.Tools = p.c.Describe(r.Tools)
	}
	events := p.next.Stream(ctx, &r)
	if r.Thinking.Display != model.DisplayUpdates && r.Thinking.Mode != model.ThinkingBetweenTools {
		return events
	}
	return updates(events)
}

func failure(err error) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) { yield(nil, err) }
}

// updates marks thinking deltas as updates, for a model that shows only its messages to the
// user.
func updates(events iter.Seq2[model.Event, error]) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for e, err := range events {
			if d, ok := e.(model.ThinkingDelta); ok && d.Text != "" {
				d.Update = true
				e = d
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// efforts maps token budgets to efforts: each applies up to its budget.
var efforts = [...]struct {
	budget int
	effort model.Effort
}{{2_048, model.EffortLow}, {8_192, model.EffortMedium}, {24_576, model.EffortHigh}, {49_152, model.EffortXHigh}}

// budget converts a thinking budget to an effort if the model's effort controls its thinking.
// An explicit effort takes precedence.
func (p *provider) budget(m catalog.Model, want model.Thinking, e model.Effort) (model.Thinking, model.Effort) {
	if want.Mode != model.ThinkingBudget || !m.ByEffort {
		return want, e
	}
	as := model.EffortMax
	for _, step := range efforts {
		if want.Budget <= step.budget {
			as = step.effort
			break
		}
	}
	for can := m.Efforts(); !slices.Contains(can, as); {
		as = can[len(can)-1]
	}
	if e == model.EffortDefault {
		e = as
	}
	p.tell(fmt.Sprintf("%s takes no thinking budget; effort %s is used instead", m.ID, e))
	return model.Thinking{Mode: model.ThinkingAdaptive}, e
}

// effort returns the effort to request from m. works is true if the request has tools, that is,
// if the model works on a task.
func (p *provider) effort(m catalog.Model, want model.Effort, works bool) model.Effort {
	can := m.Efforts()
	switch {
	case want == model.EffortDefault && works:
		return m.CodingEffort
	case want == model.EffortDefault || slices.Contains(can, want):
		return want
	case len(can) == 0:
		p.tell(fmt.Sprintf("%s has no effort levels; the effort %s is ignored", m.ID, want))
		return model.EffortDefault
	}
	nearest := can[len(can)-1]
	if want == model.EffortXHigh {
		nearest = model.EffortHigh
	}
	p.tell(fmt.Sprintf("%s has no effort level %s; %s is used", m.ID, want, nearest))
	return nearest
}

// usualBudget is the budget for a model that can't choose its own. It is small enough that a
// side question, whose answer is shorter, can use the same budget; otherwise the side question
// could not use the cache.
const usualBudget = 8_000

// thinking returns m's thinking settings for effort e and an answer of maxTokens.
func (p *provider) thinking(m catalog.Model, want model.Thinking, e model.Effort, maxTokens int) model.Thinking {
	asked := want.UserRequested
	want.UserRequested = false
	switch can := m.Thinking; want.Mode {
	case model.ThinkingOff:
		return p.off(m, asked, e)
	case model.ThinkingAdaptive:
		switch {
		case can == catalog.BudgetThinking && m.Interleaves && maxTokens > usualBudget:
			return model.Thinking{Mode: model.ThinkingBudget, Budget: usualBudget, Display: m.Display, Interleaved: true}
		case can == catalog.NoThinking && asked:
			p.tell(m.ID + " has no known thinking support; thinking is not requested")
			return model.Thinking{}
		case can == catalog.NoThinking || can == catalog.BudgetThinking:
			return model.Thinking{}
		}
		return adaptive(m)
	case model.ThinkingBudget:
		switch {
		case can == catalog.NoThinking:
			p.tell(m.ID + " has no known thinking support; the thinking budget is ignored")
			return model.Thinking{}
		case can == catalog.AdaptiveThinking || can == catalog.AlwaysThinking:
			p.tell(m.ID + " has adaptive thinking; the thinking budget is ignored, use the effort instead")
			return adaptive(m)
		case want.Budget >= maxTokens && maxTokens <= model.LeastBudget:
			return model.Thinking{}
		case want.Budget >= maxTokens:
			p.tell(fmt.Sprintf("the thinking budget of %d is not below the output limit of %d; it is lowered", want.Budget, maxTokens))
			want.Budget = max(model.LeastBudget, maxTokens/2)
		}
		want.Display, want.Interleaved = m.Display, m.Interleaves
	}
	return want
}

// off returns m's minimal thinking settings.
func (p *provider) off(m catalog.Model, asked bool, e model.Effort) model.Thinking {
	hard := e == model.EffortXHigh || e == model.EffortMax
	least := model.Thinking{}
	switch {
	case m.Thinking == catalog.AlwaysThinking && m.BetweenTools && !hard:
		if asked {
			p.tell(m.ID + " always thinks; requesting thinking only between tool calls")
		}
		return model.Thinking{Mode: model.ThinkingBetweenTools}
	case m.Thinking == catalog.AlwaysThinking || m.Thinking == catalog.AlwaysBudget:
		least = adaptive(m)
		if asked {
			p.tell(m.ID + " always thinks; thinking cannot be switched off; a lower effort makes it think less")
		}
	case m.DefaultThinking && hard && !m.ByEffort:
		least = adaptive(m)
		if asked {
			p.tell(fmt.Sprintf("%s thinks at effort %s; to switch thinking off, choose high or less", m.ID, e))
		}
	case m.DefaultThinking:
		least.Mode = model.ThinkingDisabled
	}
	return least
}

func adaptive(m catalog.Model) model.Thinking {
	return model.Thinking{Mode: model.ThinkingAdaptive, Display: m.Display, Forgiving: m.Forgiving}
}

func (p *provider) tell(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.told[text] {
		p.told[text] = true
		p.c.Note(text)
	}
}
