// Package command runs a command for the command tools: it collects and shows output, waits for
// the end, moves the command to the background, and reports how it ended. The tools start the
// command.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/msg"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/proc/task"
	"adze/internal/tool"
)

const (
	// maxCommand limits a command's length; the kernel's error for a longer one is less clear.
	maxCommand = 100_000
	// DefaultMaxChars is the default limit on the output the model reads.
	DefaultMaxChars = 30_000
	// Default time limits.
	defaultTimeout    = 2 * time.Minute
	defaultMaxTimeout = 10 * time.Minute
	defaultWait       = 30 * time.Minute
	// awaitedForeground is the maximum run time of a command that exceeded its time limit and
	// is awaited at the end of a turn.
	awaitedForeground = time.Hour
)

// check refuses commands that cannot run. Its error is for the model.
func check(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("the command is empty: give a command to run")
	case strings.ContainsRune(text, 0):
		return errors.New("the command contains a null byte")
	case utf8.RuneCountInString(text) > maxCommand:
		return errors.New("the command is longer than 100000 characters: write it to a script file and run that")
	}
	return nil
}

// Limits holds the limits on a session's commands.
type Limits struct {
	// Tasks stores output and background commands; its owner closes it before the runner. Nil
	// disables background commands.
	Tasks *task.Table
	// Budget is how long a command without an explicit time limit may block the conversation
	// before it continues in the background; 0 means until its time limit.
	Budget time.Duration
	// Awaited means that the turn ends only after its background commands; Left excludes
	// commands that the model started in the background. Reported means that background
	// commands end with the turn and that no tools manage them, which the model's description
	// mentions.
	Awaited, Left, Reported bool
	// Timeout is the default time limit, and MaxTimeout the maximum; 0 means 2 and 10 minutes.
	Timeout, MaxTimeout time.Duration
	// Wait is the maximum run time of a background command that is awaited at the end of a
	// turn; 0 means 30 minutes.
	Wait time.Duration

	background bool // background commands are enabled
}

func (l *Limits) fill() {
	if l.Timeout == 0 {
		l.Timeout = defaultTimeout
	}
	if l.MaxTimeout == 0 {
		l.MaxTimeout = defaultMaxTimeout
	}
	if l.Wait == 0 {
		l.Wait = defaultWait
	}
}

// A Command is a command to run.
type Command struct {
	Limits
	Input
	// Stays means that the command never moves to the background by itself: waiting is its
	// purpose, or it ends soon.
	Stays bool
	// Answers means that exit code 1 is an answer, not a failure.
	Answers bool
	// Quiet means that the command only reads, so that output storage can be checked when it
	// first prints.
	Quiet bool

	// Execute runs the command until it ends, ctx is done, or the limit expires; 0 means that
	// the caller enforces the time limit. An error without an exit means that it did not start.
	Execute func(ctx context.Context, out io.Writer, limit time.Duration) (osproc.Exit, error)
	// Ended is called once after that, with the last part of the output. May be nil.
	Ended func(t *task.Task, exit osproc.Exit, printed string) Remarks
}

// Remarks holds remarks about an ended command, in addition to its output.
type Remarks struct {
	Note   string // such as about the working directory
	Limits string // limits it hit, only for the model
	Undone string // effects that were undone; the command has then failed
}

// Run runs the command. If ctx is canceled, the result holds the output so far.
func (c *Command) Run(ctx context.Context, report func(tool.Progress)) (tool.Result, error) {
	if c.Input.Background && !c.background {
		return tool.Result{}, errors.New("background tasks are disabled: run the command without run_in_background")
	}
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	title := c.Description
	if title == "" {
		title = tool.OneLine(c.Input.Command, 80)
	}
	t, err := c.Tasks.Begin(ctx, task.Shell, title, c.Input.Command)
	if err != nil {
		return tool.Result{}, err
	}
	t.Limit = c.awaited()
	task.RunsFor(t, tool.UseOf(ctx))
	if err := c.prepare(t); err != nil {
		t.End(task.Failed, "not started")
		t.Output.Discard()
		return tool.Result{}, err
	}
	r := c.start(t)
	if c.Input.Background {
		return c.moved(r, "The command runs in the background"), nil
	}
	return c.wait(ctx, r, report)
}

// awaited returns how long the command may run when it is the only thing left to wait for. A
// command started in the background may be a server that never ends.
func (c *Command) awaited() time.Duration {
	switch {
	case !c.Input.Background:
		return max(c.MaxTimeout, awaitedForeground)
	case c.Left:
		return task.NotAwaited
	case c.Input.Timeout > 0:
		limit, _ := c.timeLimit()
		return min(limit, c.Wait)
	}
	return c.Wait
}

// prepare ensures that output can be stored before the command does anything. A read-only
// command can check that when it first prints.
func (c *Command) prepare(t *task.Task) error {
	switch {
	case c.Input.Background:
		return t.ToBackground()
	case c.Quiet:
		return nil
	}
	return t.Output.Make()
}

// moves reports whether the command may move to the background by itself.
func (c *Command) moves() bool { return c.background && !c.Stays }

