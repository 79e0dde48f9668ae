// Package model defines the interface of a language model provider: requests, streamed events
// and errors.
package model

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"adze/internal/msg"
)

// A Provider answers requests. Retrying and request fitting are Providers that wrap another;
// see [As].
type Provider interface {
	// Stream sends req and yields the response as it arrives. It may be called again, also
	// concurrently; each range over the result is one request.
	//
	// A non-nil error comes with a nil event and is the last pair. It is an [*Error] unless ctx
	// is done. A response never ends without [Stop] and without an error: a provider reports
	// that as [Broken]. Breaking out of the loop, like canceling ctx, abandons the request and
	// closes its connection before Stream returns.
	Stream(ctx context.Context, req *Request) iter.Seq2[Event, error]
}

// A Request is one request to a model. A provider does not modify or retain it.
type Request struct {
	Model  string
	System []msg.Part
	// Messages alternate between user and assistant; see [msg.Conversation].
	Messages []msg.Message
	Tools    []msg.ToolSpec
	Choice   ToolChoice
	Effort   Effort
	Thinking Thinking
	// Cache holds the places where the provider may cache. Providers without caching ignore it.
	Cache []Mark
	// Passing is the number of parts at the end of the messages that no later request repeats,
	// as in a side question. They are not cached: the message mark is placed on the last user
	// message before them, where the previous request had it.
	Passing   int
	MaxTokens int
	// Format is the JSON Schema of the answer's text, for providers that can enforce it; nil
	// means free text.
	Format json.RawMessage

	// Search, if non-nil, lets the server search the web for the answer if it can.
	Search *Search

	// NoStream requests the whole answer without streaming. The events are the same.
	NoStream bool
	// Raw requests a [Raw] event before the events that each provider event produced.
	Raw bool
	// Omit holds the parts to leave out because the endpoint does not support them.
	Omit Omission
	// Betas are the names of the provider's beta features that the user wants to use.
	Betas []string
	// Background marks a side query, which must not add load to an overloaded server.
	Background bool
	// HasFallback is true if the caller can switch to another model, so that persistent
	// overload is reported early.
	HasFallback bool
	// UserID identifies the device and session anonymously; empty sends nothing.
	UserID string
	// CacheKey is the same in all requests with the same prefix, for providers that cache
	// automatically; empty sends nothing.
	CacheKey string
}

// Effort is a hint for how hard the model should try: low, medium, high, xhigh, max, or empty
// for its default.
type Effort string

// The efforts.
const (
	EffortDefault Effort = ""
	EffortLow     Effort = "low"
	EffortMedium  Effort = "medium"
	EffortHigh    Effort = "high"
	EffortXHigh   Effort = "xhigh"
	EffortMax     Effort = "max"
)

// Thinking controls whether the model may reason before it answers. The zero value does not
// request reasoning; see [ThinkingDisabled] for models that think by default.
type Thinking struct {
	Mode ThinkingMode
	// Budget is the number of tokens in mode [ThinkingBudget]. It is less than the request's
	// MaxTokens.
	Budget int
	// Display is how the thinking is shown; empty means the model's default.
	Display Display
	// Interleaved requests thinking between tool calls in mode [ThinkingBudget] too.
	Interleaved bool
	// Forgiving makes the server ignore earlier thinking that it does not accept, instead of
	// returning an error.
	Forgiving bool
	// UserRequested is true if the user requested the mode and wants to know if it is unavailable.
	UserRequested bool
}

// Display is a way to show thinking.
type Display string

// The ways to show thinking.
const (
	DisplaySummary Display = "summarized"
	// DisplayUpdates shows the model's messages between tool calls as they arrive.
	DisplayUpdates Display = "updates"
)

// An Omission is a set of optional parts of a request.
type Omission uint16

// The optional parts.
const (
	OmitStrict   Omission = 1 << iota // schema-enforced tool input
	OmitCache                         // all marks
	OmitHour                          // long cache lifetime
	OmitThinking                      // all thinking
	OmitDisplay
	OmitForgiving
	OmitEffort
	OmitFormat
	OmitUserID
	OmitLimit    // name of the output limit; another is used
	OmitUsage    // usage report
	OmitParallel // parallel calls in one answer
	OmitReplay   // the model's earlier reasoning
)

// LeastBudget is the smallest thinking budget.
const LeastBudget = 1024

// A ThinkingMode is how thinking is limited.
type ThinkingMode uint8

// The thinking modes.
const (
	ThinkingOff ThinkingMode = iota
	ThinkingBudget
	ThinkingAdaptive
	// ThinkingDisabled disables thinking for a model that thinks by default.
	ThinkingDisabled
	// ThinkingBetweenTools is the minimum for a model that always thinks: notes between tool
	// calls.
	ThinkingBetweenTools
)

