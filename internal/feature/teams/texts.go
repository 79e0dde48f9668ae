package teams

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/feature/agents/builtin"
	"adze/internal/platform/term"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
	teamtool "adze/internal/tools/team"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// say returns a text for the model.
func say(l texts.Language, name string, values ...string) string {
	return catalogue.Text(l, name, values...)
}

// plain sanitizes untrusted text: terminal control sequences are removed and tags escaped.
func plain(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(term.Sanitize(s))
}

// brief returns a message's summary, or else its beginning.
func brief(summary, text string) string {
	if summary != "" {
		return tool.OneLine(summary, 80)
	}
	return tool.OneLine(text, 80)
}

// receipt returns the receipt for a delivered message.
func receipt(got []string) teamtool.Receipt {
	return teamtool.Receipt{To: got, Status: "Sent to " + strings.Join(got, ", ") + "."}
}

// partialError adds the recipients that were reached to an error.
func partialError(got []string, err error) error {
	if len(got) == 0 {
		return err
	}
	return errors.Join(err, fmt.Errorf("it was sent to %s", strings.Join(got, ", ")))
}

// lastOf returns the last n elements.
func lastOf(list []string, n int) []string { return list[max(0, len(list)-n):] }

// Appended returns the text appended to the system prompt: the user's own and, for a teammate,
// its role.
func (s Spec) Appended(own string, l texts.Language) string {
	if s.Team == "" {
		return own
	}
	return strings.TrimSpace(own + "\n\n" + builtin.Teammate(l, s.Name, s.Team))
}

// Needs reports whether a teammate needs a tool regardless of its agent's definition: it
// messages others, presents plans and works on the task list.
func (s Spec) Needs(tool string) bool {
	return s.Team != "" && slices.Contains([]string{"SendMessage", planTool, "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"}, tool)
}

// Planning returns the additional plan-mode reminder for teammates.
func Planning(l texts.Language) string { return catalogue.Text(l, "plan") }
