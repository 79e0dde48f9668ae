package task

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Notice is word of the end of a background task.
type Notice struct {
	ID, CallID string
	Status     Status
	Summary    string // what it was, and how it ended
	OutputFile string
	Tail       string // its last lines
	Remark     string // what else there is to know, see [Task.Remark]
}

// How much of the end of the output a notice shows.
const (
	noticeLines = 10
	noticeChars = 2000
)

func (task *Task) notice() Notice {
	tail, _ := task.Output.Tail(4 * noticeChars)
	summary := fmt.Sprintf("Background command %q %s", task.Title, task.Status())
	if ending := task.Ending(); ending != "" {
		summary += " (" + ending + ")"
	}
	remark := task.Remarks()
	if task.overdue() {
		remark = strings.TrimPrefix(remark+fmt.Sprintf("\nIt was ended because it was all that was waited for, and had run for %v.", task.Limit), "\n")
	}
	return Notice{
		ID: task.ID, CallID: task.CallID, Status: task.Status(), Summary: summary,
		OutputFile: task.Output.Path(), Tail: lastLines(tail), Remark: remark,
	}
}

// lastLines returns the last lines of text, not too many of them.
func lastLines(text []byte) string {
	s := strings.ToValidUTF8(strings.TrimRight(string(text), "\n"), "")
	lines := strings.Split(s, "\n")
	s = strings.Join(lines[max(0, len(lines)-noticeLines):], "\n")
	if n := utf8.RuneCountInString(s); n > noticeChars {
		s = string([]rune(s)[n-noticeChars:])
	}
	return s
}

// Text returns the notice as the model reads it. Nothing in it can end the block.
func (n Notice) Text() string {
	var b strings.Builder
	element := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "<%s>%s</%s>\n", name, escape(text), name)
		}
	}
	b.WriteString("<task-notification>\n")
	element("task-id", n.ID)
	element("tool-use-id", n.CallID)
	element("output-file", n.OutputFile)
	element("status", string(n.Status))
	element("summary", n.Summary)
	element("result", n.Tail)
	if n.Remark != "" {
		b.WriteString(n.Remark + "\n")
	}
	b.WriteString("</task-notification>")
	return b.String()
}

// Announced reports whether text tells of the end of the task with an id.
func Announced(text, id string) bool {
	for block := range strings.SplitSeq(text, "<task-notification>") {
		if strings.Contains(block, "<task-id>"+id+"</task-id>") && !strings.Contains(block, "<status>"+string(Running)+"</status>") {
			return true
		}
	}
	return false
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// Read returns what the task has written since the last call with fresh set, or from the beginning: at
// most limit bytes from its end. Skipped is how many bytes before them it leaves out.
func (task *Task) Read(fresh bool, limit int) (text string, skipped int64, err error) {
	task.mu.Lock()
	defer task.mu.Unlock()
	from, size := int64(0), task.Output.Size()
	if fresh {
		from = task.read
	}
	task.read = size
	return task.Output.text(from, size, limit)
}

// Peek returns the same from the beginning, without marking anything as read.
func (task *Task) Peek(limit int) (text string, skipped int64, err error) {
	return task.Output.text(0, task.Output.Size(), limit)
}

// text returns what is between two places, at most limit bytes from its end.
func (o *Output) text(from, to int64, limit int) (text string, skipped int64, err error) {
	if to-from > int64(limit) {
		skipped = to - from - int64(limit)
		from += skipped
	}
	buf := make([]byte, to-from)
	if len(buf) == 0 {
		return "", skipped, nil
	}
	if _, err := o.ReadAt(buf, from); err != nil {
		return "", 0, fmt.Errorf("reading %s: %w", o.Path(), err)
	}
	return strings.ToValidUTF8(string(buf), "\uFFFD"), skipped, nil
}

// Unread reports whether there is output that [Task.Read] has not handed out.
func (task *Task) Unread() bool {
	task.mu.Lock()
	defer task.mu.Unlock()
	return task.read < task.Output.Size()
}
