// Package setup defines the error for an invocation or a set-up that is wrong: nothing was run, and the
// text says what to do about it. The program ends with an exit code of its own for it.
package setup

import "fmt"

// An Error says why nothing was run, and what to do about it.
type Error struct{ Text string }

func (e *Error) Error() string { return e.Text }

// Errorf returns an [Error].
func Errorf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }
