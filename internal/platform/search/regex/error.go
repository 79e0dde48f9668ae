package regex

import (
	"fmt"
	"unicode/utf8"
)

// An Error says what is wrong with a pattern, where, and what to write instead.
type Error struct {
	Pattern string
	Offset  int    // of the byte where the trouble begins
	Part    string // of the pattern, that the trouble is about
	Message string
	Hint    string // what to do next; may be empty
}

func (e *Error) Error() string {
	place := utf8.RuneCountInString(e.Pattern[:e.Offset]) + 1
	text := fmt.Sprintf("bad pattern at character %d", place)
	if e.Part != "" {
		text += fmt.Sprintf(" (%s)", e.Part)
	}
	text += ": " + e.Message
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}
