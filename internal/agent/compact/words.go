package compact

import (
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// Limits on the user messages that a compaction keeps verbatim: in tokens, and as a share of
// the usable window.
const (
	maxWords   = 20_000
	wordsShare = 8
)

func wordsBudget(l Limits) int { return min(maxWords, l.Usable()/wordsShare) }

// userMessagesWithin returns the user's messages in entries, oldest first, as far as they fit.
func userMessagesWithin(entries []msg.Entry, budget int, g *tokens.Estimator, cutMark string) []string {
	return newest(userMessages(entries), budget, g, cutMark)
}

// userMessages returns the user's messages in entries, oldest first, including messages quoted in
// summaries.
func userMessages(entries []msg.Entry) []string {
	var all []string
	for _, e := range entries {
		if isSummary(e) {
			_, said := read(e.Message.Parts[0].(*msg.Text).Text)
			all = append(all, said...)
		} else if text := own(e); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// newest returns the last texts that fit the budget. They are kept whole; the first text that
// does not fit is truncated, and earlier ones are dropped.
func newest(all []string, budget int, g *tokens.Estimator, cutMark string) []string {
	var said []string
	for _, text := range slices.Backward(all) {
		size := g.Text(text) + 4
		if size > budget {
			if head := cutTo(text, budget, g); head != "" {
				said = append(said, head+cutMark)
			}
			break
		}
		budget -= size
		said = append(said, text)
	}
	slices.Reverse(said)
	return said
}

// own returns the user's own words in e, without text added by adze and without results.
func own(e msg.Entry) string {
	if e.Hidden || !isUserMessage(e) {
		return ""
	}
	var b strings.Builder
	for _, p := range e.Message.Parts {
		t, ok := p.(*msg.Text)
		if _, reminder := msg.ReminderText(p); !ok || reminder || strings.HasPrefix(t.Text, "[Request interrupted by user") {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(t.Text)
	}
	return strings.TrimSpace(b.String())
}

// cutTo returns the beginning of text that fits into budget tokens, or "" if that is too short
// to be useful.
func cutTo(text string, budget int, g *tokens.Estimator) string {
	if budget < 100 {
		return ""
	}
	for g.Text(text) > budget {
		n := len(text) * budget / (g.Text(text) + 1)
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	return text
}
