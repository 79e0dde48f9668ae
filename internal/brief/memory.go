package brief

import (
	"path/filepath"
	"strconv"
	"strings"

	"adze/internal/memory"
	"adze/internal/msg"
	"adze/internal/platform/texts"
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

// Section returns what the model is told of its memory, for a prompt that is not made of sections; "" if there is none.
func (m *Memory) Section(l texts.Language) string {
	return memorySection(l, m.mode(), m.Folder, m.empty())
}

// empty reports whether nothing is remembered yet.
func (m *Memory) empty() bool {
	if m.mode() == memory.Off {
		return true
	}
	text, err := m.Folder.Index()
	return err == nil && strings.TrimSpace(text) == ""
}

// index returns what a conversation begins with of the index of memories.
func (m *Memory) index(l texts.Language) (string, error) {
	if m.mode() == memory.Off {
		return "", nil
	}
	text, err := m.Folder.Index()
	return indexText(l, m.Folder.Path(memory.IndexName), text), err
}

// memorySection returns the section on how to use memory, or "" if it is off. While nothing is remembered it is short.
func memorySection(l texts.Language, mode memory.Mode, f memory.Folder, empty bool) string {
	var pieces []string
	switch {
	case mode == memory.Off:
		return ""
	case empty && mode != memory.Team:
		return say(l, "memory.first", f.Dir)
	case mode == memory.Team:
		pieces = append(pieces, say(l, "memory", f.Dir), say(l, "memory.team", filepath.Join(f.Dir, "team")))
	default:
		pieces = append(pieces, say(l, "memory", f.Dir))
	}
	return strings.Join(append(pieces, say(l, "memory.trust")), "\n\n")
}

// indexText returns the index of memories as the model is shown it, or "" if it is empty.
func indexText(l texts.Language, path, text string) string {
	text, cut := memory.CutIndex(text)
	if text == "" {
		return ""
	}
	pieces := []string{say(l, "memory.index", path), text}
	if cut.OverLines {
		pieces = append(pieces, say(l, "memory.overlines", strconv.Itoa(cut.Lines), strconv.Itoa(memory.MaxLines)))
	}
	if cut.OverBytes {
		pieces = append(pieces, say(l, "memory.overbytes", strconv.Itoa(cut.Bytes), strconv.Itoa(memory.MaxBytes)))
	}
	return msg.Neutralise(strings.Join(pieces, "\n\n"))
}
