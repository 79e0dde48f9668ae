package tool

import (
	"context"
	"errors"

	"adze/internal/msg"
)

// A Gate stands between a bound call and its execution: hooks, permissions, plan mode. It adds its
// verdict to the use; an error is a verdict of deny. Gates run one at a time, in order.
type Gate interface {
	Before(ctx context.Context, u *Use) error
}

// An After gate sees the result before it is recorded: post-tool hooks, redaction. An error is
// reported to the person and leaves the result as it is.
type After interface {
	After(ctx context.Context, u *Use, r *Result) error
}

// A Use is a tool use on its way to execution. A gate that rewrites the input binds it again with
// Tool and replaces Call.
type Use struct {
	msg.ToolUse
	Tool    Tool
	Call    Call
	Verdict Verdict
}

// A Verdict accumulates what the gates decided.
type Verdict struct {
	Decision Decision
	By       string // who decided: a rule, a mode, a hook, the user
	Reason   string
	// Rejected says that a person refused: later calls of the message that run alone are not tried.
	Rejected bool
	// Context is added to the conversation after the result.
	Context []msg.Part
	// Stop, if not empty, ends the turn after this message's calls, with this reason.
	Stop string
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

var errMatcherPanicked = errors.New("the tool's matcher panicked")
