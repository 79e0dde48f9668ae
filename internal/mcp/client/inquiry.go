package client

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"adze/internal/mcp"
)

// A requestState tracks a client request below the SDK, which exposes neither a response's bytes
// nor transport errors. It is passed in the request's context, the only value that the SDK
// passes down.
type requestState struct {
	// instead, if non-nil, is given to the SDK in place of the response, which is decoded here.
	instead json.RawMessage
	// patient disables the transport's own timeout.
	patient bool

	mu      sync.Mutex
	answer  json.RawMessage
	refusal *jsonrpc.Error // error response
	status  int            // HTTP status, 0 if none
	err     error          // transport error
	// auth is set if the user must sign in. It is kept when the SDK then retries with an older
	// protocol, which may fail for another reason.
	auth *mcp.AuthError
}

type requestStateKey struct{}

func (q *requestState) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestStateKey{}, q)
}

// requestStateOf returns a request's inquiry, or nil.
func requestStateOf(ctx context.Context) *requestState {
	q, _ := ctx.Value(requestStateKey{}).(*requestState)
	return q
}

// begin clears the results of an earlier request.
func (q *requestState) begin() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.answer, q.refusal, q.status, q.err = nil, nil, 0, nil
}

// deny stores the server's error response.
func (q *requestState) deny(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	errors.As(err, &q.refusal)
}

// refused returns the server's error response, or nil.
func (q *requestState) refused() *jsonrpc.Error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refusal
}

// take stores a response and returns the one for the SDK.
func (q *requestState) take(result json.RawMessage) json.RawMessage {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.answer = result
	if q.instead == nil || asksForMore(result) {
		return result
	}
	return q.instead
}

// report stores the transport's result.
func (q *requestState) report(status int, err error) {
	if q != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.status, q.err = status, err
		errors.As(err, &q.auth)
	}
}

func (q *requestState) outcome() (answer json.RawMessage, status int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.answer, q.status, q.err
}

// authError returns err's AuthError, or the stored one, if the server requires a sign-in.
func (q *requestState) authError(err error) *mcp.AuthError {
	var auth *mcp.AuthError
	if errors.As(err, &auth) {
		return auth
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.auth
}
