package msg

import (
	"strings"
	"unicode"
)

// reminderTag is the element that encloses text from adze inside a user message.
const reminderTag = "system-reminder"

// Reminder returns text that is addressed to the model by adze rather than the user.
func Reminder(text string) *Text {
	return &Text{Text: "<" + reminderTag + ">\n" + text + "\n</" + reminderTag + ">"}
}

// ReminderText returns the content of p if it is a [Reminder].
func ReminderText(p Part) (text string, ok bool) {
	t, ok := p.(*Text)
	if !ok || !strings.HasPrefix(t.Text, "<"+reminderTag+">") {
		return "", false
	}
	text = strings.TrimSuffix(t.Text[len(reminderTag)+2:], "\n</"+reminderTag+">")
	return strings.TrimPrefix(text, "\n"), true
}

// Neutralise returns untrusted text with any reminder tags escaped, so that nothing in it can
// pass for a [Reminder]. Only the tags are escaped, visibly; all other bytes are unchanged.
func Neutralise(text string) string {
	if !hasTagName(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '<' && startsTag(text[i+1:]) {
			b.WriteString("&lt;")
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// startsTag reports whether s, which follows a '<', starts with the reminder tag's name,
// ignoring white space, a slash and case.
func startsTag(s string) bool {
	s = strings.TrimLeftFunc(s, func(r rune) bool { return r == '/' || unicode.IsSpace(r) })
	return len(s) >= len(reminderTag) && strings.EqualFold(s[:len(reminderTag)], reminderTag)
}

func hasTagName(s string) bool {
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			return false
		}
		if s = s[i+1:]; startsTag(s) {
			return true
		}
	}
}
