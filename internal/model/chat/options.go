package chat

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"adze/internal/model"
	"adze/internal/model/toolname"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// The names of the output limit parameter.
const (
	oldLimit = "max_tokens"
	newLimit = "max_completion_tokens"
)

// options returns the members that precede the conversation, extra ones last.
func (d Dialect) options(req *model.Request, extra json.RawMessage) ([]wire.Member, error) {
	limit := oldLimit
	if d.CompletionLimit != (req.Omit&model.OmitLimit != 0) {
		limit = newLimit
	}
	head := []wire.Member{
		{Name: "model", Value: msg.AppendString(nil, req.Model)},
		{Name: limit, Value: strconv.AppendInt(nil, int64(req.MaxTokens), 10)},
	}
	if !req.NoStream {
		head = append(head, wire.Member{Name: "stream", Value: []byte("true")})
		if req.Omit&model.OmitUsage == 0 {
			head = append(head, wire.Member{Name: "stream_options", Value: []byte(`{"include_usage":true}`)})
		}
	}
	if e := d.effort(req); e != "" {
		head = append(head, wire.Member{Name: "reasoning_effort", Value: msg.AppendString(nil, e)})
	}
	if req.Format != nil && req.Omit&model.OmitFormat == 0 {
		v := append([]byte(`{"type":"json_schema","json_schema":{"name":"answer","schema":`), req.Format...)
		head = append(head, wire.Member{Name: "response_format", Value: append(v, "}}"...)})
	}
	if d.hasKey(req) {
		head = append(head, wire.Member{Name: "prompt_cache_key", Value: msg.AppendString(nil, req.CacheKey)})
	}
	if len(req.Tools) > 0 && !d.TextTools {
		if d.Parallel && req.Omit&model.OmitParallel == 0 {
			head = append(head, wire.Member{Name: "parallel_tool_calls", Value: []byte("true")})
		}
		if req.Choice.Name != "" {
			v := msg.AppendString([]byte(`{"type":"function","function":{"name":`), toolname.Restrict(req.Choice.Name))
			head = append(head, wire.Member{Name: "tool_choice", Value: append(v, "}}"...)})
		}
	}
	return wire.AddExtra(head, extra, "model", "stream", "tools", "messages")
}

// effort returns the requested reasoning effort, or "".
func (d Dialect) effort(req *model.Request) string {
	switch {
	case req.Omit&(model.OmitEffort|model.OmitThinking) != 0:
		return ""
	case req.Thinking.Mode == model.ThinkingDisabled && d.NoThinking != "":
		return d.NoThinking
	case req.Effort != model.EffortDefault:
		return string(req.Effort)
	case req.Thinking.Mode == model.ThinkingBudget:
		switch {
		case req.Thinking.Budget <= 4_096:
			return string(model.EffortLow)
		case req.Thinking.Budget <= 16_384:
			return string(model.EffortMedium)
		}
		return string(model.EffortHigh)
	}
	return ""
}

// hasKey reports whether req has a cache key.
func (d Dialect) hasKey(req *model.Request) bool {
	return d.CacheKey && req.CacheKey != "" && req.Omit&model.OmitCache == 0
}

// notTaken lists phrases of servers that reject an unknown part of a request.
var notTaken = [...]string{
	"not supported", "unsupported", "does not support", "doesn't support", "not permitted", "not allowed", "unrecognized", "unknown",
	"unexpected", "additional properties", "extra_forbidden", "invalid schema", "please remove", "extra inputs",
}

// optionals returns the parts that can be omitted from a request.
func (d Dialect) optionals() []wire.Optional {
	return []wire.Optional{
		{Part: model.OmitLimit, Names: []string{oldLimit, newLimit}, Has: func(*model.Request) bool { return true }},
		{Part: model.OmitUsage, Names: []string{"stream_options", "include_usage"}, Has: func(r *model.Request) bool { return !r.NoStream }},
		{Part: model.OmitParallel, Names: []string{"parallel_tool_calls"}, Has: func(r *model.Request) bool { return d.Parallel && len(r.Tools) > 0 }},
		{Part: model.OmitFormat, Names: []string{"response_format", "json_schema"}, Has: func(r *model.Request) bool { return r.Format != nil }},
		{Part: model.OmitStrict, Names: []string{"strict"}, Has: func(r *model.Request) bool {
			return slices.ContainsFunc(r.Tools, func(t msg.ToolSpec) bool { return t.Strict })
		}},
		{Part: model.OmitEffort, Names: []string{"reasoning_effort", "reasoning.effort", "reasoning effort"}, Has: func(r *model.Request) bool { return d.effort(r) != "" }},
		{Part: model.OmitCache, Names: []string{"prompt_cache_key"}, Has: d.hasKey},
		{Part: model.OmitCache, Names: []string{"cache_control"}, Has: func(r *model.Request) bool { return d.Marks && len(r.Cache) > 0 }},
		{Part: model.OmitReplay, Names: []string{"reasoning_content", "reasoning_details", "reasoning", "thinking"}, Has: d.replays},
	}
}

// replays reports whether reasoning is sent back with req.
func (d Dialect) replays(req *model.Request) bool {
	return d.Replay != ReplayNone && slices.ContainsFunc(req.Messages, func(m msg.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p msg.Part) bool {
			t, ok := p.(*msg.Thinking)
			return ok && strings.HasPrefix(t.Signature, signature)
		})
	})
}

// Optional implements [wire.LenientDialect].
func (d Dialect) Optional(req *model.Request, e *model.Error) (part model.Omission, name string) {
	return wire.RefusedPart(req, e, notTaken[:], d.optionals())
}
