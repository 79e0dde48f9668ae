package prompt

import (
	"strings"

	"adze/internal/instruct"
	"adze/internal/msg"
)

// Context returns what goes before the first message of a conversation: instructions, what [Index] says of
// memories, what has arrived, and the date. Text of files cannot pass for anything but itself.
func Context(l Language, files []instruct.File, index, date string, arrived ...Arrival) []msg.Part {
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
	if text := Announce(l, nil, arrived); text != "" {
		pieces = append(pieces, text)
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

// Found returns what the model is told about instructions that come into force while it works, or nothing
// if there are none.
func Found(l Language, files []instruct.File) string {
	if len(files) == 0 {
		return ""
	}
	pieces := []string{l.say("attach.found")}
	for _, f := range files {
		pieces = append(pieces, contents(l, f))
	}
	return strings.Join(pieces, "\n\n")
}

// Changed returns what the model is told about instructions that are not what they were.
func Changed(l Language, c instruct.Change) string {
	switch {
	case c.Gone:
		return msg.Neutralise(l.say("attach.removed", c.Path))
	case c.Reason == instruct.Again:
		return msg.Neutralise(l.say("attach.changed", c.Path) + "\n\n" + c.Text)
	}
	return Found(l, []instruct.File{c.File})
}

// Date returns what the model is told when the date is another one than it was told before.
func Date(l Language, date string) string { return l.say("attach.date", date) }
