package transcript

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/platform/proc/shelf"
	"adze/internal/platform/term/cells"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// An outcome is a finished call.
type outcome struct {
	agent.ToolStarted
	result  *msg.ToolResult // may be nil
	display tool.Display
	refusal string     // reason it was not run
	subject []draw.Row // the refused change; may be nil
	elapsed time.Duration
	changes bool          // the changes are shown below
	plan    bool          // the plan file, shown when the plan is presented
	below   *shelvedLines // its output or result, once moved to a shelf; may be nil
}

// Limits on the lines shown below a call: output of a successful and of a failed call, changes,
// and the reason for a failure.
const (
	outputLines = 5
	failedLines = 40
	changeLines = 40
	reasonLines = 6
)

// maxOutputLine is the maximum width of an output line; the pager shows the rest.
const maxOutputLine = 1000

// done shows a call with its outcome. A read or search that continues a run joins the run.
func (t *Transcript) done(ev agent.ToolDone) {
	o := &outcome{ToolStarted: agent.ToolStarted{Use: ev.Use, Title: tool.OneLine(ev.Use.Name, 80)}, result: ev.Result, display: ev.Display, elapsed: ev.Elapsed}
	if c := t.calls.forget(ev.Use.ID); c != nil {
		o.ToolStarted = c.ToolStarted
	}
	o.Use = nil // its input may be long
	if ev.Denied {
		o.refusal = tool.OneLine(ev.Refusal, 200)
		if o.refusal == "" {
			o.refusal = "it was denied"
		}
	}
	subject, shown := t.shown[ev.Use.ID]
	o.changes = !shown
	if ev.Denied {
		o.subject = subject
	}
	if d := tool.Diffs(o.display); len(d) == 1 && t.cfg.PlanFile != nil && d[0].Path == t.cfg.PlanFile() {
		o.plan = true
	}
	if list, ok := o.display.(tool.Checklist); ok && !o.failed() {
		t.checklist = list
		t.put(&listed{o})
		return
	}
	if o.Fold == tool.NoFold || o.failed() {
		t.put(o)
		return
	}
	if n := len(t.queue); n > 0 && !t.queue[n-1].closed {
		if r, ok := t.queue[n-1].content.(*run); ok {
			r.join(o, &t.shelf)
			return
		}
	}
	t.add(&run{calls: []*outcome{o}})
}

// A listed call changed the task list. Only a pager shows it: the list itself is shown while
// the turn runs and when it ends.
type listed struct{ *outcome }

func (l *listed) take(view, bool) []draw.Row { return nil }
func (l *listed) live(view, bool) []draw.Row { return nil }

// A checklist is the task list at the end of a turn.
type checklist struct{ list tool.Checklist }

func (c *checklist) group() group                        { return noteGroup }
func (c *checklist) take(v view, closed bool) []draw.Row { return c.rows(v, maxShown) }
func (c *checklist) live(v view, closed bool) []draw.Row { return c.rows(v, maxShown) }
func (c *checklist) whole(v view) []section              { return sections(c.rows(v, 0)) }

// line returns the list on one row, and reports whether it fits.
func (c *checklist) line(v view) (draw.Row, bool) {
	box := cmp.Or(v.Glyphs.Unchecked, "[ ]")
	done := c.list.Count(tool.Done)
	if done == len(c.list) {
		box = cmp.Or(v.Glyphs.Checked, "[x]")
	}
	row := draw.Row{{Role: draw.Accent, Text: box}, {Text: fmt.Sprintf(" %d/%d", done, len(c.list))}}
	for _, check := range c.list {
		mark, role := v.Glyphs.Dot, draw.Text
		switch check.State {
		case tool.Doing:
			mark, role = v.Glyphs.Active, draw.Strong
		case tool.Done:
			mark, role = v.Glyphs.Done, draw.Faint
		}
		text := mark + " " + check.Text
		if check.Note != "" {
			text += " (" + check.Note + ")"
		}
		row = append(row, draw.Span{Text: "  "}, draw.Span{Role: role, Text: draw.Clean(text)})
	}
	return row, fits(row, v.w)
}