// A running is a started command, with its ending once it has ended.
type running struct {
	task    *task.Task
	out     *output
	limit   time.Duration
	clamped bool

	ending ending // valid when the task is done
	err    error  // start error
}

// start runs the command independently: the caller may stop waiting for it.
func (c *Command) start(t *task.Task) *running {
	r := &running{task: t, out: newOutput(t.Output)}
	r.limit, r.clamped = c.timeLimit()
	var limit time.Duration // 0: wait enforces it
	if !c.Input.Background && !c.moves() {
		limit, r.out.stays = r.limit, true
		t.Stay()
	}
	go func() {
		exit, err := c.Execute(t.Context(), r.out.cleaner, limit)
		if err != nil && exit == (osproc.Exit{}) {
			c.remarks(r, exit)
			r.err = err
			t.End(task.Failed, err.Error())
			return
		}
		if closing := r.out.cleaner.Close(); err == nil {
			err = closing
		}
		r.ending = ending{Exit: exit, limit: r.limit, clamped: r.clamped, lost: err, answer: c.Answers, Remarks: c.remarks(r, exit)}
		t.Remark(Join(r.ending.Undone, r.ending.Note, r.ending.Remarks.Limits))
		t.End(r.ending.status())
	}()
	return r
}

// remarks returns the remarks about an ended command.
func (c *Command) remarks(r *running, exit osproc.Exit) Remarks {
	if c.Ended == nil {
		return Remarks{}
	}
	printed, _ := r.out.spool.Tail(maxStructured)
	return c.Ended(r.task, exit, string(printed))
}

// wait waits for a command until it ends or moves to the background.
func (c *Command) wait(ctx context.Context, r *running, report func(tool.Progress)) (tool.Result, error) {
	stop := r.out.watch(c.Input.Command, report)
	var budget, limit <-chan time.Time
	if c.moves() {
		limit = after(r.limit)
		if c.Input.Timeout == 0 {
			budget = after(c.Budget)
		}
	}
	timedOut := false
	for done := false; !done; {
		select {
		case <-r.task.Done():
			done = true
		case <-ctx.Done():
			r.task.Stop()
			<-r.task.Done()
		case <-r.task.Detached():
			if c.moves() && r.task.ToBackground() == nil {
				stop()
				return c.moved(r, "The user moved the command to the background"), nil
			}
		case <-budget:
			if r.task.ToBackground() == nil {
				stop()
				return c.moved(r, fmt.Sprintf("The command is still running after %v and continues in the background", c.Budget)), nil
			}
		case <-limit:
			if r.task.ToBackground() == nil {
				stop()
				return c.moved(r, fmt.Sprintf("The command is still running after its time limit of %d ms and continues in the background", r.limit.Milliseconds())), nil
			}
			timedOut = true
			r.task.Stop()
			<-r.task.Done()
		}
	}
	stop()
	if r.err != nil {
		r.out.spool.Discard()
		return tool.Result{}, r.err
	}
	if timedOut {
		r.ending.Cancelled, r.ending.TimedOut = false, true
	}
	return r.out.result(c.Input.Command, r.ending), nil
}

// after is like [time.After], but never fires if d is zero.
func after(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return time.After(d)
}

// moved returns the result of a command that continues in the background.
func (c *Command) moved(r *running, what string) tool.Result {
	t := r.task
	text := fmt.Sprintf("%s as task %s. Its output goes to %s. You will be notified when it ends; if you need its result first, call TaskOutput with block. TaskStop ends it.", what, t.ID, t.Output.Path())
	switch {
	case c.Reported && !task.Awaited(t):
		text = fmt.Sprintf("%s as task %s. Its output goes to %s. It ends with your report at the latest.", what, t.ID, t.Output.Path())
	case c.Reported:
		text = fmt.Sprintf("%s as task %s. Its output goes to %s. You will be notified when it ends.", what, t.ID, t.Output.Path())
	}
	printed, _ := t.Output.Tail(maxStructured / 2)
	shown := strings.ToValidUTF8(trimBlank(string(printed)), "")
	if shown != "" {
		text = shown + "\n" + text
	}
	display := r.out.display(c.Input.Command, time.Since(r.out.start), shownLines, shownChars)
	display.Note = "running in the background"
	return tool.Result{
		Parts:   []msg.Part{&msg.Text{Text: text}},
		Display: display,
		Structured: Output{
			Stdout: shown, ExitCode: -1, TaskID: t.ID, OutputFile: t.Output.Path(),
			DurationMs: time.Since(r.out.start).Milliseconds(),
		},
	}
}

// milliseconds converts a number given by a model without overflow.
func milliseconds(n int) time.Duration {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	return time.Duration(min(int64(n), most)) * time.Millisecond
}

// timeLimit returns the command's time limit, and whether it is less than requested.
func (c *Command) timeLimit() (limit time.Duration, clamped bool) {
	asked := milliseconds(c.Input.Timeout)
	switch {
	case asked == 0:
		return min(c.Limits.Timeout, c.MaxTimeout), false
	case asked > c.MaxTimeout:
		return c.MaxTimeout, true
	}
	return asked, false
}
