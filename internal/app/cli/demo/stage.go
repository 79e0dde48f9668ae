// Package demo displays the turn of adze demo: the scripted model's messages and the effects of
// its calls.
package demo

import (
	"iter"
	"runtime"

	"adze/internal/agent"
	"adze/internal/app/wire"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A Stage displays a turn to the user.
type Stage struct {
	// Out prints text, and Warn reports a problem.
	Out, Warn func(string)
	Dir       string // project directory
	Project   Project
	Style     draw.Palette
	Width     int // terminal width; 0 if unknown
}

func (d *Stage) width() int {
	const comfortable = 96
	if d.Width > 0 {
		return max(20, min(comfortable, d.Width))
	}
	return comfortable
}

func (d *Stage) paint(role draw.Role, text string) string {
	return d.Style.Paint(draw.Line(role, text))
}

// Open prints the introduction.
func (d *Stage) Open() {
	d.Out(d.paint(draw.Strong, "adze demo") + `: the model is a script, the tools are real.
They work on a small project in a temporary directory: ` + d.Project.Program + ` says whether a year is a leap year,
` + d.Project.Test + ` checks it, and it has a bug. None of your files are touched.

` + d.paint(draw.Accent, "> ") + d.paint(draw.Strong, d.Project.Prompt()) + "\n")
}

// Close prints the summary and the next steps.
func (d *Stage) Close() {
	d.Out("\n" + d.paint(draw.Good, "Checked: the test passes now.") + `

To work on your own code with a real model, set a key and talk:

    ` + setKey() + `
    adze

adze reads files on its own and asks before anything else.
See adze --help.
`)
}

// setKey returns the command that sets a key in the user's shell.
func setKey() string {
	if runtime.GOOS == "windows" {
		return `$env:ANTHROPIC_API_KEY = "..."`
	}
	return "export ANTHROPIC_API_KEY=..."
}

// Play displays a turn and returns why it ended.
func (d *Stage) Play(entries iter.Seq[session.Entry]) agent.Reason {
	speech := draw.Wrapper{Width: d.width()}
	speaking := false
	for e := range entries {
		switch ev := e.Event.(type) {
		case session.Loop:
			switch ev := ev.Event.(type) {
			case agent.Delta:
				speaking = d.speak(&speech, speaking, ev.Event)
			case agent.ToolStarted:
				d.Out("\n" + d.paint(draw.Accent, "> ") + d.paint(draw.Strong, ev.Title) + "\n")
			case agent.ToolDone:
				d.result(ev)
			case agent.Failed:
				d.Warn(model.Explain(ev.Err, wire.ScriptedModel, false))
			}
		case session.Finished:
			return ev.Reason
		}
	}
	return agent.AbortedStreaming
}

// speak displays a piece of a response, and reports whether more of its text may follow.
func (d *Stage) speak(speech *draw.Wrapper, speaking bool, ev model.Event) bool {
	switch ev := ev.(type) {
	case model.TextDelta:
		if !speaking {
			d.Out("\n")
		}
		d.Out(speech.Add(ev.Text))
		return true
	case model.BlockDone:
		if speaking {
			d.Out(speech.End() + "\n")
		}
		return false
	}
	return speaking
}

// maxShown is the maximum number of lines shown of a result.
const maxShown = 16

func (d *Stage) result(ev agent.ToolDone) {
	const indent = "  "
	o := draw.Options{Width: d.width() - len(indent) - 2, Max: maxShown, Dir: d.Dir}
	display := ev.Display
	if display == nil {
		display = tool.Plain{Text: msg.PlainText(ev.Result.Parts)}
	}
	bar := draw.Row{{Text: indent}, {Role: draw.Faint, Text: "| "}}
	for _, row := range draw.Indent(draw.Rows(display, o), bar, bar) {
		d.Out(d.Style.Paint(row) + "\n")
	}
}
