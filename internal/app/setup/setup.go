// Package setup defines the error for an invocation or a set-up that is wrong: nothing was run, and the
// text says what to do about it. The program ends with an exit code of its own for it.
package setup

import "fmt"

// An Error says why nothing was run, and what to do about it.
type Error struct {
	Text string
	err  error // that it stands for, or nil
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.err }

// Wrap returns err as an [Error] with the same text.
func Wrap(err error) error { return &Error{err.Error(), err} }

// Errorf returns an [Error].
func Errorf(format string, args ...any) error { return &Error{Text: fmt.Sprintf(format, args...)} }
