package regex

import (
	"fmt"
	"unicode/utf8"
)

// An Error describes a mistake in a pattern, its position, and a suggestion.
type Error struct {
	Pattern string
	Offset  int    // position of the first offending byte
	Part    string // offending part of the pattern
	Message string
	Hint    string // suggestion; may be empty
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
