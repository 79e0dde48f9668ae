package msg

import "strings"

// Markers for text in a user message that the user did not type.
const (
	pipedBegin, pipedEnd = "<stdin>\n", "\n</stdin>\n\n"
	ranBegin             = "I ran this command:\n\n$ "
)

// WithPipedInput returns prompt preceded by text piped to the program's stdin.
func WithPipedInput(text, prompt string) string {
	return pipedBegin + strings.TrimRight(text, "\n") + pipedEnd + prompt
}

// CommandMessage returns the user message for a command that the user ran, with its output.
func CommandMessage(command, output string) string { return ranBegin + command + "\n" + output }

// RanCommand splits a [CommandMessage]. A command of several lines cannot be told from its
// output; then the first line counts as the command.
func RanCommand(text string) (command, output string, ok bool) {
	rest, ok := strings.CutPrefix(text, ranBegin)
	command, output, _ = strings.Cut(rest, "\n")
	return command, output, ok
}

// OwnText returns the part of text that the user wrote, as far as it can be determined: without
// piped input and without command output.
func OwnText(text string) string {
	if strings.HasPrefix(text, pipedBegin) {
		i := strings.LastIndex(text, pipedEnd) // piped input may contain the end marker
		if i < 0 {
			return ""
		}
		return text[i+len(pipedEnd):]
	}
	if rest, ok := strings.CutPrefix(text, ranBegin); ok {
		line, _, _ := strings.Cut(rest, "\n")
		return ranBegin + line
	}
	return text
}

// TitleText returns the beginning of text for use as a title: the user's own words if there are
// any, otherwise text without its opening marker. A command is preceded by "!", as it was typed.
func TitleText(text string) string {
	if command, _, ran := RanCommand(text); ran {
		return "!" + command
	}
	if own := strings.TrimSpace(OwnText(text)); own != "" {
		return own
	}
	return strings.TrimPrefix(text, pipedBegin)
}

// TypedTexts returns m's texts without [Reminder]s. For a user message that invokes a skill it
// returns only the typed line; the texts after it are the skill's instructions.
func TypedTexts(m Message) []string {
	var texts []string
	for _, p := range m.Parts {
		t, ok := p.(*Text)
		if _, reminder := ReminderText(p); !ok || reminder {
			continue
		}
		if texts = append(texts, t.Text); m.Role == User && len(texts) == 1 && calls(t.Text) {
			break
		}
	}
	return texts
}

// calls reports whether text begins with a command or skill name.
func calls(text string) bool {
	name, ok := strings.CutPrefix(text, "/")
	return ok && name != "" && !strings.ContainsRune("/ \t\n", rune(name[0]))
}
