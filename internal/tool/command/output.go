package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/msg"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/proc/task"
	"adze/internal/platform/term"
	"adze/internal/tool"
)

const (
	// interval is the polling interval for a running command.
	interval = 100 * time.Millisecond
	// showElapsed is the run time after which the elapsed time is shown.
	showElapsed = 2 * time.Second
	// Limits on the lines shown of a running command, and of an ended one.
	shownLines, shownChars = 5, 200
	endLines, endChars     = 400, 2000
	// maxStructured limits the output passed to hooks and the log.
	maxStructured = 30_000
)

// An Output is the structured result, in the format hooks and clients expect.
type Output struct {
	// Stdout holds standard output and standard error in the order printed. They share a pipe,
	// since only that preserves their order; Stderr is always empty, for compatibility.
	Stdout      string `json:"stdout"`
	Stderr      string `json:"stderr"`
	Interrupted bool   `json:"interrupted"`
	ExitCode    int    `json:"exitCode"` // -1 if unknown
	Signal      string `json:"signal,omitempty"`
	TimedOut    bool   `json:"timedOut"`
	Truncated   bool   `json:"truncated"` // Stdout lacks its middle
	DurationMs  int64  `json:"durationMs"`
	// TaskID and OutputFile are set for a command that continues in the background.
	TaskID     string `json:"backgroundTaskId,omitempty"`
	OutputFile string `json:"outputFile,omitempty"`
}

// An output collects a command's output: cleaned, and bounded in memory.
type output struct {
	cleaner *term.Cleaner
	spool   *task.Output
	start   time.Time
	stays   bool // see [tool.Output]
}

func newOutput(spool *task.Output) *output {
	return &output{cleaner: term.NewCleaner(spool), spool: spool, start: time.Now()}
}

