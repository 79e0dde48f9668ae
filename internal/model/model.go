// Package model defines the contract of a language model provider: what is asked, what comes back
// while it arrives, and how it can fail. Providers, retries and prices live in packages below it.
package model

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"adze/internal/msg"
)

// A Provider answers requests. Retrying and fitting are Providers that wrap another; see [As].
type Provider interface {
	// Stream sends req and yields the response as it arrives. It may be called again, also
	// concurrently; each range over the result is one request.
	//
	// A non-nil error comes with a nil event and is the last pair. It is an [*Error] unless ctx is
	// done. A response that ends without [Stop] and without error does not occur: a provider reports
	// it as [Broken]. Breaking off, like cancelling ctx, abandons the request and closes its
	// connection before Stream returns.
	Stream(ctx context.Context, req *Request) iter.Seq2[Event, error]
}

// A Request is one question to a model. A provider does not change it and does not keep it.
type Request struct {
	Model  string
	System []msg.Part
	// Messages alternate between user and assistant; see [msg.Conversation].
	Messages []msg.Message
	Tools    []msg.ToolSpec
	Choice   ToolChoice
	Effort   Effort
	Thinking Thinking
	// Cache says where the provider may cache; one without caching ignores it.
	Cache []Mark
	// Passing is how many parts at the end of the messages no later request repeats, as in a question beside a
	// conversation. They are not cached: the mark of the messages goes to the last user message before them,
	// which is where the request before had it.
	Passing   int
	MaxTokens int
	// Format is the JSON Schema that the text of the answer fits, where the provider can enforce it; nil
	// leaves the text free.
	Format json.RawMessage

	// NoStream asks for the whole answer at once. The events are the same.
	NoStream bool
	// Raw asks for a [Raw] event before each event that it produced.
	Raw bool
	// Background marks a side query, which must not add load to an overloaded server.
	Background bool
	// HasFallback says that the caller can turn to another model, so that persistent overload is
	// reported early.
	HasFallback bool
	// UserID identifies the device and session anonymously; empty sends nothing.
	UserID string
}

// Effort is a hint how hard the model should try: low, medium, high, max, or empty for its default.
type Effort string

// The efforts.
const (
	EffortDefault Effort = ""
	EffortLow     Effort = "low"
	EffortMedium  Effort = "medium"
	EffortHigh    Effort = "high"
	EffortMax     Effort = "max"
)

// Thinking says whether the model may reason before it answers. The zero value leaves it off.
type Thinking struct {
	Mode ThinkingMode
	// Budget is the number of tokens in mode [ThinkingBudget]. It is below the request's MaxTokens.
	Budget int
}

// A ThinkingMode is how thinking is bounded.
type ThinkingMode uint8

// The thinking modes.
const (
	ThinkingOff ThinkingMode = iota
	ThinkingBudget
	ThinkingAdaptive
)

// ToolChoice restricts which tools the model may use. The zero value leaves the choice to it.
type ToolChoice struct {
	// Name is the one tool that must be used, if not empty.
	Name string
}

// A Mark is a place up to which the provider may cache the request.
type Mark struct {
	Place Place
	// Index is the last system block or tool before the mark; messages are marked at the last one only.
	Index int
	// Hour asks for the long lifetime, Global for sharing between users (static text only).
	Hour   bool
	Global bool
}

// A Place is a part of a request that can end in a mark.
type Place uint8

// The places.
const (
	InSystem Place = iota
	InTools
	InMessages
)

// A StopReason is why a response ended.
type StopReason string

// The stop reasons. A provider maps its own to these; one it does not know counts as StopEnd.
const (
	StopEnd             StopReason = "end_turn"
	StopTools           StopReason = "tool_use"
	StopMaxTokens       StopReason = "max_tokens"
	StopSequence        StopReason = "stop_sequence"
	StopRefusal         StopReason = "refusal"
	StopPause           StopReason = "pause_turn"
	StopContextExceeded StopReason = "model_context_window_exceeded"
)

// An Event is one of the types below, and nothing else.
type Event interface{ event() }

type (
	// Start opens a response. Model is the one that really answers.
	Start struct{ ID, Model, RequestID string }

	// TextDelta is more text of block Block.
	TextDelta struct {
		Block int
		Text  string
	}

	// ThinkingDelta is more reasoning, or the signature that closes it.
	ThinkingDelta struct {
		Block           int
		Text, Signature string
	}

	// InputDelta is more of a tool's input as it is typed. The first one of a block may be empty.
	InputDelta struct {
		Block          int
		ID, Name, JSON string
	}

	// BlockDone carries a complete block. Blocks complete in order.
	BlockDone struct {
		Block int
		Part  msg.Part
	}

	// Usage is what the response has cost so far. A later one replaces an earlier one.
	Usage struct{ msg.Usage }

	// Stop ends the response.
	Stop struct{ Reason StopReason }

	// Retrying says that the request failed before anything of the answer was seen, and that it will
	// be sent again after a wait. Attempt counts the failures so far.
	Retrying struct {
		Attempt, Max int
		After        time.Duration
		Err          error
	}

	// Raw is the provider's own event, for hosts that ask for the unaltered stream.
	Raw struct{ JSON []byte }
)

func (Start) event()         {}
func (TextDelta) event()     {}
func (ThinkingDelta) event() {}
func (InputDelta) event()    {}
func (BlockDone) event()     {}
func (Usage) event()         {}
func (Stop) event()          {}
func (Retrying) event()      {}
func (Raw) event()           {}

// As finds the optional capability T on p or on a provider that p wraps. A provider that wraps another
// has a method Unwrap() Provider, unless it takes the other's capabilities away.
func As[T any](p Provider) (capability T, ok bool) {
	for p != nil {
		if capability, ok = p.(T); ok {
			return capability, true
		}
		w, wraps := p.(interface{ Unwrap() Provider })
		if !wraps {
			break
		}
		p = w.Unwrap()
	}
	return capability, false
}

// A Counter is a provider that can count the tokens of a request without answering it.
type Counter interface {
	CountTokens(ctx context.Context, req *Request) (int, error)
}
