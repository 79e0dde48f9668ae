package recall

import (
	_ "embed"
	"strconv"
	"strings"

	"adze/internal/memory"
	"adze/internal/msg"
	"adze/internal/platform/texts"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// question returns what the model that chooses is told, and what it is asked. Tools are those in recent use.
func question(l texts.Language, said string, tools []string, manifest string) (system, query string) {
	used := strings.Join(tools, ", ")
	if used == "" {
		used = "-"
	}
	return catalogue.Text(l, "choose", strconv.Itoa(memory.MaxRecalled)), catalogue.Text(l, "query", said, used, strings.TrimSpace(manifest))
}

// mark begins a reminder of a memory, in every language, so that it can be found again.
const mark = "[memory: "

// reminder returns a memory as the model is told it.
func reminder(l texts.Language, r memory.Recalled) *msg.Text {
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

// pathOf returns the file of the memory that a part tells, if it is a [reminder] of one.
func pathOf(p msg.Part) (string, bool) {
	text, _ := msg.Reminded(p)
	rest, ok := strings.CutPrefix(text, mark)
	if !ok {
		return "", false
	}
	path, _, ok := strings.Cut(rest, "]\n")
	return path, ok && strings.HasSuffix(path, ".md")
}
