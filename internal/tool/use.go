package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"adze/internal/msg"
)

// A Gate stands between a bound call and its execution: hooks, permissions, plan mode. It adds its
// verdict to the use; an error is a verdict of deny. Gates run one at a time, in order.
type Gate interface {
	Before(ctx context.Context, u *Use) error
}

// An After gate sees the result before it is recorded: post-tool hooks, redaction. An error is
// reported to the user and leaves the result as it is.
type After interface {
	After(ctx context.Context, u *Use, r *Result) error
}

// A Use is a tool use on its way to execution. A gate changes its input with [Use.Rewrite] and shows
// others what [ObservedInput] makes of Call; the message keeps the model's own bytes.
type Use struct {
	msg.ToolUse
	Tool    Tool
	Call    Call
	Verdict Verdict
}

type useKey struct{}

// WithUse returns ctx as that of the use with an id.
func WithUse(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, useKey{}, id)
}

// UseOf returns the id of the use that a call runs for, or "".
func UseOf(ctx context.Context) string {
	id, _ := ctx.Value(useKey{}).(string)
	return id
}

// Rewrite replaces the input by one that is checked like the model's own. An input that does not fit
// leaves the use as it was; the error, which the gate returns, names by as the one who wrote it.
func (u *Use) Rewrite(by string, input json.RawMessage) error {
	c, err := u.Tool.Bind(input)
	if err != nil {
		return fmt.Errorf("%s rewrote the input of %s into one that cannot be used: %w", by, u.Name, err)
	}
	u.Input, u.Call = input, c
	return nil
}

// A Verdict accumulates what the gates decided.
type Verdict struct {
	Decision Decision
	By       string // who decided: a rule, a hook, a host; may be empty
	// Reason is why, for users and models alike. If the user rejected the call it is what they said, as they said it.
	Reason string
	// Advice is what the model should do about a refusal; empty means no more than not to repeat the call.
	Advice string
	// Rejected says that the user refused: later calls of the message that run alone are not tried, and with Stop
	// none are.
	Rejected bool
	// HookAllow names the hook that allows the call, or is empty. It decides nothing by itself: the
	// permission engine takes it for a rule that allows the whole tool.
	HookAllow string
	// Failure is why the call would fail, whatever is decided; nil if that is not known. Then nothing is decided.
	Failure error
	// Remedy is the flag with which the user could have allowed the call, or empty.
	Remedy string
	// Context is added to the conversation after the result.
	Context []msg.Part
	// Stop, if not empty, ends the turn after this message's calls, with this reason.
	Stop string
	// Tripped is set if Stop is because too many calls were refused, and not because someone wants it.
	Tripped bool
}

// A Decision is what a gate wants. Decisions only get stricter: see [Verdict.Decide].
type Decision uint8

// The decisions. A use that no gate allowed is not run.
const (
	Undecided Decision = iota
	Allow
	Ask
	Deny
)

// Decide records d unless something stricter was decided already.
func (v *Verdict) Decide(d Decision, by, reason string) {
	if d > v.Decision {
		v.Decision, v.By, v.Reason = d, by, reason
	}
}

// Fatal marks err as one that ends the run instead of being shown to the model.
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

// An InputError says that an input does not fit the schema: no code of the tool has seen it.
type InputError struct{ Err error }

// Error returns the text for the model.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

var errMatcherPanicked = errors.New("the tool's matcher panicked")
