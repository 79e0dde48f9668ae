// Package aside asks a model short questions outside a conversation: for a summary, for notes, for a choice. A
// question is bounded in tokens and time, its cost is booked, and a question that keeps failing is given up. The
// questions themselves, but for those of a [Describer], and the use of the answers are left to other packages.
package aside

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

// An Asker asks the models of a provider. It is safe for concurrent use if Book is.
type Asker struct {
	Provider model.Provider
	// Book is called with the purpose and the usage of each question, even if it failed. It may be nil.
	Book func(purpose, modelID string, u msg.Usage, took time.Duration)
}

// A Question is one question to a model.
type Question struct {
	// Purpose is what the question is for, as the user reads it in the account of costs.
	Purpose  string
	Model    string
	System   []msg.Part
	Tools    []msg.ToolSpec
	Messages []msg.Message // see [About]
	// Effort, Thinking, Cache and Passing are those of the request; see [Conversation.Question].
	Effort   model.Effort
	Thinking model.Thinking
	Cache    []model.Mark
	Passing  int
	// MaxTokens bounds the answer.
	MaxTokens int
	// Timeout bounds the time, including retries; 0 means [DefaultTimeout].
	Timeout time.Duration
	// Format is the JSON Schema of the answer; nil leaves its text free.
	Format json.RawMessage
	// Awaited says that the user waits for the answer. Other questions are not retried when the server is
	// overloaded.
	Awaited bool
	UserID  string
	// Search is that of the request, and Hear is told each event of the answer; both may be nil.
	Search *model.Search
	Hear   func(model.Event)
}

// DefaultTimeout is the time limit of a question that sets none.
const DefaultTimeout = 5 * time.Minute

// A Conversation is what a model has been told and has said: the last request that it answered, or the one that
// comes next, and what was said since.
type Conversation struct {
	Request *model.Request
	Since   []msg.Message
}

// thinkingRoom is what an answer may have for reasoning, where the model decides itself how much that is, in
// tokens.
const thinkingRoom = 8_000

// Question returns a question about the conversation. It sends what the request sent and appends the rest, so
// that the provider finds in its cache what the request has put there, and is asked to keep nothing more. Its
// tools are part of that: the text has to say that none may be called. The answer has at most maxTokens beside
// reasoning.
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
	switch r.Thinking.Mode { // a cache is of no use to a request that thinks otherwise
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

// About returns the messages of a question about a conversation that is sent in another form than before:
// what was said, without reasoning, and then the question.
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

// Ask sends a question and returns the whole answer. When ctx is done its cause is returned.
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

// unawaited is how often a question is asked that no one waits for, if its answers break off.
const unawaited = 3

// repeats reports whether the question is asked again after so many failures: its answer broke off, and no one has heard of it.
func (q *Question) repeats(failures int, err error) bool {
	var e *model.Error
	return errors.As(err, &e) && e.Kind == model.Broken && !e.Lasting && q.Hear == nil && (q.Awaited || failures < unawaited)
}

// again waits until a question may be asked again, and reports whether it may.
func (a *Asker) again(ctx context.Context, failures int, err error) bool {
	p, ok := model.As[model.Retrier](a.Provider)
	return ok && p.Again(ctx, failures, err, func(model.Retrying) {}) == nil
}

// attempt asks once and books the cost.
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
		MaxTokens: q.MaxTokens, Format: q.Format, Background: !q.Awaited, UserID: q.UserID, Search: q.Search,
	}) {
		if err != nil {
			return acc, err
		}
		acc.Add(ev)
		if q.Hear != nil {
			q.Hear(ev)
		}
	}
	return acc, nil
}

// An Answer is the answer of a model, and why it stopped.
type Answer struct {
	msg.Message
	Stop model.StopReason
}

// ErrUnusable is the error for an answer of the wrong form.
var ErrUnusable = errors.New("the model's answer cannot be used")

// Words returns an answer that is text alone, complete and not blank, without white space around it. Other answers are [ErrUnusable], or a
// [*model.Error] if the model refused or the question did not fit.
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

// Failures counts how often in a row a background question failed. The zero value is ready; it is
// not safe for concurrent use.
type Failures int

// maxFailures is how many failures in a row are too many.
const maxFailures = 3

// Count records an attempt; err is nil if it succeeded.
func (f *Failures) Count(err error) {
	if err == nil {
		*f = 0
	} else {
		*f++
	}
}

// TooMany reports whether the question should no longer be asked.
func (f Failures) TooMany() bool { return f >= maxFailures }