// rows returns the list on one row if it fits or everything is done, otherwise on a row per item.
func (c *checklist) rows(v view, most int) []draw.Row {
	if row, ok := c.line(v); ok || most > 0 && c.list.Count(tool.Done) == len(c.list) {
		return []draw.Row{v.cut(row, v.w)}
	}
	title := fmt.Sprintf("Tasks: %d of %d done", c.list.Count(tool.Done), len(c.list))
	return append([]draw.Row{draw.Line(draw.Faint, title)},
		indented(draw.Rows(c.list, draw.Options{Width: max(8, v.w-2), Max: most, Glyphs: v.Glyphs}))...)
}

func (o *outcome) failed() bool { return o.refusal != "" || o.result != nil && o.result.IsError }

func (o *outcome) group() group                        { return callGroup }
func (o *outcome) take(v view, closed bool) []draw.Row { return o.rows(v) }
func (o *outcome) live(v view, closed bool) []draw.Row { return o.rows(v) }

// rows returns the row of the call, and the rows below it.
func (o *outcome) rows(v view) []draw.Row {
	printed, isOutput := o.display.(tool.Output)
	switch {
	case o.refusal != "":
		return o.because(v, "not run: "+o.refusal, nil)
	case o.failed() && !isOutput:
		first, more := reason(o.result)
		return o.because(v, first, more)
	}
	rows := []draw.Row{o.head(v)}
	switch {
	case isOutput:
		return append(rows, o.output(v, printed)...)
	case len(tool.Diffs(o.display)) > 0 && o.changes && !o.plan:
		return append(rows, o.diff(v)...)
	}
	return append(rows, o.said(v)...)
}

// said returns a short result text, such as the user's answers, if the row of the call has no
// room for it.
func (o *outcome) said(v view) []draw.Row {
	d, ok := o.display.(tool.Plain)
	if !ok || !o.apart(v) {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(d.Text), "\n")
	var rows []draw.Row
	for i, line := range lines {
		if i == outputLines {
			return append(rows, draw.Line(draw.Faint, "  "+v.more(len(lines)-i, "more line")))
		}
		rows = append(rows, v.cut(inside(draw.Text, line), v.w))
	}
	return rows
}

// apart reports whether the result text is shown below the call's row.
func (o *outcome) apart(v view) bool {
	d, ok := o.display.(tool.Plain)
	if !ok {
		return false
	}
	text := strings.TrimSpace(d.Text)
	if cells.Width(o.name())+len(": ")+cells.Width(text)+o.clock() <= v.w-2 && !strings.Contains(text, "\n") {
		return false
	}
	return strings.Contains(text, "\n") || cells.Width(text) <= v.w-2
}

// name returns the call's description as shown in its row.
func (o *outcome) name() string {
	if o.Object != "" {
		return strings.TrimSpace(o.Verb + " " + o.Object)
	}
	return o.Title
}

// clock returns the width of the call's elapsed time.
func (o *outcome) clock() int {
	if o.elapsed < patience {
		return 0
	}
	return len(" 00m00s")
}

// head returns the row of the call: its description and result.
func (o *outcome) head(v view) draw.Row {
	role, mark := draw.Good, v.Glyphs.Done
	if o.failed() {
		role, mark = draw.Bad, v.Glyphs.Failed
	}
	title, about := o.words(v)
	if d, ok := o.display.(tool.Output); o.elapsed >= patience && !(ok && noted(d)) { // a note contains the time
		about = append(about, draw.Span{Role: draw.Faint, Text: strings.Repeat(",", min(1, len(about))) + " " + elapsed(o.elapsed)})
	}
	return v.titled(role, mark, title, about)
}

// words returns the description and result of the call.
func (o *outcome) words(v view) (title, about draw.Row) {
	if diffs := tool.Diffs(o.display); len(diffs) > 0 {
		title, about = changed(v, diffs)
		if o.plan {
			title = draw.Line(draw.Text, "Wrote the plan")
		}
		return title, about
	}
	title = draw.Line(draw.Text, o.name())
	switch d := o.display.(type) {
	case tool.File:
		return title, nil
	case tool.List:
		return title, draw.Line(draw.Text, ": "+found(d, v.w-2-title.Width()-len(" 00m00s: ")))
	case tool.Output:
		if text := ending(d); text != "" {
			return title, draw.Line(draw.Faint, ": "+text)
		}
		return title, nil
	}
	if text := draw.Outcome(o.display, o.result); text != "done" && text != "" && !o.apart(v) {
		room := v.w - 2 - title.Width() - len(": ") - o.clock()
		return title, append(draw.Line(draw.Faint, ": "), v.cut(draw.Line(draw.Faint, text), max(16, room))...)
	}
	return title, nil
}

