package brief

import (
	"path/filepath"
	"strconv"
	"strings"

	"adze/internal/memory"
	"adze/internal/msg"
)

// Memory is the memory of a conversation, as far as the model is told of it. The zero value is no memory.
type Memory struct {
	Folder memory.Folder
	// Mode returns how memory is used now. It may be nil: then it is not.
	Mode func() memory.Mode
}

func (m *Memory) mode() memory.Mode {
	if m.Mode == nil {
		return memory.Off
	}
	return m.Mode()
}

// index returns what a conversation begins with of the index of memories.
func (m *Memory) index(l Language) (string, error) {
	if m.mode() == memory.Off {
		return "", nil
	}
	text, err := m.Folder.Index()
	return indexText(l, m.Folder.Path(memory.IndexName), text), err
}

// memorySection returns the section on how to use memory, or "" if it is off.
func memorySection(l Language, mode memory.Mode, f memory.Folder) string {
	var pieces []string
	switch mode {
	case memory.Off:
		return ""
	case memory.Daily:
		pieces = append(pieces, l.say("memory.daily", f.LogPattern(), f.Path(memory.IndexName)))
	case memory.Team:
		pieces = append(pieces, l.say("memory", f.Dir), l.say("memory.team", filepath.Join(f.Dir, "team")))
	default:
		pieces = append(pieces, l.say("memory", f.Dir))
	}
	return strings.Join(append(pieces, l.say("memory.trust")), "\n\n")
}

// indexText returns the index of memories as the model is shown it, or "" if it is empty.
func indexText(l Language, path, text string) string {
	text, cut := memory.CutIndex(text)
	if text == "" {
		return ""
	}
	pieces := []string{l.say("memory.index", path), text}
	if cut.OverLines {
		pieces = append(pieces, l.say("memory.overlines", strconv.Itoa(cut.Lines), strconv.Itoa(memory.MaxLines)))
	}
	if cut.OverBytes {
		pieces = append(pieces, l.say("memory.overbytes", strconv.Itoa(cut.Bytes), strconv.Itoa(memory.MaxBytes)))
	}
	return msg.Neutralise(strings.Join(pieces, "\n\n"))
}

// recalledMark begins what is said of a memory, in every language, so that it can be found again.
const recalledMark = "[memory: "

// Recalled returns a memory as the model is told it.
func Recalled(l Language, r memory.Recalled) *msg.Text {
	pieces := []string{recalledMark + r.Path + "]\n" + l.say("memory.recalled")}
	if r.Days > 0 {
		pieces = append(pieces, l.say("memory.old", strconv.Itoa(r.Days)))
	}
	pieces = append(pieces, r.Text)
	if r.Cut {
		pieces = append(pieces, l.say("memory.more", r.Path))
	}
	return msg.Reminder(msg.Neutralise(strings.Join(pieces, "\n\n")))
}

// RecalledPath returns which memory a part tells, if it is one of [Recalled].
func RecalledPath(p msg.Part) (string, bool) {
	t, ok := p.(*msg.Text)
	if !ok {
		return "", false
	}
	// A reminder of nothing has the same beginning as one of something.
	rest, ok := strings.CutPrefix(t.Text, strings.SplitAfterN(msg.Reminder("").Text, "\n", 2)[0]+recalledMark)
	if !ok {
		return "", false
	}
	path, _, ok := strings.Cut(rest, "]\n")
	return path, ok && strings.HasSuffix(path, ".md")
}

// Recall returns the question which of some memories a message could need: who is asked, and what. Tools are
// those in recent use.
func Recall(l Language, said string, tools []string, manifest string) (system, question string) {
	used := strings.Join(tools, ", ")
	if used == "" {
		used = "-"
	}
	return l.say("recall", strconv.Itoa(memory.MaxRecalled)), l.say("recall.query", said, used, strings.TrimSpace(manifest))
}
