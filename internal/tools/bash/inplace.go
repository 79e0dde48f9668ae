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
	"adze/internal/permission/nested"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/shell"
	"adze/internal/platform/text/edit"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tool/command"
)

// A sed -i is an edit of the named files: the user sees it before, rules treat it as an edit,
// and the session can undo it. The result is computed by sed itself, on copies. Several of
// them, and a read-only command after them, may be joined by &&. In a sandbox it is run like
// any other command, because edits are not sandboxed.

// An inPlace is such an edit. It is determined when the call is checked, and is used for the
// run.
type inPlace struct {
	call    *call
	steps   []step
	targets []*change.Target
	// before and after are the contents at the time of the check.
	before, after [][]byte
	rest          *call // runs after the edit; may be nil
}

// A step is a single sed with the indexes of its files in targets.
type step struct {
	line  *sedLine
	files []int
}

// findInPlace returns the edit equivalent to the command, or nil if the command is not an edit
// or that is uncertain.
func (c *call) findInPlace() *inPlace {
	if c.config.Files == nil || c.in.Background || c.leave || !c.outside() || !c.script.Simple {
		return nil
	}
	p := &inPlace{call: c}
	starts, plain := c.script.Chain()
	for i, start := range starts {
		if i < plain && i < len(c.script.Parts) && p.add(c.script.Parts[i]) {
			continue
		}
		if i == 0 || c.script.ChangesDir() {
			return nil
		}
		rest := c.in
		rest.Command = c.in.Command[start:]
		p.rest = newCall(rest, c.config)
		if !p.rest.ReadOnly() {
			return nil
		}
		break
	}
	if p.steps == nil {
		return nil
	}
	var err error
	if p.before, p.after, err = p.contents(context.Background()); err != nil {
		return nil
	}
	return p
}

// add adds a sed that edits files. It returns false for any other command.
func (p *inPlace) add(part *shell.Part) bool {
	if len(part.Assigns) > 0 || len(part.Redirects) > 0 || len(part.Words) == 0 || part.Words[0].Text != "sed" {
		return false
	}
	var args []string
	for _, w := range part.Words[1:] {
		switch {
		case !w.Static:
			return false
		case !w.Glob:
			args = append(args, w.Value)
			continue
		}
		found, ok := nested.Expand(p.call.here.Path, w.Value)
		if !ok || len(found) == 0 || w.Text != w.Value { // a quoted character is not a wildcard
			return false
		}
		slices.Sort(found)
		for _, name := range found {
			if !filepath.IsAbs(w.Value) {
				name = strings.TrimPrefix(name, filepath.Clean(p.call.here.Path)+"/")
			}
			if strings.HasPrefix(name, "-") {
				return false // sed would treat it as an option
			}
			args = append(args, name)
		}
	}
	line, ok := parseSed(args)
	if !ok {
		return false
	}
	s := step{line: line}
	for _, name := range line.files {
		target := p.call.target(name)
		if target == nil {
			return false
		}
		i := slices.IndexFunc(p.targets, func(t *change.Target) bool { return t.Path == target.Path })
		if slices.Contains(s.files, i) {
			return false // a file named twice would be edited twice
		}
		if i < 0 {
			i = len(p.targets)
			p.targets = append(p.targets, target)
		}
		s.files = append(s.files, i)
	}
	p.steps = append(p.steps, s)
	return true
}

// target returns the file with that name if it can be edited in place of sed.
func (c *call) target(name string) *change.Target {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.here.Path, path)
	}
	if strings.TrimSpace(name) != name || slices.Contains(strings.Split(filepath.ToSlash(name), "/"), "..") {
		return nil
	}
	target, err := c.config.Files.Target(path)
	if err != nil || target.Path != filepath.Clean(path) || target.Remote() { // do not even stat a network share
		return nil
	}
	// Sed would replace a symlink with a file.
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxSedFile {
		return nil
	}
	target.Blind = true
	return target
}

