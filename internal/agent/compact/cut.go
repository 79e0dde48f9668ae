package compact

import (
	"strings"

	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// cuts reports for each entry whether a conversation may begin with it: results must not lose
// their uses, and the entries of one response stay together.
func cuts(entries []msg.Entry) []bool {
	ok := make([]bool, len(entries)+1)
	for i := range ok {
		ok[i] = true
	}
	used, response := map[string]int{}, map[string]int{}
	// A pair at k and i means that the conversation can't begin after k and up to i. Each entry
	// remembers how far back its pairs reach, so that one pass suffices.
	reach := make([]int, len(entries))
	for i, e := range entries {
		reach[i] = i
		if isUserMessage(e) {
			clear(response) // a server may reuse an ID
		}
		if first, seen := response[e.ResponseID]; e.ResponseID != "" && seen {
			reach[i] = first
		} else {
			response[e.ResponseID] = i
		}
		for _, p := range e.Message.Parts {
			switch p := p.(type) {
			case *msg.ToolUse:
				used[p.ID] = i
			case *msg.ToolResult:
				if at, seen := used[p.ID]; seen {
					reach[i] = min(reach[i], at)
				}
			}
		}
	}
	lowest := len(entries)
	for i := len(entries) - 1; i >= 0; i-- {
		lowest = min(lowest, reach[i])
		ok[i] = lowest >= i
	}
	return ok
}

// A KeepPolicy controls how much of a conversation is kept when notes replace the rest.
type KeepPolicy struct {
	MinTokens, MinTexts, MaxTokens int
}

// DefaultKeep is the default KeepPolicy.
var DefaultKeep = KeepPolicy{MinTokens: 10_000, MinTexts: 5, MaxTokens: 40_000}

// Valid reports whether k is consistent.
func (k KeepPolicy) Valid() bool {
	return k.MinTokens >= 0 && k.MinTexts >= 0 && k.MaxTokens > 0 && k.MinTokens <= k.MaxTokens
}

// Window returns the index of the first entry to keep. The kept entries include everything from
// the end of the summarized ones, at from, and extend backwards until they are large enough,
// but not before floor.
func Window(entries []msg.Entry, floor, from int, k KeepPolicy, g *tokens.Estimator) int {
	if !k.Valid() {
		k = DefaultKeep
	}
	size, texts := 0, 0
	add := func(e msg.Entry) {
		size += g.Messages(e.Message)
		if strings.TrimSpace(e.Message.Text()) != "" || len(e.Message.Uses()) > 0 { // a working model writes little text
			texts++
		}
	}
	for _, e := range entries[from:] {
		add(e)
	}
	at := from
	for at > floor && (size < k.MinTokens || texts < k.MinTexts) {
		if at < len(entries) && size+g.Messages(entries[at-1].Message) > k.MaxTokens {
			break
		}
		at--
		add(entries[at])
	}
	ok := cuts(entries)
	for at > floor && !ok[at] {
		at--
	}
	return at
}

// A Turn is a user message at which a conversation can be divided.
type Turn struct {
	At   int // index in the entries
	ID   string
	Text string // text the user typed
	// Pasted holds the parts of Text that the user pasted.
	Pasted []msg.Span
}

// Turns returns the user messages in entries, newest first.
func Turns(entries []msg.Entry) []Turn {
	var turns []Turn
	ok := cuts(entries)
	for i := len(entries) - 1; i >= 0; i-- {
		if text := own(entries[i]); text != "" && ok[i] {
			if typed := msg.TypedTexts(entries[i].Message); len(typed) == 1 {
				text = strings.TrimSpace(typed[0]) // excludes a skill's instructions
			}
			if command, _, ran := msg.RanCommand(text); ran {
				text = "!" + command
			}
			turns = append(turns, Turn{At: i, ID: entries[i].ID, Text: text, Pasted: pastedIn(entries[i])})
		}
	}
	return turns
}

// pastedIn returns the pasted parts of the trimmed text of an entry.
func pastedIn(e msg.Entry) []msg.Span {
	typed := msg.TypedTexts(e.Message)
	if len(e.Pasted) == 0 || len(typed) == 0 {
		return nil
	}
	trimmed := len(typed[0]) - len(strings.TrimLeft(typed[0], " \t\r\n"))
	end := len(strings.TrimSpace(typed[0]))
	var spans []msg.Span
	for _, s := range e.Pasted {
		spans = append(spans, msg.Span{From: max(0, s.From-trimmed), To: min(end, s.To-trimmed)})
	}
	return spans
}

// maxTail limits the end of a conversation that is kept after a summary, in tokens.
const maxTail = 10_000

// tail returns the index of the first entry to keep after a summary: the last user message if
// it has no answer yet, or the last calls with their results if they are small.
func tail(entries []msg.Entry, g *tokens.Estimator) int {
	ok := cuts(entries)
	at := len(entries)
	for at > 0 && entries[at-1].Message.Role == msg.User && !isSummary(entries[at-1]) {
		at--
	}
	if at == len(entries) || at > 0 && !ok[at] { // answered, or tool results
		for at > 0 && !ok[at] {
			at--
		}
		if at == len(entries) || at == 0 || sum(g, entries[at:]) > maxTail {
			return unansweredIndex(entries, ok)
		}
	}
	return at
}

// unansweredIndex returns the index of the unanswered user messages at the end of entries.
func unansweredIndex(entries []msg.Entry, ok []bool) int {
	at := len(entries)
	for at > 0 && ok[at-1] && isUserMessage(entries[at-1]) {
		at--
	}
	return at
}

// isUserMessage reports whether e is a user message and not a tool result.
func isUserMessage(e msg.Entry) bool {
	if e.Message.Role != msg.User || isSummary(e) {
		return false
	}
	for _, p := range e.Message.Parts {
		if _, ok := p.(*msg.ToolResult); ok {
			return false
		}
	}
	return true
}

// isSummary reports whether e is a compaction summary.
func isSummary(e msg.Entry) bool {
	if !e.Hidden || e.Message.Role != msg.User || len(e.Message.Parts) == 0 {
		return false
	}
	t, ok := e.Message.Parts[0].(*msg.Text)
	return ok && strings.HasPrefix(t.Text, openTag)
}

func withoutSummary(entries []msg.Entry) []msg.Entry {
	if len(entries) > 0 && isSummary(entries[0]) {
		return entries[1:]
	}
	return entries
}
