// Package setup defines the error for an invalid invocation or configuration: nothing was run,
// and the text contains a remedy. It has its own exit code.
package setup

import "fmt"

// An Error explains why nothing was run, with a remedy.
type Error struct {
	Text string
	err  error // wrapped error, or nil
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.err }

// Wrap returns err as an [Error] with the same text.
func Wrap(err error) error { return &Error{err.Error(), err} }

// Errorf returns an [Error].
func Errorf(format string, args ...any) error { return &Error{Text: fmt.Sprintf(format, args...)} }
