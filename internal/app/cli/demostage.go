package cli

import (
	"iter"

	"adze/internal/agent"
	"adze/internal/app/wire"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A demoStage shows a turn to the user.
type demoStage struct {
	env   *Env
	dir   string
	style draw.Palette
	width int
}

func newDemoStage(env *Env, dir string) *demoStage {
	const comfortable = 96
	d := &demoStage{env: env, dir: dir, style: draw.PaletteFor(env.StdoutTerminal, env.Getenv), width: comfortable}
	if env.Width > 0 {
		d.width = max(20, min(d.width, env.Width))
	}
	return d
}

func (d *demoStage) say(text string) { d.env.print(text) } // ok: a reader who left sees nothing more

func (d *demoStage) open() {
	d.say(d.style.Strong.Apply("adze demo") + `: the model is a script, the tools are real.
They work on a small project in a temporary directory: leap.sh says whether a year is a leap year,
test.sh checks it, and it has a bug. None of your files are touched.

` + d.style.Accent.Apply("> ") + d.style.Strong.Apply(demoPrompt) + "\n")
}

func (d *demoStage) close() {
	d.say("\n" + d.style.Good.Apply("The demo has run the test once more itself: it passes.") + `

To work on your own code with a real model, set a key and talk:

    export ANTHROPIC_API_KEY=...
    adze

adze may read by itself, and asks before it does anything else.
See adze --help.
`)
}

// play shows a turn and returns why it ended.
func (d *demoStage) play(entries iter.Seq[session.Entry]) agent.Reason {
	speech := draw.Wrapper{Width: d.width}
	speaking := false
	for e := range entries {
		switch ev := e.Event.(type) {
		case session.Loop:
			switch ev := ev.Event.(type) {
			case agent.Delta:
				speaking = d.speak(&speech, speaking, ev.Event)
			case agent.ToolStarted:
				d.say("\n" + d.style.Accent.Apply("● ") + d.style.Strong.Apply(ev.Title) + "\n")
			case agent.ToolDone:
				d.result(ev)
			case agent.Failed:
				d.env.Say(model.Explain(ev.Err, wire.ScriptedModel, false))
			}
		case session.Finished:
			return ev.Reason
		}
	}
	return agent.AbortedStreaming
}

// speak shows a piece of a response, and returns whether more of its text may follow.
func (d *demoStage) speak(speech *draw.Wrapper, speaking bool, ev model.Event) bool {
	switch ev := ev.(type) {
	case model.TextDelta:
		if !speaking {
			d.say("\n")
		}
		d.say(speech.Add(ev.Text))
		return true
	case model.BlockDone:
		if speaking {
			d.say(speech.End() + "\n")
		}
		return false
	}
	return speaking
}

// maxShown is how many lines of a result are shown.
const maxShown = 16

func (d *demoStage) result(ev agent.ToolDone) {
	const indent = "  "
	o := draw.Options{Width: d.width - len(indent) - 2, Max: maxShown, Dir: d.dir, Palette: d.style}
	display := ev.Display
	if display == nil {
		display = tool.Plain{Text: msg.PlainText(ev.Result.Parts)}
	}
	for _, line := range draw.Lines(display, o) {
		d.say(indent + d.style.Faint.Apply("│ ") + line + "\n")
	}
}
