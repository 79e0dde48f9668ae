package compose

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/msg"
	"adze/internal/platform/term/cells"
	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
	"adze/internal/ui/screen"
)

// A QueuedMessage is a queued message, sent while the model works and not yet received by it.
type QueuedMessage struct {
	// ID is used to withdraw the message, and Part to recognize it when the model receives it.
	ID   string
	Part msg.Part
	// If Later is true, the message gets its own turn after the running one.
	Later bool
	// Draft is the message as it was typed.
	Draft *edit.Draft
}

// A Queue holds the queued messages. The zero value is empty. It is not safe for concurrent
// use.
type Queue struct{ list []QueuedMessage }

// Add adds a message.
func (q *Queue) Add(w QueuedMessage) { q.list = append(q.list, w) }

// Empty reports whether the queue is empty.
func (q *Queue) Empty() bool { return len(q.list) == 0 }

// Drafts returns the messages as they were typed, oldest first.
func (q *Queue) Drafts() (drafts []*edit.Draft) {
	for _, w := range q.list {
		drafts = append(drafts, w.Draft)
	}
	return drafts
}

// Last removes the most recently added message, and reports whether there is one.
func (q *Queue) Last() (QueuedMessage, bool) {
	if len(q.list) == 0 {
		return QueuedMessage{}, false
	}
	last := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return last, true
}

// Drain removes all messages and returns them, oldest first.
func (q *Queue) Drain() []QueuedMessage {
	all := q.list
	q.list = nil
	return all
}

// Delivered removes and returns the messages contained in parts, which the model has received.
func (q *Queue) Delivered(parts []msg.Part) (delivered []QueuedMessage) {
	q.list = slices.DeleteFunc(q.list, func(w QueuedMessage) bool {
		if !slices.Contains(parts, w.Part) {
			return false
		}
		delivered = append(delivered, w)
		return true
	})
	return delivered
}

// mostWaiting is the maximum number of messages shown.
const mostWaiting = 4

// Rows draws the messages: first the ones for the running turn, then the ones with a turn of
// their own. There is never a caret.
func (q *Queue) Rows(w, h int, glyphs draw.Glyphs) ([]draw.Row, *screen.Point) {
	var rows []draw.Row
	for _, later := range []bool{false, true} {
		for _, m := range q.list {
			head := "  next: "
			if later {
				head = "  after this turn: "
			}
			if m.Later == later {
				rows = append(rows, line(head, m.Draft.Brief(), w-1, glyphs))
			}
		}
	}
	if most := min(h, mostWaiting); len(rows) > most && most > 0 {
		more := fmt.Sprintf("  %s %d more", glyphs.More, len(rows)-most+1)
		rows = append(rows[:most-1], draw.Line(draw.Faint, more))
	}
	return rows[:min(len(rows), max(0, h))], nil
}

// line returns a row of w cells with a faint head and the beginning of text.
func line(head, text string, w int, glyphs draw.Glyphs) draw.Row {
	text = draw.Clean(strings.TrimSpace(text))
	room := max(0, w-cells.Width(head))
	if cells.Width(text) > room {
		text = fit(text, room-cells.Width(glyphs.More)) + glyphs.More
	}
	return draw.Row{{Role: draw.Faint, Text: head}, {Text: text}}
}

// fit returns the longest prefix of text that fits into n cells.
func fit(text string, n int) string {
	used := 0
	for i, r := range text {
		if used += cells.Of(r); used > n {
			return text[:i]
		}
	}
	return text
}

// cut returns the first character of a text and the rest.
func cut(text string) (first, rest string) {
	_, n := utf8.DecodeRuneInString(text)
	return text[:n], text[n:]
}
