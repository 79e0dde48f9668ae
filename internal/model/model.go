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

	// Search lets the server search the web for the answer, where it can; nil does not.
	Search *Search

	// NoStream asks for the whole answer at once. The events are the same.
	NoStream bool
	// Raw asks for a [Raw] event before each event that it produced.
	Raw bool
	// Omit holds what is left out although it was asked for: the endpoint does not take it.
	Omit Omission
	// Betas are the names of unfinished features of the provider that the user wants to use.
	Betas []string
	// Background marks a side query, which must not add load to an overloaded server.
	Background bool
	// HasFallback says that the caller can turn to another model, so that persistent overload is
	// reported early.
	HasFallback bool
	// UserID identifies the device and session anonymously; empty sends nothing.
	UserID string
	// CacheKey is the same in all requests that begin alike, for a provider that caches by itself; empty sends nothing.
	CacheKey string
}

// Effort is a hint how hard the model should try: low, medium, high, xhigh, max, or empty for its default.
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

// Thinking says whether the model may reason before it answers. The zero value leaves it off.
type Thinking struct {
	Mode ThinkingMode
	// Budget is the number of tokens in mode [ThinkingBudget]. It is below the request's MaxTokens.
	Budget int
	// Display is how the thinking is shown; empty leaves it to the model.
	Display Display
	// Interleaved asks for thinking between tool calls in mode [ThinkingBudget] too.
	Interleaved bool
	// Forgiving asks the server to leave out earlier thinking that it does not accept, instead of an error.
	Forgiving bool
	// Asked says that the user asked for the mode, and wants to know when it cannot be had.
	Asked bool
}

// Display is a way to show thinking.
type Display string

// The ways to show thinking.
const (
	DisplaySummary Display = "summarized"
	// DisplayUpdates shows what the model says between tool calls, as it says it.
	DisplayUpdates Display = "updates"
)

// An Omission is a set of optional parts of a request.
type Omission uint16

// The optional parts.
const (
	OmitStrict   Omission = 1 << iota // tool input held to its schema
	OmitCache                         // all marks
	OmitHour                          // the long lifetime of marks
	OmitThinking                      // thinking, as a whole
	OmitDisplay
	OmitForgiving
	OmitEffort
	OmitFormat
	OmitUserID
	OmitLimit    // the name of the output limit: another is used
	OmitUsage    // the wish for a usage report
	OmitParallel // the wish for several calls in one answer
	OmitReplay   // the model's earlier reasoning
)

// LeastBudget is the smallest thinking budget.
const LeastBudget = 1024

// A ThinkingMode is how thinking is bounded.
type ThinkingMode uint8

// The thinking modes.
const (
	ThinkingOff ThinkingMode = iota
	ThinkingBudget
	ThinkingAdaptive
	// ThinkingDisabled says that the model is not to think, to one that does so unless it is told.
	ThinkingDisabled
	// ThinkingBetweenTools is the least of a model that always thinks: notes between tool calls.
	ThinkingBetweenTools
)

// ToolChoice restricts which tools the model may use. The zero value leaves the choice to it.
type ToolChoice struct {
	// Name is the one tool that must be used, if not empty.
	Name string
}

// A Search says how a server searches the web. It never changes.
type Search struct {
	// Most is how many searches there may be; zero leaves it to the server.
	Most int
	// Allowed are the only domains to find pages at, if there are any; Blocked are those not to. At most one of the two is given.
	Allowed, Blocked []string
	// Must says that the answer has to begin with a search.
	Must bool
}

// A Mark is a place up to which the provider may cache the request.
type Mark struct {
	Place Place
	// Index is the last system block or tool before the mark; messages are marked at the last one only.
	Index int
	// Hour asks for the long lifetime, Global for sharing between users (static text only).
	Hour   bool
	Global bool
	// Branch says that other conversations go on from the results that the messages end with, each with a text of its
	// own: then the mark of the messages goes before that text.
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
		// Update says that the text is for the user: what the model says between tool calls.
		Update bool
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

	// Retrying announces that a request that failed, or whose answer broke off, is sent again after a wait. Attempt counts
	// the failures so far. Whole is set if the next attempt asks for the whole answer at once, without streaming.
	Retrying struct {
		Attempt, Max int
		After        time.Duration
		Err          error
		Whole        bool
	}

	// Searching is what the server is about to look for on the web, as far as it is typed.
	Searching struct{ Query string }

	// Searched is what a search of the server found, or why it failed. What an answer cites comes without a query.
	Searched struct {
		Query   string
		Found   []Page
		Failure string // the server's word for it
	}

	// Raw is the provider's own event, for hosts that ask for the unaltered stream.
	Raw struct{ JSON []byte }
)

// A Page is one that a search has found.
type Page struct {
	Title, URL, Snippet string
	// Site is the host of the page, where the URL leads to it by way of the server; else it is empty.
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
func (Searching) event()     {}
func (Searched) event()      {}

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

// A Retrier is a provider with a retry policy. It does not repeat an answer that broke off, since only its reader can withdraw
// what was shown of it, but it decides when the reader may ask again.
type Retrier interface {
	// Again waits until a request whose answer broke off may be sent again. Failures counts the attempts so far, and err is why
	// the last one failed. Announce is called before each wait. Again returns err if there is to be no other attempt, and the
	// cause of ctx if that ends.
	Again(ctx context.Context, failures int, err error, announce func(Retrying)) error
}

// A Counter is a provider that can count the tokens of a request without answering it.
type Counter interface {
	CountTokens(ctx context.Context, req *Request) (int, error)
}
