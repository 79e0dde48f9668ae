package messages

import (
	"fmt"
	"slices"

	"adze/internal/model"
	"adze/internal/model/catalog"
)

// Betas that request members require.
const (
	bindingBeta = "thinking-binding-controls-2026-08-01"
	updatesBeta = "thinking-display-updates-2026-08-18"
)

// dropBlock makes the server ignore thinking that is bound to other content instead of
// returning an error.
const dropBlock = "drop_block"

// knownBetas lists the betas that servers are known to accept.
var knownBetas = []string{
	bindingBeta, updatesBeta, interleavedBeta, "context-1m-2025-08-07", "fine-grained-tool-streaming-2025-05-14",
	"prompt-caching-scope-2026-01-05", "context-management-2025-06-27", "structured-outputs-2025-11-13", "effort-2025-11-24",
}

type checkedOptions struct {
	Betas       []string        `json:"anthropic_beta"`
	Temperature any             `json:"temperature"`
	TopP        any             `json:"top_p"`
	TopK        any             `json:"top_k"`
	Output      *checkedOutput  `json:"output_config"`
	Thinking    *checkedThought `json:"thinking"`
}

type checkedOutput struct {
	Effort string `json:"effort"`
}

type checkedThought struct {
	Type    string  `json:"type"`
	Budget  float64 `json:"budget_tokens"`
	Display string  `json:"display"`
	Binding *struct {
		Behavior string `json:"prefix_mismatch_behavior"`
	} `json:"block_binding"`
}

// dropsBlocks reports whether thinking that is bound to other content is ignored.
func (t *checkedThought) dropsBlocks() bool {
	return t != nil && t.Binding != nil && t.Binding.Behavior == dropBlock
}

func checkOptions(r *checkedRequest) error {
	m, known := catalog.Table{}.Lookup(r.Model)
	switch {
	case r.Version != r.dialect.Version:
		return fmt.Errorf("anthropic_version: must be %q", r.dialect.Version)
	case r.Model == "" && r.dialect.Version == "":
		return fmt.Errorf("model: must not be empty")
	case r.MaxTokens < 1 || r.MaxTokens != float64(int(r.MaxTokens)):
		return fmt.Errorf("max_tokens: must be a whole number of at least 1")
	case known && int(r.MaxTokens) > m.MaxOutput:
		return fmt.Errorf("max_tokens: %v > %d, which is the maximum allowed number of output tokens for %s", r.MaxTokens, m.MaxOutput, r.Model)
	case r.Temperature != nil || r.TopP != nil || r.TopK != nil:
		return fmt.Errorf("temperature, top_p and top_k may not be set for this model")
	}
	if err := r.checkBetas(); err != nil {
		return err
	}
	if err := r.checkEffort(m, known); err != nil {
		return err
	}
	if err := r.checkThought(m, known); err != nil {
		return err
	}
	forced := r.Choice != nil && (r.Choice.Type == "tool" || r.Choice.Type == "any")
	switch {
	case forced && r.Thinking != nil && r.Thinking.Type != "disabled":
		return fmt.Errorf("thinking: may not be on when tool_choice forces a tool")
	case forced && known && !m.ForcedTool:
		return fmt.Errorf("tool_choice: %s cannot be forced to use a tool", r.Model)
	}
	return nil
}

func (r *checkedRequest) checkBetas() error {
	if r.dialect.BetasInBody {
		r.betas = append([]string{}, r.Betas...)
	}
	for _, b := range r.betas {
		if !slices.Contains(knownBetas, b) {
			return fmt.Errorf("Unexpected value(s) `%s` for the `anthropic-beta` header", b)
		}
	}
	return nil
}

// needs returns an error if the request lacks a beta. It returns nil if the headers are
// unknown.
func (r *checkedRequest) needs(beta, member string) error {
	if r.betas == nil || slices.Contains(r.betas, beta) {
		return nil
	}
	return fmt.Errorf("%s: requires %s in the `anthropic-beta` header", member, beta)
}

// efforts lists the efforts in ascending order.
var efforts = []model.Effort{model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortXHigh, model.EffortMax}

func (r *checkedRequest) effort() model.Effort {
	if r.Output == nil {
		return model.EffortDefault
	}
	return model.Effort(r.Output.Effort)
}

func (r *checkedRequest) checkEffort(m catalog.Model, known bool) error {
	e := r.effort()
	switch {
	case e == model.EffortDefault:
	case !slices.Contains(efforts, e):
		return fmt.Errorf("output_config.effort: %q is none of %v", e, efforts)
	case known && !slices.Contains(m.Efforts(), e):
		return fmt.Errorf("output_config.effort: %s does not support the effort level %q", r.Model, e)
	}
	return nil
}

func (r *checkedRequest) checkThought(m catalog.Model, known bool) error {
	t := r.Thinking
	if t == nil {
		return nil
	}
	always := known && m.Thinking == catalog.AlwaysThinking
	switch t.Type {
	case "disabled":
		switch {
		case always:
			return fmt.Errorf("thinking.type.disabled: is not supported by %s", r.Model)
		case known && m.Thinking == catalog.AdaptiveThinking && slices.Index(efforts, r.effort()) > slices.Index(efforts, model.EffortHigh):
			return fmt.Errorf("thinking.type.disabled: is not supported with effort %s", r.effort())
		}
	case "adaptive":
		if known && (m.Thinking == catalog.NoThinking || m.Thinking == catalog.BudgetThinking) {
			return fmt.Errorf("thinking.type.adaptive: is not supported by %s", r.Model)
		}
	case "between_tools":
		switch {
		case known && !m.BetweenTools:
			return fmt.Errorf("thinking.type.between_tools: is not supported by %s", r.Model)
		case slices.Index(efforts, r.effort()) > slices.Index(efforts, model.EffortHigh):
			return fmt.Errorf("thinking.type.between_tools: is not supported with effort %s", r.effort())
		}
	case "enabled":
		switch {
		case always || known && m.Thinking == catalog.AdaptiveThinking:
			return fmt.Errorf("thinking.type.enabled: is not supported by %s", r.Model)
		case t.Budget < minThinking:
			return fmt.Errorf("thinking.budget_tokens: must be at least %d", minThinking)
		case t.Budget >= r.MaxTokens:
			return fmt.Errorf("max_tokens: must be above thinking.budget_tokens")
		}
	default:
		return fmt.Errorf("thinking.type: %q is none of enabled, adaptive, between_tools, disabled", t.Type)
	}
	return r.checkDisplay(m, known)
}

func (r *checkedRequest) checkDisplay(m catalog.Model, known bool) error {
	t := r.Thinking
	switch t.Display {
	case "", "summarized", "omitted":
	case "updates":
		if known && m.Display != model.DisplayUpdates {
			return fmt.Errorf("thinking.display: %s does not support updates", r.Model)
		}
		if err := r.needs(updatesBeta, "thinking.display"); err != nil {
			return err
		}
	default:
		return fmt.Errorf("thinking.display: %q is none of summarized, omitted, updates", t.Display)
	}
	if t.Display != "" && t.Type == "disabled" {
		return fmt.Errorf("thinking.disabled.display: extra inputs are not permitted")
	}
	if t.Binding == nil {
		return nil
	}
	if t.Binding.Behavior != dropBlock && t.Binding.Behavior != "error" {
		return fmt.Errorf("thinking.block_binding.prefix_mismatch_behavior: %q is neither error nor %s", t.Binding.Behavior, dropBlock)
	}
	return r.needs(bindingBeta, "thinking.block_binding")
}
