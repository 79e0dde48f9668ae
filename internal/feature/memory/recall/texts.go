package recall

import (
	_ "embed"
	"strconv"
	"strings"

	"adze/internal/domain/memdir"
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

// question returns the system prompt and the query for the choosing model. tools are the
// recently used ones.
func question(l texts.Language, said string, tools []string, manifest string) (system, query string) {
	used := strings.Join(tools, ", ")
	if used == "" {
		used = "-"
	}
	return catalogue.Text(l, "choose", strconv.Itoa(memdir.MaxRecalled)), catalogue.Text(l, "query", said, used, strings.TrimSpace(manifest))
}

// mark begins a memory reminder in every language, so that it can be recognized.
const mark = "[memory: "

// reminder returns the reminder for a memory.
func reminder(l texts.Language, r memdir.Recalled) *msg.Text {
	pieces := []string{mark + r.Path + "]\n" + catalogue.Text(l, "recalled")}
	if r.Days > 0 {
		pieces = append(pieces, catalogue.Text(l, "old", strconv.Itoa(r.Days)))
	}
	pieces = append(pieces, r.Text)
	if r.Cut {
		pieces = append(pieces, catalogue.Text(l, "more", r.Path))
	}
	return msg.Reminder(msg.Neutralise(strings.Join(pieces, "\n\n")))
}

// pathOf returns the file of the memory in a part, if it is a [reminder].
func pathOf(p msg.Part) (string, bool) {
	text, _ := msg.ReminderText(p)
	rest, ok := strings.CutPrefix(text, mark)
	if !ok {
		return "", false
	}
	path, _, ok := strings.Cut(rest, "]\n")
	return path, ok && strings.HasSuffix(path, ".md")
}
