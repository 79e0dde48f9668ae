package prompt

import (
	"path/filepath"
	"strconv"
	"strings"

	"adze/internal/domain/memdir"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

// Memory is a conversation's memory as presented to the model. The zero value means no memory.
type Memory struct {
	Folder memdir.Folder
	// Mode returns the current memory mode. If nil, memory is off.
	Mode func() memdir.Mode
}

func (m *Memory) mode() memdir.Mode {
	if m.Mode == nil {
		return memdir.Off
	}
	return m.Mode()
}

// Section returns the memory section for a prompt without sections, or "" if memory is off.
func (m *Memory) Section(l texts.Language) string {
	return memorySection(l, m.mode(), m.Folder, m.empty())
}

// empty reports whether nothing has been remembered yet.
func (m *Memory) empty() bool {
	if m.mode() == memdir.Off {
		return true
	}
	text, err := m.Folder.Index()
	return err == nil && strings.TrimSpace(text) == ""
}

// index returns the memory index for the beginning of a conversation.
func (m *Memory) index(l texts.Language) (string, error) {
	if m.mode() == memdir.Off {
		return "", nil
	}
	text, err := m.Folder.Index()
	return indexText(l, m.Folder.Path(memdir.IndexName), text), err
}

// memorySection returns the section on using memory, or "" if it is off. It is short while
// nothing has been remembered.
func memorySection(l texts.Language, mode memdir.Mode, f memdir.Folder, empty bool) string {
	var pieces []string
	switch {
	case mode == memdir.Off:
		return ""
	case empty && mode != memdir.Team:
		return catalogText(l, "memory.first", f.Dir)
	case mode == memdir.Team:
		pieces = append(pieces, catalogText(l, "memory", f.Dir), catalogText(l, "memory.team", filepath.Join(f.Dir, "team")))
	default:
		pieces = append(pieces, catalogText(l, "memory", f.Dir))
	}
	return strings.Join(append(pieces, catalogText(l, "memory.trust")), "\n\n")
}

// indexText returns the memory index as shown to the model, or "" if it is empty.
func indexText(l texts.Language, path, text string) string {
	text, cut := memdir.CutIndex(text)
	if text == "" {
		return ""
	}
	pieces := []string{catalogText(l, "memory.index", path), text}
	if cut.OverLines {
		pieces = append(pieces, catalogText(l, "memory.overlines", strconv.Itoa(cut.Lines), strconv.Itoa(memdir.MaxLines)))
	}
	if cut.OverBytes {
		pieces = append(pieces, catalogText(l, "memory.overbytes", strconv.Itoa(cut.Bytes), strconv.Itoa(memdir.MaxBytes)))
	}
	return msg.Neutralise(strings.Join(pieces, "\n\n"))
}
