// Package aside asks a model short questions outside a conversation: for a summary, for notes, for a choice. A
// question is bounded in tokens and time, its cost is booked, and a question that keeps failing is given up. The
// questions themselves, and the use of the answers, are left to other packages.
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
	// Book is called with the usage of each question, even if it failed. It may be nil.
	Book func(modelID string, u msg.Usage, took time.Duration)
}

// A Question is one question to a model.
type Question struct {
	Model    string
	System   []msg.Part
	Tools    []msg.ToolSpec
	Messages []msg.Message // see [About]
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
}

// DefaultTimeout is the time limit of a question that sets none.
const DefaultTimeout = 5 * time.Minute

// About returns the messages of a question about a conversation: its messages, without reasoning, and then the
// question.
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
	began := time.Now()
	acc, err := a.stream(bounded, q)
	if u := acc.Usage(); a.Book != nil && (err == nil || u != msg.Usage{}) {
		a.Book(q.Model, u, time.Since(began))
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

func (a *Asker) stream(ctx context.Context, q Question) (acc model.Accumulator, err error) {
	for ev, err := range a.Provider.Stream(ctx, &model.Request{
		Model: q.Model, System: q.System, Tools: q.Tools, Messages: q.Messages,
		MaxTokens: q.MaxTokens, Format: q.Format, Background: !q.Awaited, UserID: q.UserID,
	}) {
		if err != nil {
			return acc, err
		}
		acc.Add(ev)
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
