// Package suggest finds tools or skills, not fully shown to the model, that may help with a
// message. It runs between turns.
package suggest

import (
	"strings"
	"time"

	"adze/internal/msg"
)

const (
	// maxTime is the maximum time a turn waits for suggestions.
	maxTime = 100 * time.Millisecond
	// maxSuggested is the maximum number of suggestions, and minSimilar the minimum similarity.
	maxSuggested = 3
	minSimilar   = 0.10
	// maxQuery is the number of characters used of each side's last message.
	maxQuery = 500
)

// A Suggestion is the name of a tool or skill, with a line describing it.
type Suggestion struct{ Name, Line string }

// A Finder returns up to n suggestions for a text, with at least the given similarity, omitting
// names for which skip returns true.
type Finder func(text string, atLeast float64, n int, skip func(name string) bool) []Suggestion

// Seen records the names the model has seen.
type Seen interface {
	Has(name string) bool
	Add(names ...string)
}

// For returns suggestions for the user's message, given the preceding conversation. It omits
// names already seen, and returns none if the search takes too long. Returned names are marked
// as seen.
func For(find Finder, seen Seen, said []msg.Part, before []msg.Entry) []Suggestion {
	query := queryOf(said, before)
	if query == "" {
		return nil
	}
	found := make(chan []Suggestion, 1)
	go func() {
		defer func() {
			if recover() != nil {
				found <- nil
			}
		}()
		found <- find(query, minSimilar, maxSuggested, seen.Has)
	}()
	wait := time.NewTimer(maxTime)
	defer wait.Stop()
	select {
	case list := <-found:
		for _, s := range list {
			seen.Add(s.Name)
		}
		return list
	case <-wait.C:
		return nil // the next message finds them again
	}
}

// queryOf returns the current topic: the user's message and the model's last one.
func queryOf(said []msg.Part, before []msg.Entry) string {
	last := ""
	for i := len(before) - 1; i >= 0 && last == ""; i-- {
		if m := before[i].Message; m.Role == msg.Assistant {
			last = words(m.Parts)
		}
	}
	return strings.TrimSpace(words(said) + "\n" + last)
}

// words returns the start of the parts' text, without code, results and adze's additions.
func words(parts []msg.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if t, ok := p.(*msg.Text); ok {
			if _, reminder := msg.ReminderText(t); !reminder {
				b.WriteString(withoutCode(t.Text) + "\n")
			}
		}
	}
	if text := []rune(strings.TrimSpace(b.String())); len(text) > maxQuery {
		return string(text[:maxQuery])
	} else {
		return string(text)
	}
}

// withoutCode returns text without fenced code.
func withoutCode(text string) string {
	var kept []string
	fence := ""
	for line := range strings.Lines(text) {
		mark := strings.TrimSpace(line)
		switch {
		case fence == "" && (strings.HasPrefix(mark, "```") || strings.HasPrefix(mark, "~~~")):
			fence = mark[:3]
		case fence != "" && strings.HasPrefix(mark, fence):
			fence = ""
		case fence == "":
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
