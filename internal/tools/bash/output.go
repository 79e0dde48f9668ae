package bash

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/msg"
	"adze/internal/platform/osproc"
	"adze/internal/platform/term"
	"adze/internal/tool"
)

const (
	// inMemory holds everything the model may read of a result.
	inMemory = 4 * maxChars
	// maxOutput is how much a command may print before it is ended.
	maxOutput = 1 << 30
	// interval is the time between two looks at a running command.
	interval = 100 * time.Millisecond
	// What is shown of a running command.
	shownLines, shownChars = 5, 200
)

// An Output is the structured result, in the shape hooks and clients know.
type Output struct {
	// Stdout holds standard output and standard error in the order they were printed. They share a
	// pipe, since only that keeps their order; Stderr is there for those who expect it, and empty.
	Stdout      string `json:"stdout"`
	Stderr      string `json:"stderr"`
	Interrupted bool   `json:"interrupted"`
	ExitCode    int    `json:"exitCode"` // -1 if there is none
	Signal      string `json:"signal,omitempty"`
	TimedOut    bool   `json:"timedOut"`
	Truncated   bool   `json:"truncated"` // Stdout lacks its middle
	DurationMs  int64  `json:"durationMs"`
}

// An output collects what a command prints: cleaned, and bounded in memory.
type output struct {
	cleaner *term.Cleaner
	spool   *osproc.Spool
	start   time.Time
}

func newOutput(dir string) *output {
	spool := osproc.NewSpool(dir, inMemory, maxOutput)
	return &output{cleaner: term.NewCleaner(spool), spool: spool, start: time.Now()}
}

// watch reports the last lines whenever there are new ones or another second has passed, until the
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
			if s := o.spool.Size(); s != size || int64(elapsed.Seconds()) != second {
				size, second = s, int64(elapsed.Seconds())
				report(tool.Progress{Display: o.display(command, elapsed)})
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// display shows the last lines.
func (o *output) display(command string, elapsed time.Duration) tool.Output {
	tail, lines := o.spool.Tail(shownLines * shownChars * utf8.UTFMax)
	text := strings.ToValidUTF8(strings.TrimRight(string(tail), "\n"), "")
	last := strings.Split(text, "\n")
	last = last[max(0, len(last)-shownLines):]
	for i, line := range last {
		last[i] = clip(line, shownChars)
	}
	return tool.Output{Command: command, Text: strings.Join(last, "\n"), Lines: lines, Elapsed: elapsed}
}

func clip(s string, max int) string {
	if r := []rune(s); len(r) > max {
		return string(r[:max-1]) + "…"
	}
	return s
}

// An ending is how a command ended, and under which conditions.
type ending struct {
	osproc.Exit
	limit   time.Duration
	clamped bool  // limit is less than was asked for
	lost    error // why output was lost, or nil
}

// failed reports whether the result is an error.
func (e ending) failed() bool { return e.Code != 0 || e.Cancelled || e.TimedOut || e.lost != nil }

// words says how the command ended, if there is more to say than that it succeeded.
func (e ending) words() string {
	var lines []string
	took := e.Duration.Round(100 * time.Millisecond)
	switch {
	case errors.Is(e.lost, osproc.ErrSpoolFull):
		lines = append(lines, fmt.Sprintf("The command was ended after %v because it printed more than 1 GB.", took))
	case e.lost != nil:
		lines = append(lines, fmt.Sprintf("The command was ended after %v because its output could not be kept: %v.", took, e.lost))
	case e.TimedOut:
		lines = append(lines, fmt.Sprintf("The command was ended after its time limit of %d ms. The output is what it printed until then.", e.limit.Milliseconds()))
	case e.Cancelled:
		lines = append(lines, fmt.Sprintf("The command was interrupted after %v. The output is what it printed until then; what it had changed by then stays changed.", took))
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
	return strings.Join(lines, "\n")
}

// result returns what the command printed and how it ended. Output that was too much for memory
// becomes the body, which lives until it has been read and closed.
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
	if words != "" {
		r.Parts = []msg.Part{&msg.Text{Text: words}}
	}

	display := o.display(command, e.Duration)
	display.Exit, display.Note = &e.Code, e.words()
	r.Display = display
	r.Structured = Output{
		Stdout: o.structured(printed, whole), Interrupted: e.Cancelled && e.lost == nil, ExitCode: e.Code, Signal: e.Signal,
		TimedOut: e.TimedOut, Truncated: !whole, DurationMs: e.Duration.Milliseconds(),
	}
	if whole {
		o.spool.Close() // ok: there is nothing to discard
	}
	return r
}

// structured returns what hooks and the log get: everything, or the beginning and the end of much.
func (o *output) structured(printed string, whole bool) string {
	if whole {
		return printed
	}
	head := o.spool.Head(maxChars / 2)
	tail, _ := o.spool.Tail(maxChars / 2)
	omitted := o.spool.Size() - int64(len(head)+len(tail))
	text := string(head) + fmt.Sprintf("\n… [%d bytes left out] …\n", omitted) + string(tail)
	return strings.ToValidUTF8(text, "")
}

// trimBlank returns s without blank lines at its beginning and its end.
func trimBlank(s string) string {
	for {
		line, rest, found := strings.Cut(s, "\n")
		if !found || strings.TrimSpace(line) != "" {
			break
		}
		s = rest
	}
	return strings.TrimRight(s, " \t\n")
}
