package teams

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/agentdef/builtin"
	"adze/internal/platform/term"
	"adze/internal/platform/texts"
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

// plain returns text of others without what a terminal would obey, and such that it holds no tags.
func plain(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(term.Sanitize(s))
}

// brief returns the summary of a message, or else its beginning.
func brief(summary, text string) string {
	if summary != "" {
		return tool.OneLine(summary, 80)
	}
	return tool.OneLine(text, 80)
}

// receipt says who got a message.
func receipt(got []string) teamtool.Receipt {
	return teamtool.Receipt{To: got, Status: "Sent to " + strings.Join(got, ", ") + "."}
}

// partly adds to an error who got the message nevertheless.
func partly(got []string, err error) error {
	if len(got) == 0 {
		return err
	}
	return errors.Join(err, fmt.Errorf("it was sent to %s", strings.Join(got, ", ")))
}

// lastOf returns the last n of a list.
func lastOf(list []string, n int) []string { return list[max(0, len(list)-n):] }

// Appended returns what is added to the system prompt: the user's own words, and for a teammate what it is.
func (s Spec) Appended(own string, l texts.Language) string {
	if s.Team == "" {
		return own
	}
	return strings.TrimSpace(own + "\n\n" + builtin.Teammate(l, s.Name, s.Team))
}

// Needs reports whether a teammate gets a tool, whatever the definition of its agent says: it writes to others, presents plans
// and works on the task list.
func (s Spec) Needs(tool string) bool {
	return s.Team != "" && slices.Contains([]string{"SendMessage", planTool, "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"}, tool)
}

// Planning returns what a teammate is told in plan mode, beside how to plan.
func Planning(l texts.Language) string { return catalogue.Text(l, "plan") }
