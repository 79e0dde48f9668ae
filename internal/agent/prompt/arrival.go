package prompt

import (
	"slices"
	"strings"

	"adze/internal/msg"
)

// An Arrival is something that comes and goes while a session lasts. The model is told of it in messages, so
// that the system prompt stays as it is.
type Arrival struct {
	Kind ArrivalKind
	Name string
	// Text is what it says about itself; it may be empty.
	Text string
}

// An ArrivalKind is what an [Arrival] is. It is part of the names of texts.
type ArrivalKind string

// The kinds.
const (
	ServerArrival ArrivalKind = "server" // an MCP server
	SkillArrival  ArrivalKind = "skill"
)

// Announce returns what the model is told when what is there is not what it knows of, or nothing. What
// went and came again meanwhile is no news.
func Announce(l Language, known, now []Arrival) string {
	var lines []string
	for _, a := range known {
		if !slices.ContainsFunc(now, func(n Arrival) bool { return n.Kind == a.Kind && n.Name == a.Name }) {
			lines = append(lines, msg.Neutralise(l.say("arrival."+string(a.Kind)+".gone", a.Name)))
		}
	}
	for _, a := range now {
		if !slices.Contains(known, a) {
			lines = append(lines, msg.Neutralise(l.arrival(a)))
		}
	}
	return strings.Join(lines, "\n\n")
}

func (l Language) arrival(a Arrival) string {
	text := l.say("arrival."+string(a.Kind), a.Name)
	if a.Text != "" {
		text += "\n" + a.Text
	}
	return text
}
