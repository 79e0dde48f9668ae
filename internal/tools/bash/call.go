package bash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/osproc"
	"adze/internal/platform/shell"
	"adze/internal/platform/task"
	"adze/internal/tool"
)

// A call is one command in the directory that was current when it was bound.
type call struct {
	in         Input
	dir        string
	config     Config
	shell      func() (string, error)
	background bool // there are background tasks
	script     *shell.Script
	readOnly   func() bool
	limit      time.Duration               // what the process itself is held to; 0 if the call sees to it
	leave      bool                        // the model wants it outside the sandbox
	ignored    string                      // which wish of the model was not heeded, in words
	end        func(printed string) string // ends its sandbox; nil if it is in none
}

func newCall(in Input, c Config, find func() (string, error), background bool) *call {
	call := &call{in: in, dir: c.Dir(), config: c, shell: find, background: background}
	call.script = shell.Parse(in.Command, shell.Vars{})
	call.readOnly = sync.OnceValue(func() bool {
		return call.script.ReadOnly() == nil && (!call.script.UsesGit() || shell.CheckGit(call.dir) == nil)
	})
	return call
}

func (c *call) Input() any {
	if c.config.MayLeave {
		return LeavingInput{c.in, c.leave}
	}
	return c.in
}

// ReadOnly says that the command is proven to only read.
func (c *call) ReadOnly() bool { return c.readOnly() }

// Concurrent says that the command may run beside others: if it only reads, and the next one does not
// begin where it ends.
func (c *call) Concurrent() bool {
	return c.readOnly() && !(c.config.SetDir != nil && c.script.ChangesDir())
}

// Destructive says that the command may do what cannot be undone.
func (c *call) Destructive() bool { return c.script.Destructive() != "" }

// OpenWorld says that the command may reach beyond this machine: proven ones do not.
func (c *call) OpenWorld() bool { return !c.readOnly() }

