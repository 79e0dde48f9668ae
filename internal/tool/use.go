package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"adze/internal/msg"
)

// A Gate is called between binding and executing a call: hooks, permissions, plan mode. It adds
// its verdict to the use; an error means deny. Gates run one at a time, in order.
type Gate interface {
	Before(ctx context.Context, u *Use) error
}

// An After gate sees the result before it is recorded: post-tool hooks, redaction. An error is
// reported to the user and leaves the result unchanged.
type After interface {
	After(ctx context.Context, u *Use, r *Result) error
}

// A Use is a tool use on its way to execution. A gate changes its input with [Use.Rewrite] and
// shows others the [ObservedInput] of Call; the message keeps the model's own bytes.
type Use struct {
	msg.ToolUse
	Tool    Tool
	Call    Call
	Verdict Verdict
}

type useKey struct{}

// WithUse returns a context for the use with the ID.
func WithUse(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, useKey{}, id)
}

// UseOf returns the ID of the use that a call runs for, or "".
func UseOf(ctx context.Context) string {
	id, _ := ctx.Value(useKey{}).(string)
	return id
}

// Rewrite replaces the input after checking it like the model's own. If the new input does not
// fit, the use is unchanged, and the error, which the gate returns, names by as its author.
func (u *Use) Rewrite(by string, input json.RawMessage) error {
	c, err := u.Tool.Bind(input)
	if err != nil {
		return fmt.Errorf("%s rewrote the input of %s, but the new input is invalid: %w", by, u.Name, err)
	}
	u.Input, u.Call = input, c
	return nil
}

// A Verdict accumulates the gates' decisions.
type Verdict struct {
	Decision Decision
	By       string // decider: a rule, a hook or a host; may be empty
	// Reason is for users and models alike. If the user rejected the call, it is the user's
	// message, verbatim.
	Reason string
	// Advice tells the model how to react to a refusal; empty means only not to repeat the
	// call.
	Advice string
	// Rejected means that the user refused: later calls of the message that run alone are
	// skipped, and with Stop all are.
	Rejected bool
	// HookAllow names the hook that allows the call, or is empty. It decides nothing by itself:
	// the permission engine treats it like a rule that allows the whole tool.
	HookAllow string
	// Failure is the reason the call would fail regardless of the decision; nil if unknown. If
	// it is set, nothing is decided.
	Failure error
	// Remedy is the flag with which the user could have allowed the call, or empty.
	Remedy string
	// Context is added to the conversation after the result.
	Context []msg.Part
	// Stop, if not empty, ends the turn after this message's calls, with this reason.
	Stop string
	// Tripped means that Stop is due to too many refused calls, not to a request.
	Tripped bool
}

// A Decision is a gate's decision. Decisions only get stricter: see [Verdict.Decide].
type Decision uint8

// The decisions. A use that no gate allowed is not run.
const (
	Undecided Decision = iota
	Allow
	Ask
	Deny
)

// Decide records d unless a stricter decision was recorded already.
func (v *Verdict) Decide(d Decision, by, reason string) {
	if d > v.Decision {
		v.Decision, v.By, v.Reason = d, by, reason
	}
}

// Fatal marks err as ending the run instead of being shown to the model.
func Fatal(err error) error { return &fatalError{err} }

// IsFatal reports whether err ends the run.
func IsFatal(err error) bool {
	var f *fatalError
	return errors.As(err, &f)
}

type fatalError struct{ err error }

func (f *fatalError) Error() string { return f.err.Error() }
func (f *fatalError) Unwrap() error { return f.err }

// An Error is an error for the model with a code from the tool's contract.
type Error struct {
	Code int
	Text string
}

// Error returns the text for the model.
func (e *Error) Error() string { return e.Text }

// An InputError is returned if an input does not fit the schema: the tool's code has not seen
// it.
type InputError struct{ Err error }

// Error returns the text for the model.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

var errMatcherPanicked = errors.New("the tool's matcher panicked")
