// Package sidequery sends a model short questions outside a conversation, for example for a summary
// or a choice. A question is limited in tokens and time and its cost is recorded; callers can
// give up on a question that keeps failing.
package sidequery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/internal/model"
	"adze/internal/msg"
)

// An Asker sends questions to a provider's models. It is safe for concurrent use if Book is.
type Asker struct {
	Provider model.Provider
	// Book, if non-nil, is called with the purpose and usage of each question, even if it
	// failed.
	Book func(purpose, modelID string, u msg.Usage, took time.Duration)
}

// A Question is one question to a model.
type Question struct {
	// Purpose describes the question in the user's cost report.
	Purpose  string
	Model    string
	System   []msg.Part
	Tools    []msg.ToolSpec
	Messages []msg.Message // see [About]
	// Effort, Thinking, Cache and Passing are copied from the request; see
	// [Conversation.Question].
	Effort   model.Effort
	Thinking model.Thinking
	Cache    []model.Mark
	Passing  int
	// MaxTokens limits the answer's length.
	MaxTokens int
	// Timeout limits the total time, including retries; 0 means [DefaultTimeout].
	Timeout time.Duration
	// Format is the answer's JSON Schema. If nil, the answer is free text.
	Format json.RawMessage
	// Interactive is true if the user is waiting for the answer. Other questions are not retried
	// when the server is overloaded.
	Interactive bool
	UserID      string
	// Search is copied from the request. Hear is called with each event of the answer. Both may
	// be nil.
	Search  *model.Search
	OnEvent func(model.Event)
}

// DefaultTimeout applies to questions without a Timeout.
const DefaultTimeout = 5 * time.Minute

// A Conversation is the context of a question: the last answered request, or the next one, and
// the messages since.
type Conversation struct {
	Request *model.Request
	Since   []msg.Message
}

// thinkingRoom is the number of extra output tokens for reasoning when the model decides how
// much to think.
const thinkingRoom = 8_000

// Question returns a question about the conversation. It repeats the request and appends to it,
// so that the provider can use its cached prefix; nothing more is cached. The tools are part of
// that prefix, so the text must forbid calling them. The answer has at most maxTokens, not
// counting reasoning.
func (c Conversation) Question(text string, maxTokens int) Question {
	r := c.Request
	var conv msg.Conversation
	before := 0
	for _, m := range r.Messages {
		conv.Add(m)
		before += len(m.Parts)
	}
	for _, m := range c.Since {
		conv.Add(m)
	}
	conv.Add(msg.UserText(text))
	messages, _ := conv.Messages()
	all := 0
	for _, m := range messages {
		all += len(m.Parts)
	}
	switch r.Thinking.Mode { // the cache is keyed by the thinking mode
	case model.ThinkingBudget:
		maxTokens = min(maxTokens+r.Thinking.Budget, r.MaxTokens)
	case model.ThinkingAdaptive:
		maxTokens = max(maxTokens, min(maxTokens+thinkingRoom, r.MaxTokens))
	}
	return Question{
		Model: r.Model, System: r.System, Tools: r.Tools, Messages: messages, Effort: r.Effort, Thinking: r.Thinking,
		Cache: r.Cache, Passing: all - before, MaxTokens: maxTokens, UserID: r.UserID,
	}
}

// About returns the messages for a question about a conversation that can't be sent in its
// original form: the messages without reasoning, then the question.
func About(said []msg.Message, question string) []msg.Message {
	var conv msg.Conversation
	for _, m := range said {
		if m.Role == msg.Assistant {
			m.Parts = msg.WithoutThinking(m.Parts)
		}
		conv.Add(m)
	}
	conv.Add(msg.UserText(question))
	messages, _ := conv.Messages()
	return messages
}

