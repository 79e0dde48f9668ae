package gemini

import (
	"bytes"
	"fmt"
	"strconv"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// options returns the beginning of a body: the members that precede the conversation, extra
// ones last. The object stays open.
func options(req *model.Request, extra []byte) ([]byte, error) {
	config := generationConfig(req)
	var rest []wire.Member
	if name := req.Choice.Name; name != "" {
		v := append([]byte(`{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":[`), msg.AppendString(nil, wireName(name))...)
		rest = append(rest, wire.Member{Name: "toolConfig", Value: append(v, "]}}"...)})
	}
	if len(bytes.TrimSpace(extra)) > 0 {
		more, err := wire.Members(extra)
		if err != nil {
			return nil, fmt.Errorf("reading extra body parameters: %w", err)
		}
		for _, m := range more {
			switch m.Name {
			case "model", "systemInstruction", "tools", "contents":
				return nil, fmt.Errorf("extra body parameters may not set %q", m.Name)
			case "generationConfig":
				inner, err := wire.Members(m.Value)
				if err != nil {
					return nil, fmt.Errorf("reading extra body parameters: generationConfig: %w", err)
				}
				for _, i := range inner {
					config = wire.SetMember(config, i.Name, i.Value)
				}
			default:
				rest = wire.SetMember(rest, m.Name, m.Value)
			}
		}
	}
	head := append([]wire.Member{{Name: "generationConfig", Value: append(wire.Options(config), '}')}}, rest...)
	return wire.Options(head), nil
}

func generationConfig(req *model.Request) []wire.Member {
	config := []wire.Member{{Name: "maxOutputTokens", Value: strconv.AppendInt(nil, int64(req.MaxTokens), 10)}}
	if how := thinking(req); how != nil {
		config = append(config, wire.Member{Name: "thinkingConfig", Value: how})
	}
	if formats(req) {
		config = append(config, wire.Member{Name: "responseMimeType", Value: []byte(`"application/json"`)}, wire.Member{Name: "responseJsonSchema", Value: req.Format})
	}
	return config
}

func formats(req *model.Request) bool { return req.Format != nil && req.Omit&model.OmitFormat == 0 }

// budgets maps efforts to token budgets for models that take a budget, as the service does.
var budgets = [...]struct {
	effort model.Effort
	tokens int
}{{model.EffortLow, 1024}, {model.EffortMedium, 8192}, {model.EffortHigh, 24_576}, {model.EffortXHigh, 24_576}, {model.EffortMax, 24_576}}

// dynamic is the budget of a model that chooses its own.
const dynamic = -1

// thinking returns the thinking configuration, or nil. Newer models take a level, older ones a
// token budget; setting both is an error.
func thinking(req *model.Request) []byte {
	if req.Omit&model.OmitThinking != 0 {
		return nil
	}
	effort := req.Effort
	if req.Omit&model.OmitEffort != 0 {
		effort = model.EffortDefault
	}
	older := isOlder(req.Model)
	var v []byte
	budget := func(n int) { v = fmt.Appendf(v, `,"thinkingBudget":%d`, n) }
	switch mode := req.Thinking.Mode; {
	case mode == model.ThinkingDisabled:
		budget(0)
	case mode == model.ThinkingBudget:
		budget(req.Thinking.Budget)
	case effort != model.EffortDefault && older:
		for _, b := range budgets {
			if b.effort == effort {
				budget(min(b.tokens, max(req.MaxTokens/2, 1)))
			}
		}
	case effort != model.EffortDefault:
		v = append(v, `,"thinkingLevel":"`...)
		v = append(v, level(effort)...)
		v = append(v, '"')
	case mode == model.ThinkingAdaptive && older:
		budget(dynamic)
	}
	if shows(req) {
		v = append(v, `,"includeThoughts":true`...)
	}
	if v == nil {
		return nil
	}
	v[0] = '{'
	return append(v, '}')
}

// level returns the thinking level for an effort; the highest is high.
func level(e model.Effort) model.Effort {
	if e == model.EffortXHigh || e == model.EffortMax {
		return model.EffortHigh
	}
	return e
}

// shows reports whether the model's thoughts are requested.
func shows(req *model.Request) bool {
	mode := req.Thinking.Mode
	return mode != model.ThinkingOff && mode != model.ThinkingDisabled && req.Omit&(model.OmitDisplay|model.OmitThinking) == 0
}
