// Package fit wraps a provider so that each model is asked only for what it can do. The wishes of a
// session are the same for every model; the model may change by request or with the fallback.
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

// Config says what requests are fitted to.
type Config struct {
	// Table describes the models.
	Table catalog.Table
	// Note is told, once each, what is changed in requests.
	Note func(string)
	// Describe returns how tools are described to the model. It may be nil.
	Describe func([]msg.ToolSpec) []msg.ToolSpec
}

// New returns p with requests fitted to their models.
func New(p model.Provider, c Config) model.Provider {
	return &provider{next: p, c: c, told: map[string]bool{}}
}

type provider struct {
	next model.Provider
	c    Config

	mu   sync.Mutex
	told map[string]bool
}

// Unwrap returns the provider that is asked; see [model.As].
func (p *provider) Unwrap() model.Provider { return p.next }

// Stream implements [model.Provider].
func (p *provider) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	m, ok := p.c.Table.Lookup(req.Model)
	if !ok {
		m = catalog.Unknown(req.Model)
	}
	r := *req
	r.Effort = p.effort(m, r.Effort)
	r.Thinking = p.thinking(m, r.Thinking, r.MaxTokens)
	if !m.Structured {
		r.Format = nil
	}
	if p.c.Describe != nil {
		r.Tools = p.c.Describe(r.Tools)
	}
	return p.next.Stream(ctx, &r)
}

// efforts in rising order.
var efforts = [...]model.Effort{model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortMax}

func (p *provider) effort(m catalog.Model, want model.Effort) model.Effort {
	level := slices.Index(efforts[:], want)
	highest := slices.Index(efforts[:], m.MaxEffort)
	switch {
	case level < 0 || level <= highest:
		return want
	case highest < 0:
		p.tell(fmt.Sprintf("%s takes no effort; it is left out", m.ID))
		return model.EffortDefault
	}
	p.tell(fmt.Sprintf("%s knows no effort %s; %s is used", m.ID, want, m.MaxEffort))
	return m.MaxEffort
}

// LeastBudget is the smallest thinking budget.
const LeastBudget = 1024

func (p *provider) thinking(m catalog.Model, want model.Thinking, maxTokens int) model.Thinking {
	switch can := m.Thinking; want.Mode {
	case model.ThinkingOff:
		if can == catalog.AlwaysThinking {
			return model.Thinking{Mode: model.ThinkingAdaptive}
		}
	case model.ThinkingAdaptive:
		if can == catalog.NoThinking || can == catalog.BudgetThinking {
			return model.Thinking{}
		}
	case model.ThinkingBudget:
		switch {
		case can == catalog.NoThinking:
			p.tell(m.ID + " does not think; the thinking budget is left out")
			return model.Thinking{}
		case can == catalog.AdaptiveThinking || can == catalog.AlwaysThinking:
			p.tell(m.ID + " decides itself how much to think; the thinking budget is left out")
			return model.Thinking{Mode: model.ThinkingAdaptive}
		case want.Budget >= maxTokens && maxTokens <= LeastBudget:
			return model.Thinking{}
		case want.Budget >= maxTokens:
			p.tell(fmt.Sprintf("the thinking budget of %d is not below the output limit of %d; it is lowered", want.Budget, maxTokens))
			want.Budget = max(LeastBudget, maxTokens/2)
		}
	}
	return want
}

func (p *provider) tell(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.told[text] {
		p.told[text] = true
		p.c.Note(text)
	}
}
