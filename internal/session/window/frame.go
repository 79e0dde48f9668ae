package window

import (
	"slices"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/tool"
)

// A frame is what the requests of a turn have beside the conversation, and what measures them.
type frame struct {
	model    agent.Model
	limits   compact.Limits
	options  agent.Options
	gauge    *tokens.Gauge
	preamble agent.Preamble
	pool     func() *tool.Pool
	specs    []msg.ToolSpec // as they were at first; an estimate needs them no newer
	fixed    int            // tokens of the frame; 0 before they are counted
}

// context returns what each request says before the conversation.
func (f *frame) context() []msg.Part {
	if f.preamble.Context == nil {
		return nil
	}
	return f.preamble.Context()
}

func (f *frame) tools() []msg.ToolSpec {
	if f.specs == nil {
		f.specs = f.preamble.List(f.pool().Specs())
	}
	return f.specs
}

// offered reports whether the model has a tool, listed or deferred.
func (f *frame) offered(name string) bool {
	return f.pool().IsDeferred(name) || slices.ContainsFunc(f.tools(), func(s msg.ToolSpec) bool { return s.Name == name })
}

// count returns the size of a request with these messages, before it is corrected.
func (f *frame) count(messages []msg.Message) int {
	if f.fixed == 0 {
		f.fixed = f.gauge.Count(f.preamble.System, f.tools(), nil) + f.gauge.Count(f.context(), nil, nil)
	}
	return f.fixed + f.gauge.Count(nil, nil, messages)
}
