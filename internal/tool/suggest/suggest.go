// Package suggest finds between turns what may help with a message, among tools or skills that the model is not shown in
// full. What there is, and how it is found by words, is left to others.
package suggest

import (
	"strings"
	"time"

	"adze/internal/msg"
)

const (
	// maxTime is how long a turn waits for suggestions.
	maxTime = 100 * time.Millisecond
	// maxSuggested is how many are suggested at once, and minSimilar how much they have to be about what is said.
	maxSuggested = 3
	minSimilar   = 0.10
	// maxQuery is how much counts of what each side said, in characters.
	maxQuery = 500
)

// A Suggestion is the name of what may help, with a line about it.
type Suggestion struct{ Name, Line string }

// A Finder returns up to n things that a text is about, with at least that similarity, without those that skip answers
// true for.
type Finder func(text string, atLeast float64, n int, skip func(name string) bool) []Suggestion

// Seen is the record of what the model has come across.
type Seen interface {
	Has(name string) bool
	Add(names ...string)
}

// For returns what may help with what the user says, given the conversation before it: nothing that was seen, and nothing
// that takes too long to find. What it returns is seen.
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
		return nil // they are found again with the next message
	}
}

// queryOf returns what is being talked about: what the user says, and what the model said last.
func queryOf(said []msg.Part, before []msg.Entry) string {
	last := ""
	for i := len(before) - 1; i >= 0 && last == ""; i-- {
		if m := before[i].Message; m.Role == msg.Assistant {
			last = words(m.Parts)
		}
	}
	return strings.TrimSpace(words(said) + "\n" + last)
}

// words returns the beginning of what parts say, without code, results and what the program adds.
func words(parts []msg.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if t, ok := p.(*msg.Text); ok {
			if _, reminder := msg.Reminded(t); !reminder {
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

// withoutCode returns text without what stands between fences.
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
