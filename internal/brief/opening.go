package brief

import (
	"strings"

	"adze/internal/instruct"
	"adze/internal/msg"
)

// Opening returns what goes before the first message of a conversation: instructions, the index of memories
// and the date. The text of a file cannot pass for anything else.
func Opening(l Language, files []instruct.File, index, date string) []msg.Part {
	pieces := []string{l.say("context")}
	if len(files) > 0 {
		pieces = append(pieces, l.say("context.instructions"))
	}
	for _, f := range files {
		pieces = append(pieces, contents(l, f))
	}
	if index != "" {
		pieces = append(pieces, index)
	}
	pieces = append(pieces, l.say("context.date", date))
	return []msg.Part{msg.Reminder(strings.Join(pieces, "\n\n"))}
}

// contents returns a file with what it is.
func contents(l Language, f instruct.File) string {
	label := l.say("context.file", f.Path, l.say("kind."+strings.ToLower(f.Kind.String())))
	if f.Parent != "" {
		label = l.say("context.included", f.Path, f.Parent)
	}
	return msg.Neutralise(label + "\n\n" + f.Text)
}

// found returns what the model is told about instructions that come into force while it works, or "" if
// there are none.
func found(l Language, files []instruct.File) string {
	if len(files) == 0 {
		return ""
	}
	pieces := []string{l.say("attach.found")}
	for _, f := range files {
		pieces = append(pieces, contents(l, f))
	}
	return strings.Join(pieces, "\n\n")
}

// changed returns what the model is told about an instruction file that was changed, added or removed.
func changed(l Language, c instruct.Change) string {
	switch {
	case c.Gone:
		return msg.Neutralise(l.say("attach.removed", c.Path))
	case c.Reason == instruct.Again:
		return msg.Neutralise(l.say("attach.changed", c.Path) + "\n\n" + c.Text)
	}
	return found(l, []instruct.File{c.File})
}

// newDate returns what the model is told when the date has changed.
func newDate(l Language, date string) string { return l.say("attach.date", date) }
