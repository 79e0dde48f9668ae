package bash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"adze/internal/platform/osproc"
	"adze/internal/platform/shell"
	"adze/internal/platform/task"
	"adze/internal/tool"
	"adze/internal/tool/command"
)

// A call is one command in the directory that was current when it was bound.
type call struct {
	in      Input
	dir     string
	config  Config
	script  *shell.Script
	command func() *tool.Command
	inPlace func() *inPlace             // the edit that it is, or nil
	leave   bool                        // the model wants it outside the sandbox
	outside func() bool                 // it runs without a sandbox
	judged  map[string][]string         // what its paths led to when it was judged; nil if nobody did
	below   []string                    // directories of which all that is below was judged
	ignored string                      // which wish of the model was not heeded, in words
	ended   string                      // the directory where it ended, or "" if it did not say
	end     func(printed string) string // ends its sandbox; nil if it is in none
}

func newCall(in Input, c Config) *call {
	call := &call{in: in, dir: c.Dir(), config: c}
	call.script = c.dialect().Parse(in.Command, shell.Vars{})
	call.decideSandbox()
	call.command = sync.OnceValue(call.findCommand)
	call.inPlace = sync.OnceValue(call.findInPlace)
	return call
}

// findCommand returns what is known about the command.
func (c *call) findCommand() *tool.Command {
	doubt := c.script.ReadOnly()
	if doubt == nil && c.script.UsesGit() {
		doubt = shell.CheckGit(c.dir)
	}
	return &tool.Command{
		Line: c.in.Command, Script: c.script,
		Doubt: doubt, Warning: c.script.Destructive(), Leaves: c.leave,
		Edits:  func() bool { return c.inPlace() != nil },
		Judged: c.judge,
	}
}

// Command tells the gates what is known about the command.
func (c *call) Command() *tool.Command { return c.command() }

func (c *call) Input() any {
	if c.config.MayLeave {
		return LeavingInput{c.in, c.leave}
	}
	return c.in
}

// Match reports whether the condition of a hook applies: to any command in the line, and always to a
// line that is not understood.
func (c *call) Match(content string) (bool, error) {
	pattern, err := shell.ParsePattern(content)
	if err != nil {
		return true, err
	}
	if !c.script.Simple {
		return true, nil
	}
	_, ok := c.script.Suspected(pattern)
	return ok, nil
}

// Fold says whether the command only searches, reads or lists, for display.
func (c *call) Fold() tool.Fold {
	switch c.script.Class() {
	case shell.ClassSearch:
		return tool.FoldSearch
	case shell.ClassRead:
		return tool.FoldRead
	case shell.ClassList:
		return tool.FoldList
	}
	return tool.NoFold
}

// ReadOnly says that the command is proven to only read.
func (c *call) ReadOnly() bool { return c.command().Doubt == nil }

// Concurrent says that the command may run beside others: if it only reads, and the next one does not
// begin where it ends.
func (c *call) Concurrent() bool {
	return c.ReadOnly() && !(c.config.SetDir != nil && c.script.ChangesDir())
}

// Destructive says that the command may do what cannot be undone.
func (c *call) Destructive() bool { return c.command().Warning != "" }

// OpenWorld says that the command may reach beyond this machine: proven ones do not.
func (c *call) OpenWorld() bool { return !c.ReadOnly() }

// Run runs the command. If ctx is cancelled meanwhile, the result says what there was until then.
func (c *call) Run(ctx context.Context, report func(tool.Progress)) (tool.Result, error) {
	if err := c.checkDir(); err != nil {
		return tool.Result{}, err
	}
	if instead := waits(c.script); instead != "" {
		return tool.Result{}, errors.New(instead)
	}
	if edit := c.inPlace(); edit != nil {
		return edit.run(ctx), nil
	}
	cmd := command.Command{
		Limits: c.config.limits,
		Text:   c.in.Command, Description: c.in.Description, Asked: command.Milliseconds(c.in.Timeout),
		InBackground: c.in.Background, Stays: !c.qualifies(), Answers: c.answers(), Quiet: c.ReadOnly(),
		Execute: c.execute, Ended: c.remarks,
	}
	return cmd.Run(ctx, report)
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

// execute runs the command in one of the two ways there are.
func (c *call) execute(ctx context.Context, out io.Writer, limit time.Duration) (exit osproc.Exit, err error) {
	if c.ReadOnly() {
		exit, c.ended, err = c.runReadOnly(ctx, out, limit)
	} else {
		exit, c.ended, err = c.runShell(ctx, out, limit)
	}
	return exit, err
}

// remarks ends the sandbox of a command that has ended, and returns what there is to say about it.
func (c *call) remarks(t *task.Task, exit osproc.Exit, printed string) command.Remarks {
	r := command.Remarks{Note: command.Join(c.ignored, c.arrive(t))}
	if exit.Code != 0 || printed == "" {
		r.Note = command.Join(r.Note, missed(c.script))
	}
	if c.end != nil {
		r.Limits = c.end(printed)
	}
	return r
}

// qualifies reports whether the command may go on in the background: not if waiting is its purpose, or
// if it needs a terminal and ends soon for lack of one.
func (c *call) qualifies() bool {
	if len(c.script.Parts) == 0 || len(c.script.Parts[0].Words) == 0 {
		return true
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

// arrive makes the directory where the command ended the working directory of the next one, and says so
// if it is not.
func (c *call) arrive(t *task.Task) string {
	dir := c.ended
	if c.config.SetDir == nil || dir == "" || dir == c.dir || t.Background() || t.Stopped() {
		return ""
	}
	if now := c.config.SetDir(dir); !sameDir(now, dir) {
		return fmt.Sprintf("The working directory was reset to %s: %s is outside of where you work.", now, dir)
	}
	return ""
}
