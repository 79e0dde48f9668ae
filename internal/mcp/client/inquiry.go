package client

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"adze/internal/mcp"
)

// An inquiry is a request of ours: what is known of it below the protocol library, which hands on neither the bytes of
// an answer nor how the transport fared. It travels with the context of the request, the only thing that the
// library passes down.
type inquiry struct {
	// instead is what the library gets in place of the answer, which is decoded here; nil leaves it the answer.
	instead json.RawMessage
	// patient says that the transport sets no limit of its own.
	patient bool

	mu      sync.Mutex
	answer  json.RawMessage
	refusal *jsonrpc.Error // in place of an answer
	status  int            // of HTTP, 0 if there was none
	err     error          // of the transport
	// auth says that the user has to sign in. It is kept when the library then greets a server in an older way, which may
	// fail for another reason.
	auth *mcp.AuthError
}

type inquiryKey struct{}

func (q *inquiry) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, inquiryKey{}, q)
}

// inquiryOf returns the inquiry of a request, or nil.
func inquiryOf(ctx context.Context) *inquiry {
	q, _ := ctx.Value(inquiryKey{}).(*inquiry)
	return q
}

// begin forgets what came of an earlier request.
func (q *inquiry) begin() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.answer, q.refusal, q.status, q.err = nil, nil, 0, nil
}

// deny keeps the error that the server answered.
func (q *inquiry) deny(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	errors.As(err, &q.refusal)
}

// refused returns the error that the server answered, or nil.
func (q *inquiry) refused() *jsonrpc.Error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refusal
}

// take keeps an answer and returns what the library gets.
func (q *inquiry) take(result json.RawMessage) json.RawMessage {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.answer = result
	if q.instead == nil || asksForMore(result) {
		return result
	}
	return q.instead
}

// report keeps how the transport fared.
func (q *inquiry) report(status int, err error) {
	if q != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.status, q.err = status, err
		errors.As(err, &q.auth)
	}
}

func (q *inquiry) outcome() (answer json.RawMessage, status int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.answer, q.status, q.err
}

// authError returns the error for a server that wants the user to sign in, if that is what err is about.
func (q *inquiry) authError(err error) *mcp.AuthError {
	var auth *mcp.AuthError
	if errors.As(err, &auth) {
		return auth
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.auth
}