// contents returns the current contents of the files, and the result of sed on them.
func (p *inPlace) contents(ctx context.Context) (before, after [][]byte, err error) {
	changed, size := p.before == nil, 0
	for i, target := range p.targets {
		data, err := target.Peek()
		if err != nil {
			return nil, nil, err
		}
		if size += len(data); len(data) > maxSedFile || size > maxSedBytes || !editable(data) {
			return nil, nil, target.Changed()
		}
		before = append(before, data)
		changed = changed || !bytes.Equal(data, p.before[i])
	}
	if !changed {
		return p.before, p.after, nil
	}
	after = slices.Clone(before)
	for _, s := range p.steps {
		files := make([][]byte, len(s.files))
		for i, n := range s.files {
			files[i] = after[n]
		}
		made, err := s.line.run(ctx, p.call, files)
		if err != nil {
			return nil, nil, err
		}
		for i, n := range s.files {
			after[n] = made[i]
		}
	}
	return before, after, nil
}

// edits returns the files that are edited instead of running a command; nil means that the
// command is run.
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

var errNoPreview = errors.New("the effect of a command can't be previewed")

// Preview shows the edit as it would be now.
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

// run applies the edit, and then runs the rest of the line.
func (p *inPlace) run(ctx context.Context, report func(tool.Progress)) (tool.Result, error) {
	made := p.make(ctx)
	if p.rest == nil || made.IsError {
		return made, nil
	}
	res, err := p.rest.Run(ctx, report)
	if err != nil {
		return made, err
	}
	res.Parts = append(made.Parts, res.Parts...)
	if _, plain := made.Display.(tool.Plain); !plain {
		res.Display = made.Display
	}
	return res, nil
}

// make applies the edit.
func (p *inPlace) make(ctx context.Context) tool.Result {
	start := time.Now()
	var diffs []tool.Diff
	var lines, same []string
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
			same = append(same, target.Shown())
			continue
		}
		diffs = append(diffs, *diff)
		lines = append(lines, strings.Join(append([]string{fmt.Sprintf("Edited %s: %s changed.", target.Shown(), lineCount(n))}, notes...), " "))
	}
	lines = append(lines, unmatched(same)...)
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

// unmatched names the files that a sed did not change. If a wildcard matched many, it returns
// their number.
func unmatched(names []string) []string {
	const named = 5
	switch len(names) {
	case 0:
		return nil
	case 1:
		return []string{"Nothing in " + names[0] + " matched: it is unchanged."}
	}
	if len(names) <= named {
		return []string{"Nothing in " + strings.Join(names, ", ") + " matched: they are unchanged."}
	}
	return []string{fmt.Sprintf("Nothing in %d other files matched: they are unchanged.", len(names))}
}

// replaceContent replaces the content before of a file with after, and returns the number of
// changed lines. The diff is nil if nothing changed.
func replaceContent(ctx context.Context, target *change.Target, before, after []byte) (diff *tool.Diff, lines int, notes []string, err error) {
	set, err := target.Find()
	if err != nil {
		return nil, 0, nil, err
	}
	done, err := target.Apply(ctx, set, func(old change.OldContent) (change.NewContent, error) {
		if !old.Exists || !bytes.Equal(old.Data, before) {
			return change.NewContent{}, target.Changed()
		}
		if bytes.Equal(before, after) {
			return change.NewContent{}, nil
		}
		hunks, _ := edit.Diff(before, after)
		shown := change.Display(target.Path, false, hunks)
		n, moved := changedLines(hunks)
		diff, lines = &shown, n
		partly := !old.Entry.Complete
		return change.NewContent{
			Pieces: [][]byte{after}, Origin: filestate.Edit, Seen: old.Entry.Seen, Total: old.Entry.Total,
			// Line numbers that were seen are stale if lines before them were added or removed.
			Unseen: old.Entry.Path == "" || partly && (old.Entry.Seen == nil || moved),
		}, nil
	})
	return diff, lines, done.Notes, err
}

// changedLines returns how many lines differ, and reports whether lines were added or removed.
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
