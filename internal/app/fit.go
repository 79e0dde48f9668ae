package app

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

// A fitted provider asks each model only for what it can do. The session's wishes are the same for
// every model; the model may change with the fallback or by request.
type fitted struct {
	model.Provider
	table catalog.Table
	note  func(string)
	// describe returns how tools are described to the model.
	describe func([]msg.ToolSpec) []msg.ToolSpec

	mu   sync.Mutex
	told map[string]bool
}

// fit returns p for the models of a table. What has to be changed is said once, through note. Tools are
// described as describe has them; nil leaves them as they are.
func fit(p model.Provider, table catalog.Table, note func(string), describe func([]msg.ToolSpec) []msg.ToolSpec) model.Provider {
	f := &fitted{Provider: p, table: table, note: note, describe: describe, told: map[string]bool{}}
	if counter, ok := p.(model.Counter); ok {
		return struct {
			*fitted
			model.Counter
		}{f, counter}
	}
	return f
}

func (f *fitted) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	m, ok := f.table.Lookup(req.Model)
	if !ok {
		m = catalog.Unknown(req.Model)
	}
	r := *req
	r.Effort = f.effort(m, r.Effort)
	r.Thinking = f.thinking(m, r.Thinking, r.MaxTokens)
	if !m.Structured {
		r.Format = nil
	}
	if f.describe != nil {
		r.Tools = f.describe(r.Tools)
	}
	return f.Provider.Stream(ctx, &r)
}

// efforts in rising order.
var efforts = [...]model.Effort{model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortMax}

func (f *fitted) effort(m catalog.Model, want model.Effort) model.Effort {
	level := slices.Index(efforts[:], want)
	highest := slices.Index(efforts[:], m.MaxEffort)
	switch {
	case level < 0 || level <= highest:
		return want
	case highest < 0:
		f.tell(fmt.Sprintf("%s takes no effort; it is left out", m.ID))
		return model.EffortDefault
	}
	f.tell(fmt.Sprintf("%s knows no effort %s; %s is used", m.ID, want, m.MaxEffort))
	return m.MaxEffort
}

// The least a thinking budget can be.
const leastBudget = 1024

func (f *fitted) thinking(m catalog.Model, want model.Thinking, maxTokens int) model.Thinking {
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
			f.tell(m.ID + " does not think; the thinking budget is left out")
			return model.Thinking{}
		case can == catalog.AdaptiveThinking || can == catalog.AlwaysThinking:
			f.tell(m.ID + " decides itself how much to think; the thinking budget is left out")
			return model.Thinking{Mode: model.ThinkingAdaptive}
		case want.Budget >= maxTokens && maxTokens <= leastBudget:
			return model.Thinking{}
		case want.Budget >= maxTokens:
			f.tell(fmt.Sprintf("the thinking budget of %d is not below the output limit of %d; it is lowered", want.Budget, maxTokens))
			want.Budget = max(leastBudget, maxTokens/2)
		}
	}
	return want
}

func (f *fitted) tell(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.told[text] {
		f.told[text] = true
		f.note(text)
	}
}
