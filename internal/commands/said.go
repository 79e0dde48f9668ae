package commands

import (
	"encoding/json"
	"slices"
	"strings"

	"adze/internal/msg"
	"adze/internal/tool"
)

// MessageText returns the text of a message without reminders added for the model, and without the
// instructions of a skill the user called.
func MessageText(m msg.Message) string {
	texts := slices.DeleteFunc(msg.TypedTexts(m), func(text string) bool { return strings.HasPrefix(text, "[Request interrupted") })
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// Recent returns the end of an earlier conversation, from the third-to-last user message on,
// limited to the last entries.
func Recent(said []msg.Entry) []msg.Entry {
	const turns, most = 3, 60
	prompts, from := 0, len(said)
	for i := len(said) - 1; i >= 0 && prompts < turns && len(said)-i <= most; i-- {
		from = i
		if e := said[i]; e.Message.Role == msg.User && !e.Hidden && MessageText(e.Message) != "" {
			prompts++
		}
	}
	return said[from:]
}

// CallLines returns a line for each call in a message: the tool and its main argument.
func CallLines(m msg.Message) (lines []string) {
	for _, p := range m.Parts {
		use, ok := p.(*msg.ToolUse)
		if !ok {
			continue
		}
		var in map[string]any
		json.Unmarshal(use.Input, &in) // ok: then only the name is shown
		line := use.Name
		for _, name := range [...]string{"command", "file_path", "notebook_path", "path", "pattern", "url", "query", "description", "subject", "skill"} {
			if text, ok := in[name].(string); ok && text != "" {
				line += " " + text
				break
			}
		}
		lines = append(lines, tool.OneLine(line, maxCalled))
	}
	return lines
}

// maxCalled is the maximum length of a line about a call.
const maxCalled = 90
