package modeltest

import (
	"net/http"
	"slices"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// A Dialect is a wire format under test.
type Dialect struct {
	// Server encodes answers and errors.
	wire.Server
	// Cannot names the suite's answers and error kinds that the dialect cannot express.
	Cannot []string
	// Answers are additional, dialect-specific answers.
	Answers []Answer
}

// An Answer is a streamed answer and its expected reply.
type Answer struct {
	Name string
	// Spell writes the events between the start and the end.
	Spell func(wire.ResponseEncoder) []byte
	Want  Reply
}

// A Reply is the outcome of one request.
type Reply struct {
	Message msg.Message
	Start   model.Start
	Usage   msg.Usage
	Stop    model.StopReason
}

// begin sends an answer's header.
func begin(w http.ResponseWriter, contentType string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Request-Id", "req_1")
	w.WriteHeader(http.StatusOK)
}

// serve returns a server that answers with a stream.
func (s suite) serve(a Answer) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		begin(w, wire.MediaType(s.Server))
		sp := s.NewResponseEncoder(true)
		w.Write(open(sp)) // ok, here as elsewhere: an error shows on the other side
		w.Write(a.Spell(sp))
		w.Write(sp.Close(a.Want.Stop, counts(a.Want.Usage)))
	}
}

// half begins an answer, which the caller continues or abandons.
func (s suite) half(w http.ResponseWriter) wire.ResponseEncoder {
	begin(w, wire.MediaType(s.Server))
	sp := s.NewResponseEncoder(true)
	w.Write(open(sp))
	w.Write(sp.Event(model.TextDelta{Text: "half"}))
	return sp
}

// open begins an answer with ten input tokens.
func open(sp wire.ResponseEncoder) []byte {
	return sp.Open("msg_1", "model-1-real", wire.Counts{wire.InputTokens: 10, wire.OutputTokens: 1})
}

// counts returns u as reported by a server.
func counts(u msg.Usage) wire.Counts {
	c := wire.Counts{wire.InputTokens: u.Input, wire.OutputTokens: u.Output}
	for counter, n := range map[wire.Counter]int{wire.CacheRead: u.CacheRead, wire.CacheWrite: u.CacheWrite} {
		if n > 0 {
			c[counter] = n
		}
	}
	return c
}

// Events returns a function that writes the given events.
func Events(events ...model.Event) func(wire.ResponseEncoder) []byte {
	return func(sp wire.ResponseEncoder) (out []byte) {
		for _, e := range events {
			out = append(out, sp.Event(e)...)
		}
		return out
	}
}

// answerList returns the suite's answers that the dialect can express.
func (s suite) answerList() []Answer {
	used := msg.Usage{Input: 10, Output: 5}
	reply := func(stop model.StopReason, parts ...msg.Part) Reply {
		return Reply{Message: msg.Message{Role: msg.Assistant, Parts: parts}, Usage: used, Stop: stop}
	}
	text := func(block int, s string) []model.Event {
		return []model.Event{model.TextDelta{Block: block, Text: s}, model.BlockDone{Block: block, Part: &msg.Text{Text: s}}}
	}
	typed := func(block int, id string, fragments ...string) []model.Event {
		var events []model.Event
		whole := ""
		for _, f := range fragments {
			events = append(events, model.InputDelta{Block: block, ID: id, Name: "Read", JSON: f})
			whole += f
		}
		return append(events, model.BlockDone{Block: block, Part: msg.NewToolUse(id, "Read", whole)})
	}
	cached := reply(model.StopEnd, &msg.Text{Text: "cheap"})
	cached.Usage = msg.Usage{Input: 10, CacheWrite: 20, CacheRead: 300, Output: 5}
	list := []Answer{
		{"text", func(sp wire.ResponseEncoder) []byte {
			return slices.Concat(sp.Ping(), sp.Event(model.TextDelta{Text: "Hel"}), sp.Ping(), sp.Event(model.TextDelta{Text: "lo"}),
				sp.Event(model.BlockDone{Part: &msg.Text{Text: "Hello"}}))
		}, reply(model.StopEnd, &msg.Text{Text: "Hello"})},
		{"nothing", Events(), reply(model.StopEnd)},
		{"tool", Events(typed(0, "call_1", `{"path":`, `"a b"}`)...), reply(model.StopTools, msg.NewToolUse("call_1", "Read", `{"path":"a b"}`))},
		{"parallel tools", Events(slices.Concat(text(0, "Both."), typed(1, "call_1", `{"a":1}`), typed(2, "call_2", ""))...),
			reply(model.StopTools, &msg.Text{Text: "Both."}, msg.NewToolUse("call_1", "Read", `{"a":1}`), msg.NewToolUse("call_2", "Read", ""))},
		{"malformed tool input", Events(typed(0, "call_1", `{"path`)...), reply(model.StopEnd, msg.NewToolUse("call_1", "Read", `{"path`))},
		{"thinking", Events(append([]model.Event{model.ThinkingDelta{Text: "Hm."}, model.ThinkingDelta{Signature: "c2ln"},
			model.BlockDone{Part: &msg.Thinking{Text: "Hm.", Signature: "c2ln"}}}, text(1, "So.")...)...),
			reply(model.StopEnd, &msg.Thinking{Text: "Hm.", Signature: "c2ln"}, &msg.Text{Text: "So."})},
		{"redacted thinking", Events(model.BlockDone{Part: &msg.Redacted{Data: "eA=="}}), reply(model.StopEnd, &msg.Redacted{Data: "eA=="})},
		{"unknown event", func(sp wire.ResponseEncoder) []byte {
			return append(sp.Raw(`{"type":"weather"}`), Events(text(0, "Hello")...)(sp)...)
		}, reply(model.StopEnd, &msg.Text{Text: "Hello"})},
		{"cache usage", Events(text(0, "cheap")...), cached},
		{"output limit", Events(text(0, "cut")...), reply(model.StopMaxTokens, &msg.Text{Text: "cut"})},
		{"context exceeded", Events(), reply(model.StopContextExceeded)},
		{"refusal", Events(), reply(model.StopRefusal)},
		{"pause", Events(text(0, "wait")...), reply(model.StopPause, &msg.Text{Text: "wait"})},
	}
	list = slices.DeleteFunc(list, func(a Answer) bool { return slices.Contains(s.Cannot, a.Name) })
	return append(list, s.Answers...)
}
