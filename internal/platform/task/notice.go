package task

import (
	"fmt"
	"strings"
	"time"
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
	// Report is what a task that has more to tell than the end of its output says; nil for others.
	Report *Report
}

// A Report is what came of a task that has more to tell than its output.
type Report struct {
	// Result is what it says in the end.
	Result string
	// Tokens, Calls and Took are what it took; they are left out if all are zero.
	Tokens, Calls int
	Took          time.Duration
	// Worktree and Branch are where its changes are, if not in the working directory.
	Worktree, Branch string
}

// Conclude keeps what came of a task that is about to end.
func (task *Task) Conclude(r Report) {
	task.mu.Lock()
	defer task.mu.Unlock()
	task.report = &r
}

// Concluded returns what was kept, or nil.
func (task *Task) Concluded() *Report {
	task.mu.Lock()
	defer task.mu.Unlock()
	return task.report
}

// maxResult is how much of a result a notice holds, in characters.
const maxResult = 30_000

// shown returns the result as a notice has it.
func (r *Report) shown(file string) string {
	all := []rune(r.Result)
	if len(all) <= maxResult {
		return r.Result
	}
	return fmt.Sprintf("%s\n[Cut: %d of %d characters. All of it is in %s.]", string(all[:maxResult]), maxResult, len(all), file)
}

// How much of the end of the output a notice shows.
const (
	noticeLines = 10
	noticeChars = 2000
)

// Tell announces something about a task in the background that runs: a sentence, and what it printed up to a place in its
// output, which is not told again at its end.
func Tell(task *Task, summary, printed string, upTo int64) {
	task.mu.Lock()
	running := task.background && task.status == Running
	if running {
		task.out.told = upTo
	}
	task.mu.Unlock()
	if !running || !task.table.tells() {
		return
	}
	task.table.notify(Notice{
		ID: task.ID, CallID: task.CallID, Status: Running, OutputFile: task.Output.Path(), Summary: summary, Tail: printed,
	})
	task.table.announced(0)
}

// tells reports whether something can be announced.
func (t *Table) tells() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.closed && t.notify != nil
}

// untold returns the end of what the task printed and was not told of.
func untold(task *Task) []byte {
	task.mu.Lock()
	told := task.out.told
	task.mu.Unlock()
	tail, _ := task.Output.Tail(4 * noticeChars)
	if told == 0 {
		return tail
	}
	return tail[max(0, int64(len(tail))-(task.Output.Size()-told)):]
}

// Summary says in a sentence what a task is and how it stands.
func Summary(task *Task) string {
	summary := fmt.Sprintf("%s %q %s", task.noun(), task.Title, task.Status())
	if ending := task.Ending(); ending != "" {
		summary += " (" + ending + ")"
	}
	return summary
}

func (task *Task) notice() Notice {
	tail := untold(task)
	remark := task.Remarks()
	if why := stopReason(task); why != "" {
		remark = strings.TrimPrefix(remark+"\n"+why, "\n")
	}
	if task.overdue() {
		remark = strings.TrimPrefix(remark+fmt.Sprintf("\nIt was ended because it was all that was waited for, and had run for %v.", task.Limit), "\n")
	}
	return Notice{
		ID: task.ID, CallID: task.CallID, Status: task.Status(), Summary: Summary(task),
		OutputFile: task.Output.Path(), Tail: lastLines(tail), Remark: remark, Report: task.Concluded(),
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
	if r := n.Report; r != nil {
		element("result", r.shown(n.OutputFile))
		if r.Tokens > 0 || r.Calls > 0 || r.Took > 0 {
			fmt.Fprintf(&b, "<usage><total_tokens>%d</total_tokens><tool_uses>%d</tool_uses><duration_ms>%d</duration_ms></usage>\n", r.Tokens, r.Calls, r.Took.Milliseconds())
		}
		element("worktree", r.Worktree)
		element("branch", r.Branch)
	} else {
		element("result", n.Tail)
	}
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
		from = task.out.read
	}
	task.out.read = size
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
	return task.out.read < task.Output.Size()
}
