package headless

import (
	"slices"
	"strings"
	"unicode"

	"adze/internal/msg"
	"adze/internal/session"
)

// CompactCommand is the command that a host can send in place of a prompt, if the program around the session
// offers it.
const CompactCommand = "compact"

// commands returns the names of the commands that there are.
func (sv *server) commands() []string {
	if sv == nil {
		return nil
	}
	var names []string
	for _, c := range sv.h.Commands {
		names = append(names, c.Name)
	}
	return names
}

// command returns what a message asks for that is a command and nothing else, or nil.
func (sv *server) command(p session.Prompt) session.Op {
	if len(p.Parts) != 1 {
		return nil
	}
	text, ok := p.Parts[0].(*msg.Text)
	if !ok {
		return nil
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(text.Text), "/")
	name, arg := rest, ""
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		name, arg = rest[:i], strings.TrimSpace(rest[i:])
	}
	if !ok || name != CompactCommand || !slices.Contains(sv.commands(), name) {
		return nil
	}
	return session.Compact{ID: p.ID, Focus: arg}
}
