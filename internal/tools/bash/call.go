package bash

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/proc/task"
	"adze/internal/platform/shell"
	"adze/internal/tool"
	"adze/internal/tool/command"
)

// A call is a command in the directory that was current when it was bound.
type call struct {
	in      Input
	here    command.Workdir
	config  Config
	script  *shell.Script
	command func() *tool.Command
	reading func() *readOnlyRun
	inPlace func() *inPlace // the equivalent edit, or nil
	// snapshot returns the file with the user's aliases, or "". It is the same for the check
	// and the run.
	snapshot func() string
	leave    bool                                         // the model requests to run it outside the sandbox
	outside  func() bool                                  // reports whether it runs unsandboxed
	ignored  string                                       // message about a request of the model that was ignored
	ended    string                                       // directory where it ended, or "" if unknown
	end      func(printed string) (limits, undone string) // ends its sandbox; nil if it has none
}

func newCall(in Input, c Config) *call {
	call := &call{in: in, here: c.Here(), config: c}
	call.script = c.dialect().Parse(in.Command, shell.Vars{})
	call.decideSandbox()
	call.command = sync.OnceValue(call.findCommand)
	call.reading = sync.OnceValue(func() *readOnlyRun { return newReading(call) })
	call.inPlace = sync.OnceValue(call.findInPlace)
	call.snapshot = sync.OnceValue(func() string {
		if c.Snapshot == nil {
			return ""
		}
		return c.Snapshot()
	})
	return call
}

// findCommand analyzes the command.
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

// judged records the files that the command's paths resolved to when the gate decided.
func (c *call) judged(paths []tool.JudgedPath) {
	c.reading().judged.set(paths)
	if edit := c.inPlace(); edit != nil && edit.rest != nil {
		edit.rest.reading().judged.set(paths)
	}
}

// Command returns the analysis of the command for the gates.
func (c *call) Command() *tool.Command { return c.command() }

func (c *call) Input() any {
	if c.config.mayLeave {
		return SandboxInput{c.in, c.leave}
	}
	return c.in
}

// Match reports whether a hook's condition applies: to any command in the line, and always to a
// line that cannot be parsed.
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

// Fold reports whether the command only searches, reads or lists, for display.
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

// ReadOnly reports whether the command is proven read-only.
func (c *call) ReadOnly() bool { return c.command().Doubt == nil }

// Concurrent reports whether the command may run in parallel: it is read-only, and does not
// change the directory of later commands.
func (c *call) Concurrent() bool {
	return c.ReadOnly() && !(c.here.Lasts() && c.script.ChangesDir())
}

// Destructive reports whether the command may do something irreversible.
func (c *call) Destructive() bool { return c.command().Warning != "" }

// OpenWorld reports whether the command may reach beyond this machine. Read-only commands do
// not.
func (c *call) OpenWorld() bool { return !c.ReadOnly() }

// Run runs the command. If ctx is canceled, the result contains the output so far.
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

// execute runs the command, either as a read-only command or in the shell.
func (c *call) execute(ctx context.Context, out io.Writer, limit time.Duration) (exit osproc.Exit, err error) {
	// A simple line that is allowed anyway behaves the same without the user's startup files,
	// and starts faster.
	if r := c.reading(); c.ReadOnly() && (!r.freed || c.script.Simple && !c.script.UsesGit() && c.outside()) {
		exit, c.ended, err = r.run(ctx, out, limit)
	} else {
		exit, c.ended, err = c.runShell(ctx, out, limit)
	}
	return exit, err
}

// remarks ends the sandbox of a finished command and returns remarks for the result.
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

// programs returns the known programs that a line names.
func programs(s *shell.Script) []string {
	var names []string
	for _, part := range s.Parts {
		if len(part.Words) > 0 {
			names = append(names, part.Words[0].Value)
		}
	}
	return names
}

// qualifies reports whether a command may continue in the background: not if its purpose is to
// wait, or if it needs a terminal and fails soon without one. Where background commands are
// awaited, a command that does more than wait qualifies, so that it is not killed.
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

// answers reports whether exit code 1 of a command is a result rather than an error: the last
// command of the line reports "no" or "none" that way.
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
