package extras

import (
	"strings"
	"time"

	"adze/internal/msg"
	"adze/internal/tools/extratools"
)

const (
	// suggestTime is how long a turn waits for suggestions.
	suggestTime = 100 * time.Millisecond
	// maxSuggested is how many tools are suggested at once, and minSimilar how much they have to be about what is said.
	maxSuggested = 3
	minSimilar   = 0.10
	// maxQuery is how much counts of what each side said, in characters.
	maxQuery = 500
)

// A suggester returns up to n tools that a text is about, with at least that similarity, without those that skip answers
// true for.
type suggester func(text string, atLeast float64, n int, skip func(name string) bool) []extratools.Suggestion

// suggest returns tools that may help with what the user says, given the conversation before it: none with the first
// message, none twice, and none that take too long to find.
func (x *Extras) suggest(find suggester, said []msg.Part, before []msg.Entry) []extratools.Suggestion {
	if len(before) == 0 {
		return nil
	}
	query := queryOf(said, before)
	if query == "" {
		return nil
	}
	found := make(chan []extratools.Suggestion, 1)
	go func() {
		defer func() {
			if recover() != nil {
				found <- nil
			}
		}()
		found <- find(query, minSimilar, maxSuggested, x.Discovered.Has)
	}()
	wait := time.NewTimer(suggestTime)
	defer wait.Stop()
	select {
	case list := <-found:
		for _, s := range list {
			x.Discovered.Add(s.Name)
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