// Run runs the command. If ctx is cancelled meanwhile, the result says what there was until then.
func (c *call) Run(ctx context.Context, report func(tool.Progress)) (tool.Result, error) {
	if c.in.Background && !c.background {
		return tool.Result{}, errors.New("background tasks are disabled: run the command without run_in_background")
	}
	if err := c.checkDir(); err != nil {
		return tool.Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	title := c.in.Description
	if title == "" {
		title = tool.OneLine(c.in.Command, 80)
	}
	t, err := c.config.Tasks.Begin(ctx, task.Shell, title, c.in.Command)
	if err != nil {
		return tool.Result{}, err
	}
	if c.in.Background {
		if err := t.ToBackground(); err != nil {
			t.End(task.Failed, "not started")
			t.Output.Discard()
			return tool.Result{}, err
		}
	}
	r := c.start(t)
	if c.in.Background {
		return c.moved(r, "The command runs in the background"), nil
	}
	return c.wait(ctx, r, report)
}

// checkDir refuses to run a command in a directory that is gone, and moves on to one that is not.
func (c *call) checkDir() error {
	if info, err := os.Stat(c.dir); err == nil && info.IsDir() {
		return nil
	}
	text := "the working directory " + c.dir + " does not exist any more"
	if c.config.SetDir != nil {
		text += "; it is " + c.config.SetDir("") + " now, so run the command again if it belongs there"
	}
	return errors.New(text)
}

// A running command, and its ending once it has one.
type running struct {
	task    *task.Task
	out     *output
	limit   time.Duration
	clamped bool

	ending ending // valid when the task is done
	err    error  // it did not start
}

// start runs the command on its own: whoever waits for it may leave.
func (c *call) start(t *task.Task) *running {
	r := &running{task: t, out: newOutput(t.Output)}
	r.limit, r.clamped = c.timeLimit()
	if !c.in.Background && !c.qualifies() {
		c.limit = r.limit
	}
	go func() {
		exit, dir, err := c.execute(t.Context(), r)
		if err != nil && exit == (osproc.Exit{}) {
			c.limits(r)
			r.err = err
			t.End(task.Failed, err.Error())
			return
		}
		if closing := r.out.cleaner.Close(); err == nil {
			err = closing
		}
		r.ending = ending{Exit: exit, limit: r.limit, clamped: r.clamped, lost: err, answer: c.answers(), note: joinLines(c.ignored, c.arrive(dir, t)), limits: c.limits(r)}
		t.End(r.ending.status())
	}()
	return r
}

// limits ends the sandbox of a command that has ended, and returns what the model has to know about it.
func (c *call) limits(r *running) string {
	if c.end == nil {
		return ""
	}
	printed, _ := r.out.spool.Tail(maxChars)
	return c.end(string(printed))
}

// execute runs the command in one of the two ways there are.
func (c *call) execute(ctx context.Context, r *running) (osproc.Exit, string, error) {
	if c.readOnly() {
		return c.runReadOnly(ctx, r.out.cleaner)
	}
	return c.runShell(ctx, r.out.cleaner)
}

// wait waits for a command until it ends, or goes on without it.
func (c *call) wait(ctx context.Context, r *running, report func(tool.Progress)) (tool.Result, error) {
	stop := r.out.watch(c.in.Command, report)
	var budget, limit <-chan time.Time
	if c.qualifies() {
		budget, limit = after(c.config.Budget), after(r.limit)
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
			if c.qualifies() && r.task.ToBackground() == nil {
				stop()
				return c.moved(r, "The person moved the command to the background"), nil
			}
		case <-budget:
			if r.task.ToBackground() == nil {
				stop()
				return c.moved(r, fmt.Sprintf("The command still runs after %v and goes on in the background", c.config.Budget)), nil
			}
		case <-limit:
			if r.task.ToBackground() == nil {
				stop()
				return c.moved(r, fmt.Sprintf("The command still runs after its time limit of %d ms and goes on in the background", r.limit.Milliseconds())), nil
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
	return r.out.result(c.in.Command, r.ending), nil
}

// after is time.After, and never if d is zero.
func after(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return time.After(d)
}

// moved returns the result of a command that goes on in the background.
func (c *call) moved(r *running, what string) tool.Result {
	t := r.task
	text := fmt.Sprintf("%s as task %s. Its output is written to %s. You are told when it ends; until then use TaskOutput to look at it and TaskStop to end it.", what, t.ID, t.Output.Path())
	printed, _ := t.Output.Tail(maxChars / 2)
	if shown := strings.ToValidUTF8(trimBlank(string(printed)), ""); shown != "" {
		text = shown + "\n" + text
	}
	display := r.out.display(c.in.Command, time.Since(r.out.start))
	display.Note = "runs in the background as " + t.ID
	return tool.Result{
		Parts:   []msg.Part{&msg.Text{Text: text}},
		Display: display,
		Structured: Output{
			Stdout: strings.ToValidUTF8(trimBlank(string(printed)), ""), ExitCode: -1, TaskID: t.ID, OutputFile: t.Output.Path(),
			DurationMs: time.Since(r.out.start).Milliseconds(),
		},
	}
}

// timeLimit returns how long the command may run, and whether that is less than was asked for.
func (c *call) timeLimit() (limit time.Duration, clamped bool) {
	if c.in.Timeout == 0 {
		return min(c.config.Timeout, c.config.MaxTimeout), false
	}
	// Compared in milliseconds: a huge number would overflow a duration.
	if most := c.config.MaxTimeout; int64(c.in.Timeout) > most.Milliseconds() {
		return most, true
	}
	return time.Duration(c.in.Timeout) * time.Millisecond, false
}

// qualifies reports whether the command may go on in the background: not if waiting is its purpose, or
// if it needs a terminal and ends soon for lack of one.
func (c *call) qualifies() bool {
	if !c.background || len(c.script.Parts) == 0 || len(c.script.Parts[0].Words) == 0 {
		return c.background
	}
	words := c.script.Parts[0].Words
	switch words[0].Value {
	case "sleep", "vi", "vim", "nvim", "nano", "emacs", "less", "more", "man", "top", "htop", "tmux", "screen":
		return false
	case "ssh":
		return len(words) > 2
	}
	return true
}

// answers reports whether exit code 1 of the command is an answer: the line ends with one that says
// "no" or "none" that way.
func (c *call) answers() bool {
	if !c.script.Simple {
		return false
	}
	words := c.script.Parts[len(c.script.Parts)-1].Words
	switch words[0].Value {
	case "grep", "egrep", "fgrep", "rg", "diff", "test", "[", "find":
		return true
	case "git":
		return len(words) > 1 && (words[1].Value == "diff" || words[1].Value == "grep")
	}
	return false
}

// sameDir reports whether two names lead to the same directory.
func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return a == b || errX == nil && errY == nil && os.SameFile(x, y)
}

// arrive makes dir the working directory of the next command, and says so if it is not.
func (c *call) arrive(dir string, t *task.Task) string {
	if c.config.SetDir == nil || dir == "" || dir == c.dir || t.Background() || t.Stopped() {
		return ""
	}
	if now := c.config.SetDir(dir); !sameDir(now, dir) {
		return fmt.Sprintf("The working directory was reset to %s: %s is outside of where you work.", now, dir)
	}
	return ""
}
