package task

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// A Notice announces that a background task has ended.
type Notice struct {
	ID, CallID string
	Status     Status
	Summary    string // title and outcome
	OutputFile string
	Tail       string // last lines of output
	Remark     string // additional text, see [Task.Remark]
	// Report is the task's result in addition to its output, or nil.
	Report *Report
}

// A Report is the result of a task, in addition to its output.
type Report struct {
	// Result is the final message.
	Result string
	// Tokens, Calls and Took are the resources used. They are omitted if all are zero.
	Tokens, Calls int
	Took          time.Duration
	// Worktree and Branch locate its changes if they are not in the working directory.
	Worktree, Branch string
}

// Conclude sets the report of a task that is about to end.
func (task *Task) Conclude(r Report) {
	task.mu.Lock()
	defer task.mu.Unlock()
	task.report = &r
}

// Concluded returns the task's report, or nil.
func (task *Task) Concluded() *Report {
	task.mu.Lock()
	defer task.mu.Unlock()
	return task.report
}

// maxResult limits the length of a result in a notice, in characters.
const maxResult = 30_000

// shown returns the result as shown in a notice.
func (r *Report) shown(file string) string {
	all := []rune(r.Result)
	if len(all) <= maxResult {
		return r.Result
	}
	return fmt.Sprintf("%s\n[Cut: %d of %d characters. All of it is in %s.]", string(all[:maxResult]), maxResult, len(all), file)
}

// Limits for the output shown in a notice.
const (
	noticeLines = 10
	noticeChars = 2000
)

// Announce announces an event of a running background task: a sentence, and its output up to an
// offset. That output is not repeated in the final notice.
func Announce(task *Task, summary, printed string, upTo int64) {
	task.mu.Lock()
	running := task.background && task.status == Running
	if running {
		task.out.told = upTo
	}
	task.mu.Unlock()
	if !running || !task.table.canNotify() {
		return
	}
	task.table.notify(Notice{
		ID: task.ID, CallID: task.CallID, Status: Running, OutputFile: task.Output.Path(), Summary: summary, Tail: printed,
	})
	task.table.announced(0)
}

// canNotify reports whether the table can announce anything.
func (t *Table) canNotify() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.closed && t.notify != nil
}

// unannounced returns the end of the output that has not been announced.
func unannounced(task *Task) []byte {
	task.mu.Lock()
	told := task.out.told
	task.mu.Unlock()
	tail, _ := task.Output.Tail(4 * noticeChars)
	if told == 0 {
		return tail
	}
	return tail[max(0, int64(len(tail))-(task.Output.Size()-told)):]
}

// Summary describes a task and its status in one sentence.
func Summary(task *Task) string {
	summary := fmt.Sprintf("%s %q %s", task.noun(), task.Title, task.Status())
	if ending := task.Ending(); ending != "" {
		summary += " (" + ending + ")"
	}
	return summary
}

func (task *Task) notice() Notice {
	tail := unannounced(task)
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

// lastLines returns the last few lines of text.
func lastLines(text []byte) string {
	s := strings.ToValidUTF8(strings.TrimRight(string(text), "\n"), "")
	lines := strings.Split(s, "\n")
	s = strings.Join(lines[max(0, len(lines)-noticeLines):], "\n")
	if n := utf8.RuneCountInString(s); n > noticeChars {
		s = string([]rune(s)[n-noticeChars:])
	}
	return s
}

// Text formats the notice for the model. All content except Remark is escaped, so it cannot end
// the block.
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

// Announced reports whether text contains a notice that the task with the given ID has ended.
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

// Read returns up to limit bytes from the end of the task's output: if fresh is set, only
// output since the previous call. skipped is the number of bytes omitted before them.
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

// Peek is like Read from the beginning, but does not mark anything as read.
func (task *Task) Peek(limit int) (text string, skipped int64, err error) {
	return task.Output.text(0, task.Output.Size(), limit)
}

// text returns up to limit bytes from the end of the range between two offsets.
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

// Unread reports whether there is output that [Task.Read] has not returned.
func (task *Task) Unread() bool {
	task.mu.Lock()
	defer task.mu.Unlock()
	return task.out.read < task.Output.Size()
}