// noted reports whether a command has a note beyond its exit code.
func noted(d tool.Output) bool { return d.Note != "" && !strings.HasPrefix(d.Note, "Exit code") }

// ending describes how a command ended, or returns "".
func ending(d tool.Output) string {
	switch {
	case noted(d):
		line, _, _ := strings.Cut(d.Note, "\n")
		first, _, _ := strings.Cut(line, ". ")
		return strings.TrimSuffix(first, ".")
	case d.Exit != nil && *d.Exit != 0:
		return fmt.Sprintf("exit code %d", *d.Exit)
	}
	return ""
}

// changed returns the names of the changed files, and the number of changed lines.
func changed(v view, diffs []tool.Diff) (title, about draw.Row) {
	verb, added, removed := "Updated", 0, 0
	created := true
	var names []string
	for _, d := range diffs {
		added, removed, created = added+d.Added, removed+d.Removed, created && d.Created
		names = append(names, v.path(d.Path))
	}
	if created {
		verb = "Created"
	}
	about = draw.Row{{Role: draw.Added, Text: fmt.Sprintf(" +%d", added)}, {Role: draw.Removed, Text: fmt.Sprintf(" -%d", removed)}}
	return draw.Line(draw.Text, verb+" "+v.names(names, v.w-2-about.Width()-len(verb)-1)), about
}

