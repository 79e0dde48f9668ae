package tool

import (
	"context"
	"errors"
)

// An Abort is the cause with which the context of a turn or a call is cancelled. See [context.Cause].
type Abort string

// The reasons to abort.
const (
	AbortUser       Abort = "user"
	AbortNewMessage Abort = "new_message"
	AbortFallback   Abort = "fallback"
	AbortTimeout    Abort = "timeout"
	AbortShutdown   Abort = "shutdown"
	// AbortBroken discards what was started under a response that broke off.
	AbortBroken Abort = "broken_stream"
)

// Error names the reason.
func (a Abort) Error() string { return "aborted: " + string(a) }

// A Withdrawn is the cause with which a question to the user is taken back, in words for the user, such as "the hook has
// ended".
type Withdrawn string

// Error returns the words.
func (w Withdrawn) Error() string { return string(w) }

// AbortReason returns why ctx was cancelled. A cancellation that does not say counts as the user's.
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
