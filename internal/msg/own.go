package msg

import "strings"

// Marks of text in a message of the user that the user did not write.
const (
	pipedBegin, pipedEnd = "<stdin>\n", "\n</stdin>\n\n"
	ranBegin             = "I ran this command:\n\n$ "
)

// Piped returns a prompt with text that was piped to the program before it.
func Piped(text, prompt string) string {
	return pipedBegin + strings.TrimRight(text, "\n") + pipedEnd + prompt
}

// Ran returns what the user says of a command that they ran, and its output.
func Ran(command, output string) string { return ranBegin + command + "\n" + output }

// Own returns what the user wrote of a text, as far as that can be told: without what was piped before it, and
// without the output of a command.
func Own(text string) string {
	if strings.HasPrefix(text, pipedBegin) {
		i := strings.LastIndex(text, pipedEnd) // what was piped may look like an end
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

// Start returns the beginning of a text for a title: what the user wrote, or at least no mark.
func Start(text string) string {
	if own := strings.TrimSpace(Own(text)); own != "" {
		return own
	}
	return strings.TrimPrefix(text, pipedBegin)
}

// Typed returns the texts of a message without [Reminder]s. Of a message of the user that calls a skill it is the line that
// was typed: the texts after that are the instructions of the skill.
func Typed(m Message) []string {
	var texts []string
	for _, p := range m.Parts {
		t, ok := p.(*Text)
		if _, reminder := Reminded(p); !ok || reminder {
			continue
		}
		if texts = append(texts, t.Text); m.Role == User && len(texts) == 1 && calls(t.Text) {
			break
		}
	}
	return texts
}

// calls reports whether a text begins with the name of a command or skill.
func calls(text string) bool {
	name, ok := strings.CutPrefix(text, "/")
	return ok && name != "" && !strings.ContainsRune("/ \t\n", rune(name[0]))
}