// path returns a path as it is shown.
func (v view) path(path string) string {
	if rel, err := filepath.Rel(v.Dir, path); v.Dir != "" && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// found summarizes search results: the count, and some names in n cells.
func found(d tool.List, n int) string {
	unit := strings.TrimSuffix(d.Unit, "s")
	if unit == "" {
		unit = "item"
	}
	if d.Total == 0 {
		return "no " + unit + "s"
	}
	text := count(d.Total, unit)
	names, join, total := d.Files, " in ", len(d.Files)
	if len(d.Marks) == 0 && len(names) == 0 {
		names, join, total = d.Items, ": ", max(d.Total, len(d.Items))
	}
	for shown := min(len(names), mostNames); shown > 0; shown-- {
		if longer := text + join + strings.Join(names[:shown], ", ") + more(total-shown); cells.Width(longer) <= n {
			return longer
		}
	}
	return text
}

// mostNames is the maximum number of names shown for a search.
const mostNames = 4

// because returns the row of a failed call with the reason: in the same row if there is room,
// otherwise below.
func (o *outcome) because(v view, reason string, more []string) []draw.Row {
	name := draw.Row{{Text: draw.Clean(o.Title)}}
	row := draw.Row{{Role: draw.Bad, Text: v.Glyphs.Failed + " "}, name[0], {Text: ": " + draw.Clean(reason)}}
	rows := []draw.Row{row}
	if !fits(row, v.w) {
		why := v.wrap(draw.Text, reason)
		rows = append([]draw.Row{v.titled(draw.Bad, v.Glyphs.Failed, name, nil)}, why[:min(len(why), reasonLines)]...)
	}
	for i, line := range more {
		if i == failedLines {
			return append(rows, draw.Line(draw.Faint, "  "+v.more(len(more)-i, "more line")))
		}
		rows = append(rows, inside(draw.Text, clip(line, maxOutputLine)))
	}
	return rows
}

// reason returns why a call failed, from its result: the first line, and the others.
func reason(r *msg.ToolResult) (first string, more []string) {
	text := strings.TrimSpace(msg.PlainText(r.Parts))
	first, rest, found := strings.Cut(text, "\n")
	if found {
		more = strings.Split(rest, "\n")
	}
	return tool.OneLine(first, 600), more
}

// output returns the end of a command's output. Lines are not broken, so that they can be
// copied.
func (o *outcome) output(v view, d tool.Output) []draw.Row {
	most := outputLines
	if o.failed() {
		most = failedLines
	}
	if draw.Runs(d) {
		most = 0
	}
	text := o.printed(d)
	if v.Verbose {
		most = strings.Count(text, "\n") + 1
	}
	lines := lastLines(text, most)
	var rows []draw.Row
	if left := d.Lines - len(lines); left > 0 && most > 0 {
		rows = append(rows, draw.Line(draw.Faint, "  "+v.more(left, "earlier line")))
	}
	for _, line := range lines {
		rows = append(rows, inside(draw.Text, clip(line, maxOutputLine)))
	}
	return rows
}

// printed returns as much of a command's output as is available without its file.
func (o *outcome) printed(d tool.Output) string {
	if o.result == nil || d.Lines <= strings.Count(d.Text, "\n")+1 {
		return d.Text
	}
	if whole := msg.PlainText(o.result.Parts); d.File == "" && len(whole) > len(d.Text) {
		return whole // the model received more than is stored here
	}
	return d.Text
}

// more describes how much is omitted, and the key that shows it.
func (v view) more(n int, one string) string {
	text := v.Glyphs.More + " " + count(n, one)
	if v.keys.All != "" {
		text += " " + v.Glyphs.Dot + " " + v.keys.All + " all"
	}
	return text
}

// clip returns at most n bytes of a line, and notes if there are more.
func clip(line string, n int) string {
	if len(line) <= n {
		return line
	}
	return strings.ToValidUTF8(line[:n], "") + fmt.Sprintf(" (%s more)", count(len(line)-n, "byte"))
}

// diff returns the changed lines in full length. File names are in the row of the call, unless
// there are several.
func (o *outcome) diff(v view) []draw.Row {
	rows := draw.Rows(o.display, draw.Options{Max: changeLines, Dir: v.Dir, Glyphs: v.Glyphs})
	if len(tool.Diffs(o.display)) == 1 {
		rows = rows[1:]
	}
	return indented(rows)
}

// whole returns the call with its full output, changes or results.
func (o *outcome) whole(v view) []section {
	all := sections([]draw.Row{o.full(v)})
	if len(o.subject) > 0 {
		all = append(all, rowsOf(indented(o.subject)))
	}
	if o.below != nil {
		return append(all, o.below.section())
	}
	if text, ok := o.text(); ok {
		return append(all, &lines{text: text})
	}
	if d, ok := o.display.(tool.Output); ok {
		return append(all, &file{path: d.File})
	}
	return append(all, rowsOf(indented(draw.Rows(o.display, draw.Options{Dir: v.Dir, Glyphs: v.Glyphs}))))
}

// text returns the call's output or result. It reports false if it is in a file, or is shown
// otherwise.
func (o *outcome) text() (string, bool) {
	switch d := o.display.(type) {
	case tool.Output:
		return o.printed(d), d.File == ""
	case tool.Diff, tool.Checklist:
		return "", false
	case tool.Changes:
		if len(d) > 0 {
			return "", false
		}
	case tool.List:
		if len(d.Items) >= d.Total && d.Total > 0 {
			return "", false
		}
	}
	if o.refusal != "" || o.result == nil {
		return o.refusal, true
	}
	return msg.PlainText(o.result.Parts), true
}

// stow moves the call's output or result to a shelf.
func (o *outcome) stow(s *shelf.Shelf) {
	if o.below != nil {
		return
	}
	if text, ok := o.text(); ok {
		o.below = stow(s, text, draw.Text)
	}
	if d, ok := o.display.(tool.Output); ok {
		d.Text = ""
		o.display = d
	}
	if o.result != nil {
		o.result = &msg.ToolResult{IsError: o.result.IsError}
	}
}

// full returns the row of the call with nothing cut.
func (o *outcome) full(v view) draw.Row {
	role, mark := draw.Good, v.Glyphs.Done
	if o.failed() {
		role, mark = draw.Bad, v.Glyphs.Failed
	}
	name := o.Title
	if d, ok := o.display.(tool.Output); ok && d.Command != "" {
		name = d.Command
	} else if o.Object != "" {
		name = strings.TrimSpace(o.Verb + " " + o.Object)
	}
	row := draw.Row{{Role: role, Text: mark + " "}, {Role: draw.Strong, Text: name}}
	if text := draw.Outcome(o.display, nil); text != "done" {
		row = append(row, draw.Span{Role: draw.Faint, Text: ": " + text})
	}
	return row
}
