package tool

import (
	"context"
	"errors"
)

// An Abort is the cause of canceling a turn's or call's context. See [context.Cause].
type Abort string

// The reasons to abort.
const (
	AbortUser       Abort = "user"
	AbortNewMessage Abort = "new_message"
	AbortFallback   Abort = "fallback"
	AbortTimeout    Abort = "timeout"
	AbortShutdown   Abort = "shutdown"
	// AbortBroken discards calls started by a response that broke off.
	AbortBroken Abort = "broken_stream"
)

// Error names the reason.
func (a Abort) Error() string { return "aborted: " + string(a) }

// A Withdrawal is the cause of withdrawing a question to the user, as a message for the user,
// such as "the hook has ended".
type Withdrawal string

// Error returns the message.
func (w Withdrawal) Error() string { return string(w) }

// AbortReason returns the reason ctx was canceled. A cancellation without a reason counts as
// the user's.
func AbortReason(ctx context.Context) Abort {
	cause := context.Cause(ctx)
	var a Abort
	switch {
	case errors.As(cause, &a):
		return a
	case errors.Is(cause, context.DeadlineExceeded):
		return AbortTimeout
	}
	return AbortUser
}
