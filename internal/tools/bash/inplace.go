package bash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/edit"
	"adze/internal/platform/filestate"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tool/command"
)

// A sed -i is an edit of the files it names, which the user sees before, rules judge as one, and the session
// can take back. What sed makes of the files is found out by sed itself, on copies. In a sandbox it is a
// command like any other, since what confines commands does not confine edits.

// An inPlace is such an edit. What it is was found out when the call was judged, and holds for its run.
type inPlace struct {
	call    *call
	line    *sedLine
	targets []*change.Target
	// before and after are the contents as they were when the call was judged.
	before, after [][]byte
}

// findInPlace returns the edit that the command is, or nil if it is none or that is not certain.
func (c *call) findInPlace() *inPlace {
	if c.config.Files == nil || c.in.Background || c.leave || !c.outside() || !c.script.Simple || len(c.script.Parts) != 1 {
		return nil
	}
	part := c.script.Parts[0]
	if len(part.Assigns) > 0 || len(part.Redirects) > 0 || len(part.Words) == 0 || part.Words[0].Text != "sed" {
		return nil
	}
	var args []string
	for _, w := range part.Words[1:] {
		if !w.Static || w.Glob {
			return nil
		}
		args = append(args, w.Value)
	}
	line, ok := parseSed(args)
	if !ok {
		return nil
	}
	p := &inPlace{call: c, line: line}
	for _, name := range line.files {
		target := c.target(name)
		if target == nil || slices.ContainsFunc(p.targets, func(t *change.Target) bool { return t.Path == target.Path }) {
			return nil // the same file twice would be edited twice
		}
		p.targets = append(p.targets, target)
	}
	var err error
	if p.before, p.after, err = p.contents(context.Background()); err != nil {
		return nil
	}
	return p
}

// target returns the file of that name, if it is one that can be edited in place of sed.
func (c *call) target(name string) *change.Target {
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
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxSedFile {
		return nil
	}
	target.Blind = true
	return target
}

// contents returns what the files hold now, and what sed makes of that.
func (p *inPlace) contents(ctx context.Context) (before, after [][]byte, err error) {
	changed := p.before == nil
	for i, target := range p.targets {
		data, err := target.Peek()
		if err != nil {
			return nil, nil, err
		}
		if len(data) > maxSedFile || !editable(data) {
			return nil, nil, target.Changed()
		}
		before = append(before, data)
		changed = changed || !bytes.Equal(data, p.before[i])
	}
	if !changed {
		return p.before, p.after, nil
	}
	after, err = p.line.run(ctx, p.call, before)
	return before, after, err
}

// edits returns the files that are edited in place of running a command; nil means that the command is run.
func (c *call) edits() []string {
	p := c.inPlace()
	if p == nil {
		return nil
	}
	paths := make([]string, len(p.targets))
	for i, target := range p.targets {
		paths[i] = target.Path
	}
	return paths
}

var errNoPreview = errors.New("what a command does cannot be shown before")

// Preview shows the edit that the command is, as it would be now.
func (c *call) Preview(ctx context.Context) (tool.Display, error) {
	p := c.inPlace()
	if p == nil {
		return nil, errNoPreview
	}
	before, after, err := p.contents(ctx)
	if err != nil {
		return nil, err
	}
	var diffs []tool.Diff
	for i, target := range p.targets {
		if hunks, whole := edit.Diff(before[i], after[i]); len(hunks) > 0 || !whole {
			diffs = append(diffs, change.Preview(target.Path, false, hunks, whole))
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
	before, after, err := p.contents(ctx)
	if err != nil {
		lines = append(lines, err.Error())
	}
	for i, target := range p.targets {
		if err != nil {
			break
		}
		var diff *tool.Diff
		var n int
		var notes []string
		if diff, n, notes, err = replaceContent(ctx, target, before[i], after[i]); err != nil {
			lines = append(lines, err.Error())
			break
		}
		if diff == nil {
			lines = append(lines, "Nothing in "+target.Shown()+" matched: it is unchanged.")
			continue
		}
		diffs = append(diffs, *diff)
		lines = append(lines, strings.Join(append([]string{fmt.Sprintf("Edited %s: %s changed.", target.Shown(), lineCount(n))}, notes...), " "))
	}
	text := strings.Join(lines, "\n")
	out := command.Output{DurationMs: time.Since(start).Milliseconds()}
	if err != nil {
		out.ExitCode, out.Stdout = 1, text
	}
	r := tool.Result{Parts: []msg.Part{&msg.Text{Text: text}}, IsError: err != nil, Structured: out}
	if len(diffs) > 0 {
		r.Display = shown(diffs)
	} else {
		r.Display = tool.Plain{Text: text}
	}
	return r
}

// replaceContent gives a file that holds before the content after, and returns how many lines that changed.
// The diff is nil if nothing did.
func replaceContent(ctx context.Context, target *change.Target, before, after []byte) (diff *tool.Diff, lines int, notes []string, err error) {
	set, err := target.Find()
	if err != nil {
		return nil, 0, nil, err
	}
	done, err := target.Apply(ctx, set, func(old change.Old) (change.New, error) {
		if !old.Exists || !bytes.Equal(old.Data, before) {
			return change.New{}, target.Changed()
		}
		if bytes.Equal(before, after) {
			return change.New{}, nil
		}
		hunks, _ := edit.Diff(before, after)
		shown := change.Display(target.Path, false, hunks)
		n, moved := changedLines(hunks)
		diff, lines = &shown, n
		partly := !old.Entry.Complete
		return change.New{
			Pieces: [][]byte{after}, Origin: filestate.Edit, Seen: old.Entry.Seen, Total: old.Entry.Total,
			// Lines that were seen are others if lines before them came or went.
			Unseen: old.Entry.Path == "" || partly && (old.Entry.Seen == nil || moved),
		}, nil
	})
	return diff, lines, done.Notes, err
}

// changedLines returns how many lines differ, and whether lines came or went.
func changedLines(hunks []edit.Hunk) (n int, moved bool) {
	for _, h := range hunks {
		added, removed := 0, 0
		flush := func() {
			n += max(added, removed)
			moved = moved || added != removed
			added, removed = 0, 0
		}
		for _, line := range h.Lines {
			switch line[0] {
			case '+':
				added++
			case '-':
				removed++
			case ' ':
				flush()
			}
		}
		flush()
	}
	return n, moved
}

func lineCount(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}