// ToolChoice restricts which tools the model may use. The zero value lets the model choose.
type ToolChoice struct {
	// Name, if not empty, is the tool that must be used.
	Name string
}

// A Search configures the server's web search. It is immutable.
type Search struct {
	// Most limits the number of searches; zero means the server's default.
	Most int
	// Allowed, if not empty, limits results to these domains; Blocked excludes domains. They
	// are mutually exclusive.
	Allowed, Blocked []string
	// Must requires the answer to begin with a search.
	Must bool
}

// A Mark is a place up to which the provider may cache the request.
type Mark struct {
	Place Place
	// Index is the last system block or tool before the mark; messages are marked only at the
	// last one.
	Index int
	// Hour requests the long lifetime, Global sharing between users (static text only).
	Hour   bool
	Global bool
	// Branch is true if other conversations continue from the results at the end of the
	// messages, each with a different text. The message mark is then placed before that text.
	Branch bool
}

// A Place is a part of a request that can end in a mark.
type Place uint8

// The places.
const (
	InSystem Place = iota
	InTools
	InMessages
)

// A StopReason is the reason a response ended.
type StopReason string

// The stop reasons. A provider maps its own to these; unknown ones count as StopEnd.
const (
	StopEnd             StopReason = "end_turn"
	StopTools           StopReason = "tool_use"
	StopMaxTokens       StopReason = "max_tokens"
	StopSequence        StopReason = "stop_sequence"
	StopRefusal         StopReason = "refusal"
	StopPause           StopReason = "pause_turn"
	StopContextExceeded StopReason = "model_context_window_exceeded"
)

// An Event is part of a streamed response. The types below are the only implementations.
type Event interface{ event() }

type (
	// Start opens a response. Model is the model that actually answers.
	Start struct{ ID, Model, RequestID string }

	// TextDelta is additional text of block Block.
	TextDelta struct {
		Block int
		Text  string
	}

	// ThinkingDelta is additional reasoning, or the signature that closes it.
	ThinkingDelta struct {
		Block           int
		Text, Signature string
		// Update is true if the text is a message for the user between tool calls.
		Update bool
	}

	// InputDelta is additional tool input. A block's first delta may be empty.
	InputDelta struct {
		Block          int
		ID, Name, JSON string
	}

	// BlockDone carries a complete block. Blocks complete in order.
	BlockDone struct {
		Block int
		Part  msg.Part
	}

	// Usage is the response's usage so far. A later one replaces an earlier one.
	Usage struct{ msg.Usage }

	// Stop ends the response.
	Stop struct{ Reason StopReason }

	// Retrying announces that a request that failed, or whose answer broke off, is sent again
	// after a wait. Attempt counts the failures so far. Whole is true if the next attempt
	// requests the whole answer without streaming.
	Retrying struct {
		Attempt, Max int
		After        time.Duration
		Err          error
		Whole        bool
	}

	// SearchQuery is the server's current web search query, as far as it has arrived.
	SearchQuery struct{ Query string }

	// SearchResult holds the results of a server search, or the reason it failed. Pages cited by an
	// answer come without a query.
	SearchResult struct {
		Query   string
		Found   []Page
		Failure string // server's error name
	}

	// Raw is the provider's own event, for hosts that request the unaltered stream.
	Raw struct{ JSON []byte }
)

// A Page is a search result.
type Page struct {
	Title, URL, Snippet string
	// Site is the page's host if the URL is a redirect through the server, otherwise empty.
	Site string
}

func (Start) event()         {}
func (TextDelta) event()     {}
func (ThinkingDelta) event() {}
func (InputDelta) event()    {}
func (BlockDone) event()     {}
func (Usage) event()         {}
func (Stop) event()          {}
func (Retrying) event()      {}
func (Raw) event()           {}
func (SearchQuery) event()   {}
func (SearchResult) event()  {}

// As finds the optional capability T on p or on a provider that p wraps. A wrapping provider
// has a method Unwrap() Provider, unless it hides the other's capabilities.
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

// A Retrier is a provider with a retry policy. It does not repeat an answer that broke off,
// since only its reader can withdraw the part already shown, but it decides when the reader may
// retry.
type Retrier interface {
	// Again waits until a request whose answer broke off may be sent again. failures counts the
	// attempts so far, and err is the reason the last one failed. announce is called before
	// each wait. Again returns err if there must not be another attempt, and the cause of ctx
	// if ctx is done.
	Again(ctx context.Context, failures int, err error, announce func(Retrying)) error
}

// A Counter is a provider that can count the tokens of a request without answering it.
type Counter interface {
	CountTokens(ctx context.Context, req *Request) (int, error)
}
