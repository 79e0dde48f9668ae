package brief

import (
	"strings"

	"adze/internal/instruct"
	"adze/internal/msg"
	"adze/internal/platform/texts"
)

// Opening returns what goes before the first message of a conversation: instructions, the index of memories
// and the date. The text of a file cannot pass for anything else.
func Opening(l texts.Language, files []instruct.File, index, date string) []msg.Part {
	pieces := []string{say(l, "context")}
	if len(files) > 0 {
		pieces = append(pieces, say(l, "context.instructions"))
	}
	for _, f := range files {
		pieces = append(pieces, contents(l, f))
	}
	if index != "" {
		pieces = append(pieces, index)
	}
	pieces = append(pieces, say(l, "context.date", date))
	return []msg.Part{msg.Reminder(strings.Join(pieces, "\n\n"))}
}

// contents returns a file with what it is.
func contents(l texts.Language, f instruct.File) string {
	label := say(l, "context.file", f.Path, say(l, "kind."+strings.ToLower(f.Kind.String())))
	if f.Parent != "" {
		label = say(l, "context.included", f.Path, f.Parent)
	}
	return msg.Neutralise(label + "\n\n" + f.Text)
}

// found returns what the model is told about instructions that come into force while it works, or "" if
// there are none.
func found(l texts.Language, files []instruct.File) string {
	if len(files) == 0 {
		return ""
	}
	pieces := []string{say(l, "attach.found")}
	for _, f := range files {
		pieces = append(pieces, contents(l, f))
	}
	return strings.Join(pieces, "\n\n")
}

// changed returns what the model is told about an instruction file that was changed, added or removed.
func changed(l texts.Language, c instruct.Change) string {
	switch {
	case c.Gone:
		return msg.Neutralise(say(l, "attach.removed", c.Path))
	case c.Reason == instruct.Again:
		return msg.Neutralise(say(l, "attach.changed", c.Path) + "\n\n" + c.Text)
	}
	return found(l, []instruct.File{c.File})
}

// newDate returns what the model is told when the date has changed.
func newDate(l texts.Language, date string) string { return say(l, "attach.date", date) }