// watch reports the last lines when new ones appear or another second has passed, until the
// returned function is called.
func (o *output) watch(command string, report func(tool.Progress)) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		var size, second int64
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			elapsed := time.Since(o.start)
			now := int64(elapsed.Seconds())
			if elapsed < showElapsed {
				now = 0 // most commands end before the time matters
			}
			if s := o.spool.Size(); s != size || now != second {
				size, second = s, now
				report(tool.Progress{Display: o.display(command, elapsed, shownLines, shownChars)})
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// display returns the last count lines, each truncated to chars characters.
func (o *output) display(command string, elapsed time.Duration, count, chars int) tool.Output {
	tail, lines := o.spool.Tail(count * chars * utf8.UTFMax)
	text := strings.ToValidUTF8(strings.TrimRight(string(tail), "\n"), "")
	last := strings.Split(text, "\n")
	last = last[max(0, len(last)-count):]
	for i, line := range last {
		last[i] = clip(line, chars)
	}
	return tool.Output{Command: command, Text: strings.Join(last, "\n"), Lines: lines, Elapsed: elapsed, Stays: o.stays}
}

func clip(s string, max int) string {
	if r := []rune(s); len(r) > max {
		return string(r[:max-1]) + "…"
	}
	return s
}

// An ending describes how a command ended, and its limits.
type ending struct {
	osproc.Exit
	limit   time.Duration
	clamped bool  // limit is less than requested
	answer  bool  // code 1 is an answer, not a failure
	lost    error // why output was lost, or nil
	Remarks
}

// failed reports whether the result is an error.
func (e ending) failed() bool {
	return e.Code != 0 && !(e.answer && e.Code == 1) || e.Cancelled || e.TimedOut || e.lost != nil || e.Undone != ""
}

// status returns the ending as a task status with a description.
func (e ending) status() (task.Status, string) {
	words := fmt.Sprintf("exit code %d", e.Code)
	switch {
	case errors.Is(e.lost, task.ErrFull):
		words = "ended: it printed more than 1 GB"
	case e.lost != nil:
		words = "ended: its output could not be kept"
	case e.Signal != "":
		words = "ended by a signal: " + e.Signal
	}
	if e.failed() {
		return task.Failed, words
	}
	return task.Completed, words
}

// words describes how the command ended, or returns "" if it just succeeded.
func (e ending) words() string {
	var lines []string
	took := e.Duration.Round(100 * time.Millisecond)
	switch {
	case errors.Is(e.lost, task.ErrFull):
		lines = append(lines, fmt.Sprintf("The command was ended after %v because it printed more than 1 GB.", took))
	case e.lost != nil:
		lines = append(lines, fmt.Sprintf("The command was ended after %v because its output could not be kept: %v.", took, e.lost))
	case e.TimedOut:
		lines = append(lines, fmt.Sprintf("The command exceeded its time limit of %d ms and was stopped. Its output up to then:", e.limit.Milliseconds()))
	case e.Cancelled:
		lines = append(lines, fmt.Sprintf("The command was interrupted after %v. The output is incomplete; its changes up to then remain.", took))
	case e.Signal != "":
		lines = append(lines, fmt.Sprintf("The command was ended by a signal (%s).", e.Signal))
	case e.Code != 0:
		lines = append(lines, fmt.Sprintf("Exit code %d", e.Code))
	}
	if e.Running {
		lines = append(lines, "It has not ended yet, and is killed within seconds.")
	}
	if e.clamped {
		lines = append(lines, fmt.Sprintf("(The time limit was %d ms, the longest there is.)", e.limit.Milliseconds()))
	}
	if e.Undone != "" {
		lines = append(lines, e.Undone)
	}
	if e.Note != "" {
		lines = append(lines, e.Note)
	}
	return strings.Join(lines, "\n")
}

// result returns the command's output and how it ended. Output too large for memory becomes the
// body, which exists until it has been read and closed.
func (o *output) result(command string, e ending) tool.Result {
	text, whole := o.spool.Whole()
	printed := trimBlank(string(text))
	r := tool.Result{IsError: e.failed()}
	words := e.words()
	switch {
	case !whole:
		r.Body = o.spool
	case printed == "" && words == "":
		words = "The command succeeded and printed nothing."
	case printed != "" && words != "":
		words = printed + "\n" + words
	case printed != "":
		words = printed
	}
	if image, ok := picture(o.spool); ok {
		r.Parts, r.Body, words = []msg.Part{image}, nil, e.words()
		defer o.spool.Discard()
	}
	if words = Join(words, e.Limits); words != "" {
		r.Parts = append(r.Parts, &msg.Text{Text: words})
	}

	display := o.display(command, e.Duration, endLines, endChars)
	display.Exit, display.Note = &e.Code, e.words()
	r.Display = display
	r.Structured = Output{
		Stdout: o.structured(printed, whole), Interrupted: e.Cancelled && e.lost == nil, ExitCode: e.Code, Signal: e.Signal,
		TimedOut: e.TimedOut, Truncated: !whole, DurationMs: e.Duration.Milliseconds(),
	}
	if whole {
		o.spool.Discard()
	}
	return r
}

// structured returns the output for hooks and the log: all of it, or the start and end if it is
// long.
func (o *output) structured(printed string, whole bool) string {
	if whole {
		return printed
	}
	head := o.spool.Head(maxStructured / 2)
	tail, _ := o.spool.Tail(maxStructured / 2)
	omitted := o.spool.Size() - int64(len(head)+len(tail))
	text := string(head) + fmt.Sprintf("\n… [%d bytes left out] …\n", omitted) + string(tail)
	return strings.ToValidUTF8(text, "")
}

// Join joins the non-empty lines.
func Join(lines ...string) string {
	return strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
}

// trimBlank returns s without leading and trailing blank lines, and without a final newline.
func trimBlank(s string) string {
	for {
		line, rest, found := strings.Cut(s, "\n")
		if strings.TrimSpace(line) != "" {
			break
		}
		if !found {
			return ""
		}
		s = rest
	}
	for {
		rest, line := s, ""
		if i := strings.LastIndexByte(s, '\n'); i >= 0 {
			rest, line = s[:i], s[i+1:]
		} else {
			return s
		}
		if strings.TrimSpace(line) != "" {
			return s
		}
		s = rest
	}
}

// redisplay returns the output of an earlier call from its structured result.
func redisplay(structured json.RawMessage) tool.Display {
	out := Output{ExitCode: -1}
	if json.Unmarshal(structured, &out) != nil {
		return nil
	}
	text := Join(strings.TrimRight(out.Stdout, "\n"), strings.TrimRight(out.Stderr, "\n")) // other programs keep them apart
	d := tool.Output{Text: text, Elapsed: time.Duration(out.DurationMs) * time.Millisecond}
	if text != "" {
		d.Lines = strings.Count(text, "\n") + 1
	}
	switch {
	case out.TaskID != "":
		d.Note = "moved to the background"
		return d
	case out.TimedOut:
		d.Note = "The command exceeded its time limit and was stopped."
	case out.Interrupted:
		d.Note = "The command was interrupted."
	case out.Signal != "":
		d.Note = fmt.Sprintf("The command was ended by a signal (%s).", out.Signal)
	}
	if out.ExitCode >= 0 {
		d.Exit = &out.ExitCode
	}
	return d
}
