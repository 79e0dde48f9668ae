package bash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/edit"
	"adze/internal/platform/filestate"
	"adze/internal/platform/sed"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tool/command"
)

// A simple sed -i runs no program: it is an edit of the files it names, which people see before, rules
// judge as one, and the session can take back. In a sandbox it is a command like any other, since what
// confines commands does not confine edits.

// maxInPlace is the size of the largest file that is edited that way.
const maxInPlace = 8 << 20

// An inPlace is such an edit. What it is was found out when the call was judged, and holds for its run.
type inPlace struct {
	edit    *sed.Edit
	targets []*change.Target
}

// findInPlace returns the edit that the command is, or nil if it is none or that is not certain.
func (c *call) findInPlace() *inPlace {
	if c.config.Files == nil || c.in.Background || c.leave || !c.outside() || !knownSed(runtime.GOOS) || !c.script.Simple || len(c.script.Parts) != 1 {
		return nil
	}
	part := c.script.Parts[0]
	if len(part.Assigns) > 0 || len(part.Redirects) > 0 || len(part.Words) == 0 || part.Words[0].Text != "sed" || lookup(c.config.Env())("POSIXLY_CORRECT") != "" {
		return nil
	}
	var args []string
	for _, w := range part.Words[1:] {
		if !w.Static || w.Glob {
			return nil
		}
		args = append(args, w.Value)
	}
	e, ok := sed.Parse(args)
	if !ok {
		return nil
	}
	p := &inPlace{edit: e}
	for _, name := range e.Files {
		target := c.editable(name, e)
		if target == nil {
			return nil
		}
		p.targets = append(p.targets, target)
	}
	return p
}

// knownSed reports whether sed can be taken for the one of GNU: to that of others -i means something else.
func knownSed(system string) bool { return system == "linux" || system == "windows" }

// editable returns the file of that name, if it is certain what sed makes of it.
func (c *call) editable(name string, e *sed.Edit) *change.Target {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.here.Path, path)
	}
	if strings.TrimSpace(name) != name || slices.Contains(strings.Split(filepath.ToSlash(name), "/"), "..") {
		return nil
	}
	target, err := c.config.Files.Target(path)
	if err != nil || target.Path != filepath.Clean(path) || target.Remote() { // a share is not even looked at
		return nil
	}
	// Sed replaces a link by a file.
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxInPlace {
		return nil
	}
	target.Blind = true
	data, err := target.Peek()
	if err != nil || !e.Takes(data) {
		return nil
	}
	return target
}

var errNoPreview = errors.New("what a command does cannot be shown before")

// Preview shows the edit that the command is, as it would be now.
func (c *call) Preview(context.Context) (tool.Display, error) {
	p := c.inPlace()
	if p == nil {
		return nil, errNoPreview
	}
	var diffs []tool.Diff
	for _, target := range p.targets {
		data, err := target.Peek()
		if err != nil {
			return nil, err
		}
		if made, n := p.edit.Apply(data); n > 0 {
			hunks, _ := edit.Diff(data, made)
			diffs = append(diffs, change.Display(target.Path, false, hunks))
		}
	}
	if len(diffs) == 0 {
		return tool.Plain{Text: "It would change nothing."}, nil
	}
	return shown(diffs), nil
}

func shown(diffs []tool.Diff) tool.Display {
	if len(diffs) == 1 {
		return diffs[0]
	}
	return tool.Changes(diffs)
}

// run makes the edit.
func (p *inPlace) run(ctx context.Context) tool.Result {
	start := time.Now()
	var diffs []tool.Diff
	var lines []string
	failed := false
	for _, target := range p.targets {
		diff, n, notes, err := p.one(ctx, target)
		switch {
		case err != nil:
			failed = true
			lines = append(lines, err.Error())
		case diff == nil:
			lines = append(lines, "Nothing in "+target.Shown()+" matched: it is unchanged.")
		default:
			diffs = append(diffs, *diff)
			lines = append(lines, strings.Join(append([]string{fmt.Sprintf("Edited %s: %s changed.", target.Shown(), lineCount(n))}, notes...), " "))
		}
		if failed {
			break
		}
	}
	text := strings.Join(lines, "\n")
	out := command.Output{DurationMs: time.Since(start).Milliseconds()}
	if failed {
		out.ExitCode, out.Stdout = 1, text
	}
	r := tool.Result{Parts: []msg.Part{&msg.Text{Text: text}}, IsError: failed, Structured: out}
	if len(diffs) > 0 {
		r.Display = shown(diffs)
	} else {
		r.Display = tool.Plain{Text: text}
	}
	return r
}

// one edits one file, and returns how many lines that changed. The diff is nil if nothing matched.
func (p *inPlace) one(ctx context.Context, target *change.Target) (diff *tool.Diff, lines int, notes []string, err error) {
	set, err := target.Find()
	if err != nil {
		return nil, 0, nil, err
	}
	done, err := target.Apply(ctx, set, func(old change.Old) (change.New, error) {
		if !old.Exists || len(old.Data) > maxInPlace || !p.edit.Takes(old.Data) {
			return change.New{}, target.Changed()
		}
		made, n := p.edit.Apply(old.Data)
		if n == 0 {
			return change.New{}, nil
		}
		hunks, _ := edit.Diff(old.Data, made)
		shown := change.Display(target.Path, false, hunks)
		diff, lines = &shown, n
		// No line comes or goes, so that what was seen of the file are the same lines.
		return change.New{
			Pieces: [][]byte{made}, Origin: filestate.Edit, Seen: old.Entry.Seen, Total: old.Entry.Total,
			Unseen: old.Entry.Path == "" || !old.Entry.Complete && old.Entry.Seen == nil,
		}, nil
	})
	return diff, lines, done.Notes, err
}

func lineCount(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}
