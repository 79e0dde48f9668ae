package window

import (
	"slices"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/tool"
)

// A frame holds the parts of a turn's requests outside the conversation, and measures requests.
type frame struct {
	model    agent.Model
	limits   compact.Limits
	options  agent.Options
	gauge    *tokens.Estimator
	preamble agent.Preamble
	pool     func() *tool.Pool
	specs    []msg.ToolSpec // initial tools; good enough for an estimate
	fixed    int            // tokens of the frame; 0 if not counted yet
}

// context returns the parts sent before the conversation in each request.
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

// count returns the uncorrected size of a request with these messages.
func (f *frame) count(messages []msg.Message) int {
	if f.fixed == 0 {
		f.fixed = f.gauge.Count(f.preamble.System, f.tools(), nil) + f.gauge.Count(f.context(), nil, nil)
	}
	return f.fixed + f.gauge.Count(nil, nil, messages)
}
