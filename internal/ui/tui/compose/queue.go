package compose

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/msg"
	"adze/internal/platform/cells"
	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
	"adze/internal/ui/screen"
)

// A Waiting is a message that was sent while the model works, and that it has not been told yet.
type Waiting struct {
	// ID is what it can be withdrawn by, and Part by which it is known when the model is told.
	ID   string
	Part msg.Part
	// Later says that it has a turn of its own, after the one that runs.
	Later bool
	// Draft is the message as it was typed.
	Draft *edit.Draft
}

// A Queue holds the messages that wait. The zero value is empty. It belongs to one goroutine.
type Queue struct{ list []Waiting }

// Add adds a message.
func (q *Queue) Add(w Waiting) { q.list = append(q.list, w) }

// Empty reports whether nothing waits.
func (q *Queue) Empty() bool { return len(q.list) == 0 }

// Drafts returns the messages as they were typed, in the order in which they were added.
func (q *Queue) Drafts() (drafts []*edit.Draft) {
	for _, w := range q.list {
		drafts = append(drafts, w.Draft)
	}
	return drafts
}

// Last takes out the message that was added last, and reports whether there is one.
func (q *Queue) Last() (Waiting, bool) {
	if len(q.list) == 0 {
		return Waiting{}, false
	}
	last := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return last, true
}

// Drain takes out all messages, in the order in which they were added.
func (q *Queue) Drain() []Waiting {
	all := q.list
	q.list = nil
	return all
}

// Told takes out the messages among the parts of a message that the model is told, and returns them.
func (q *Queue) Told(parts []msg.Part) (told []Waiting) {
	q.list = slices.DeleteFunc(q.list, func(w Waiting) bool {
		if !slices.Contains(parts, w.Part) {
			return false
		}
		told = append(told, w)
		return true
	})
	return told
}

// mostWaiting is how many messages are shown.
const mostWaiting = 4

// Rows draws the messages: those that the turn is told next, and then those that have a turn of their own. There is no
// caret in them.
func (q *Queue) Rows(w, h int, glyphs draw.Glyphs) ([]draw.Row, *screen.Point) {
	var rows []draw.Row
	for _, later := range []bool{false, true} {
		for _, m := range q.list {
			head := "  next: "
			if later {
				head = "  after this turn: "
			}
			if m.Later == later {
				rows = append(rows, line(head, m.Draft.Brief(), min(w-1, screen.Widest), glyphs))
			}
		}
	}
	if most := min(h, mostWaiting); len(rows) > most && most > 0 {
		more := fmt.Sprintf("  %s %d more", glyphs.More, len(rows)-most+1)
		rows = append(rows[:most-1], draw.Line(draw.Faint, more))
	}
	return rows[:min(len(rows), max(0, h))], nil
}

// line returns a faint head and the beginning of a text behind it, in a row of w cells.
func line(head, text string, w int, glyphs draw.Glyphs) draw.Row {
	text = draw.Clean(strings.TrimSpace(text))
	room := max(0, w-cells.Width(head))
	if cells.Width(text) > room {
		text = fit(text, room-cells.Width(glyphs.More)) + glyphs.More
	}
	return draw.Row{{Role: draw.Faint, Text: head}, {Text: text}}
}

// fit returns as much of the beginning of a text as fits into n cells.
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
