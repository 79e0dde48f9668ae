package desk

import (
	"slices"
	"strings"

	"adze/internal/msg"
)

// Said returns the text of a message without the reminders that the program added for the model, and without the
// instructions of a skill that the user called.
func Said(m msg.Message) string {
	texts := slices.DeleteFunc(msg.Typed(m), func(text string) bool { return strings.HasPrefix(text, "[Request interrupted") })
	return strings.TrimSpace(strings.Join(texts, "\n"))
}
