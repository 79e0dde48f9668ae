package tasklist

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// Visible returns the tasks that are not internal.
func Visible(all []Task) []Task {
	return slices.DeleteFunc(slices.Clone(all), func(t Task) bool { return t.Internal() })
}

// Line formats a task on one line: id, status, subject, owner and dependencies.
func Line(all []Task, t *Task) string {
	line := fmt.Sprintf("%s [%s] %s", t.ID, t.Status, OneLine(t.Subject))
	if t.Owner != "" {
		line += " (" + OneLine(t.Owner) + ")"
	}
	if open := Waits(all, t); len(open) > 0 && t.Open() {
		line += ", waits for " + strings.Join(open, ", ")
	}
	return line
}

// OneLine returns a shortened text on one line that can't be mistaken for the program's own
// text.
func OneLine(text string) string {
	const most = 200
	text = msg.Neutralise(strings.Join(strings.Fields(text), " "))
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// State returns a text with the current lines of the list, for a model that has lost their
// history; empty without lines.
func State(l texts.Language, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return catalogue.Text(l, "now") + "\n" + strings.Join(lines, "\n")
}

// verifying are words that identify a verification task.
var verifying = [...]string{"verif", "test", "check", "验证", "测试", "检查"}

// Unverified returns a reminder for the model if a task was just closed and the list has no
// verification task. It is due when the third and when the last task is closed; otherwise the
// result is empty.
func Unverified(l texts.Language, subjects []string, closed int) string {
	const many = 3
	if closed < many || closed > many && closed < len(subjects) {
		return ""
	}
	for _, s := range subjects {
		s = strings.ToLower(s)
		if slices.ContainsFunc(verifying[:], func(word string) bool { return strings.Contains(s, word) }) {
			return ""
		}
	}
	return catalogue.Text(l, "verify")
}
