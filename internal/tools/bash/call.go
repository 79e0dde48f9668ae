package bash

import (
	"context"
	"errors"
	"io"
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
	here    command.Workdir
	config  Config
	script  *shell.Script
	command func() *tool.Command
	reading func() *reading
	inPlace func() *inPlace // the edit that it is, or nil
	// snapshot returns the file with the user's aliases, or "": the same when it is judged and when it runs.
	snapshot func() string
	leave    bool                                         // the model wants it outside the sandbox
	outside  func() bool                                  // it runs without a sandbox
	ignored  string                                       // which wish of the model was not heeded, in words
	ended    string                                       // the directory where it ended, or "" if it did not say
	end      func(printed string) (limits, undone string) // ends its sandbox; nil if it is in none
}

func newCall(in Input, c Config) *call {
	call := &call{in: in, here: c.Here(), config: c}
	call.script = c.dialect().Parse(in.Command, shell.Vars{})
	call.decideSandbox()
	call.command = sync.OnceValue(call.findCommand)
	call.reading = sync.OnceValue(func() *reading { return newReading(call) })
	call.inPlace = sync.OnceValue(call.findInPlace)
	call.snapshot = sync.OnceValue(func() string {
		if c.Snapshot == nil {
			return ""
		}
		return c.Snapshot()
	})
	return call
}

// findCommand returns what is known about the command.
func (c *call) findCommand() *tool.Command {
	r := c.reading()
	return &tool.Command{
		Line: c.in.Command, About: c.in.Description, Script: c.script,
		Doubt: r.doubt, Jailed: r.jailed, Warning: c.script.Destructive(), Leaves: c.leave,
		Git:     sync.OnceValue(func() error { return c.git(c.script.GitUses()).doubt(false) }),
		Aliases: c.aliases, Repository: c.repository,
		Edits: c.edits, Judged: c.judged, Free: func() { r.freed = true },
	}
}

// judged records the files that the command's paths led to when the gate decided.
func (c *call) judged(paths []tool.JudgedPath) {
	c.reading().judged.set(paths)
	if edit := c.inPlace(); edit != nil && edit.rest != nil {
		edit.rest.reading().judged.set(paths)
	}
}

// Command tells the gates what is known about the command.
func (c *call) Command() *tool.Command { return c.command() }

func (c *call) Input() any {
	if c.config.mayLeave {
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
	if _, ok := c.script.Suspected(pattern); ok || c.script.Unknown() != "" {
		return true, nil
	}
	_, ok := c.script.Possible(pattern)
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
	return c.ReadOnly() && !(c.here.Lasts() && c.script.ChangesDir())
}

// Destructive says that the command may do what cannot be undone.
func (c *call) Destructive() bool { return c.command().Warning != "" }

// OpenWorld says that the command may reach beyond this machine: proven ones do not.
func (c *call) OpenWorld() bool { return !c.ReadOnly() }

// Run runs the command. If ctx is cancelled meanwhile, the result says what there was until then.
func (c *call) Run(ctx context.Context, report func(tool.Progress)) (tool.Result, error) {
	if err := c.here.Check(); err != nil {
		return tool.Result{}, err
	}
	if program, instead := waits(c.script); program != "" {
		return tool.Result{}, errors.New(program + " needs a terminal, which commands do not have, so nothing was run: " + instead)
	}
	if edit := c.inPlace(); edit != nil {
		return edit.run(ctx, report)
	}
	cmd := command.Command{
		Limits: c.config.Limits, Input: c.in,
		Stays: !qualifies(c.script, c.config.Limits.Awaited), Answers: answers(c.script), Quiet: c.ReadOnly(),
		Execute: c.execute, Ended: c.remarks,
	}
	res, err := cmd.Run(ctx, report)
	if err == nil {
		c.remember(res)
	}
	return res, err
}

// execute runs the command in one of the two ways there are.
func (c *call) execute(ctx context.Context, out io.Writer, limit time.Duration) (exit osproc.Exit, err error) {
	// A simple line that is allowed anyway is the same without the user's start-up files, and starts sooner.
	if r := c.reading(); c.ReadOnly() && (!r.freed || c.script.Simple && !c.script.UsesGit() && c.outside()) {
		exit, c.ended, err = r.run(ctx, out, limit)
	} else {
		exit, c.ended, err = c.runShell(ctx, out, limit)
	}
	return exit, err
}

// remarks ends the sandbox of a command that has ended, and returns what there is to say about it.
func (c *call) remarks(t *task.Task, exit osproc.Exit, printed string) command.Remarks {
	r := command.Remarks{Note: command.Join(c.ignored, c.here.Arrive(t, c.ended))}
	if exit.Code != 0 || printed == "" {
		r.Note = command.Join(r.Note, missed(c.script))
	}
	r.Note = command.Join(r.Note, c.reading().stopped(exit, printed))
	r.Note = command.Join(r.Note, c.config.Missing(c.in.Command, programs(c.script), exit.Code != 0))
	if c.end != nil {
		r.Limits, r.Undone = c.end(printed)
	}
	return r
}

// programs returns the programs that a line names, as far as they are known.
func programs(s *shell.Script) []string {
	var names []string
	for _, part := range s.Parts {
		if len(part.Words) > 0 {
			names = append(names, part.Words[0].Value)
		}
	}
	return names
}

// qualifies reports whether a command may go on in the background: not if waiting is its purpose, or if it
// needs a terminal and ends soon for lack of one. Where background commands are awaited, one that does more than wait
// is rather waited for than ended.
func qualifies(s *shell.Script, awaited bool) bool {
	if len(s.Parts) == 0 || len(s.Parts[0].Words) == 0 {
		return true
	}
	words := s.Parts[0].Words
	switch words[0].Value {
	case "sleep":
		return awaited && len(s.Parts) > 1
	case "vi", "vim", "nvim", "nano", "emacs", "less", "more", "man", "top", "htop", "tmux", "screen":
		return false
	case "ssh":
		return len(words) > 2
	}
	return true
}

// answers reports whether exit code 1 of a command is an answer: the line ends with one that says "no" or
// "none" that way.
func answers(s *shell.Script) bool {
	if !s.Simple {
		return false
	}
	words := s.Parts[len(s.Parts)-1].Words
	switch words[0].Value {
	case "grep", "egrep", "fgrep", "rg", "diff", "test", "[", "find":
		return true
	case "git":
		return len(words) > 1 && (words[1].Value == "diff" || words[1].Value == "grep")
	}
	return false
}