// Ask sends a question and returns the complete answer. If ctx is done, it returns the
// context's cause.
func (a *Asker) Ask(ctx context.Context, q Question) (*Answer, error) {
	limit := q.Timeout
	if limit == 0 {
		limit = DefaultTimeout
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	acc, err := a.attempt(bounded, q)
	for failures := 1; q.repeats(failures, err) && a.again(bounded, failures, err); failures++ {
		acc, err = a.attempt(bounded, q)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case bounded.Err() != nil:
		return nil, fmt.Errorf("the model did not answer within %v", limit)
	case err != nil:
		return nil, err
	}
	stop, _ := acc.Stop()
	return &Answer{acc.Message(), stop}, nil
}

// unawaited is the maximum number of attempts for a question nobody waits for, if its answers
// break off.
const unawaited = 3

// repeats reports whether to repeat the question after so many failures: its answer broke off
// before anyone saw any of it.
func (q *Question) repeats(failures int, err error) bool {
	var e *model.Error
	return errors.As(err, &e) && e.Kind == model.Broken && !e.Lasting && q.OnEvent == nil && (q.Interactive || failures < unawaited)
}

// again waits until the question may be repeated and reports whether it may.
func (a *Asker) again(ctx context.Context, failures int, err error) bool {
	p, ok := model.As[model.Retrier](a.Provider)
	return ok && p.Again(ctx, failures, err, func(model.Retrying) {}) == nil
}

// attempt sends the question once and records its cost.
func (a *Asker) attempt(ctx context.Context, q Question) (model.Accumulator, error) {
	began := time.Now()
	acc, err := a.stream(ctx, q)
	if u := acc.Usage(); a.Book != nil && (err == nil || u != msg.Usage{}) {
		a.Book(q.Purpose, q.Model, u, time.Since(began))
	}
	return acc, err
}

func (a *Asker) stream(ctx context.Context, q Question) (acc model.Accumulator, err error) {
	for ev, err := range a.Provider.Stream(ctx, &model.Request{
		Model: q.Model, System: q.System, Tools: q.Tools, Messages: q.Messages,
		Effort: q.Effort, Thinking: q.Thinking, Cache: q.Cache, Passing: q.Passing,
		MaxTokens: q.MaxTokens, Format: q.Format, Background: !q.Interactive, UserID: q.UserID, Search: q.Search,
	}) {
		if err != nil {
			return acc, err
		}
		acc.Add(ev)
		if q.OnEvent != nil {
			q.OnEvent(ev)
		}
	}
	return acc, nil
}

// An Answer is a model's answer and its stop reason.
type Answer struct {
	msg.Message
	Stop model.StopReason
}

// ErrUnusable is returned for an answer of the wrong form.
var ErrUnusable = errors.New("the model's answer cannot be used")

// Words returns the trimmed text of a complete, non-blank answer that is only text. Otherwise
// it returns [ErrUnusable], or a [*model.Error] if the model refused or the question did not
// fit.
func (a *Answer) Words() (string, error) {
	text := strings.TrimSpace(a.Text())
	switch {
	case len(a.Uses()) > 0:
		return "", fmt.Errorf("%w: it calls tools", ErrUnusable)
	case a.Stop == model.StopRefusal:
		return "", &model.Error{Kind: model.Refused}
	case a.Stop == model.StopContextExceeded:
		return "", &model.Error{Kind: model.TooLong}
	case a.Stop == model.StopMaxTokens:
		return "", fmt.Errorf("%w: it was cut off", ErrUnusable)
	case text == "":
		return "", fmt.Errorf("%w: it is empty", ErrUnusable)
	}
	return text, nil
}

// Failures counts consecutive failures of a background question. The zero value is ready; it is
// not safe for concurrent use.
type Failures int

// maxFailures is the number of consecutive failures after which to give up.
const maxFailures = 3

// Count records an attempt; err is nil if it succeeded.
func (f *Failures) Count(err error) {
	if err == nil {
		*f = 0
	} else {
		*f++
	}
}

// TooMany reports whether to give up on the question.
func (f Failures) TooMany() bool { return f >= maxFailures }
