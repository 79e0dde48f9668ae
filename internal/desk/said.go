package desk

import (
	"strings"

	"adze/internal/msg"
)

// Said returns the text of a message without the reminders that the program added for the model.
func Said(m msg.Message) string {
	var texts []string
	for _, part := range m.Parts {
		t, ok := part.(*msg.Text)
		_, reminded := msg.Reminded(part)
		if ok && !reminded && !strings.HasPrefix(t.Text, "[Request interrupted") {
			texts = append(texts, t.Text)
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}
