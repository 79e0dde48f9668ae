package commands

import (
	"slices"
	"strings"

	"adze/internal/msg"
)

// MessageText returns the text of a message without reminders added for the model, and without the
// instructions of a skill the user called.
func MessageText(m msg.Message) string {
	texts := slices.DeleteFunc(msg.TypedTexts(m), func(text string) bool { return strings.HasPrefix(text, "[Request interrupted") })
	return strings.TrimSpace(strings.Join(texts, "\n"))
}
