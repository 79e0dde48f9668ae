package tui

import (
	"strings"

	"adze/internal/ui/keys"
	"adze/internal/ui/tui/pager"
	"adze/internal/ui/tui/transcript"
)

// newScript returns a new transcript.
func (f *Front) newScript() *transcript.Transcript {
	return transcript.New(transcript.Config{
		Glyphs: f.cfg.Glyphs, Marks: !f.cfg.Palette.Coloured(), Links: f.cfg.Palette.Links(), Dir: f.cfg.Dir, Verbose: f.cfg.Verbose, Thinking: f.thinking, Now: f.cfg.Now,
		Explain: func(err error) string {
			if c := f.Conversation(); c != nil && c.Explain != nil {
				return c.Explain(err, c.Model())
			}
			return err.Error()
		},
		ModelName: func(name string) string { return f.Conversation().ModelInWords(name) },
		Moving: func() bool {
			return f.cfg.Motion != nil && f.cfg.Motion() && !f.footer.watch.Elsewhere()
		},
		PlanFile: func() string { return f.Conversation().PlanFile },
		WarnUSD:  func() float64 { return f.Conversation().WarnUSD },
		Keys: func() transcript.Keys {
			all := transcript.Keys{Stop: f.key(keys.Cancel), All: f.key(keys.ShowOutput)}
			if f.keyboard.Empty() { // otherwise the key edits the text
				all.Background = f.key(keys.Background)
			}
			return all
		},
	})
}

// thinking reports whether to show the model's thinking: as configured, or the opposite if
// toggled by the user.
func (f *Front) thinking() bool {
	return (f.cfg.Thinking != nil && f.cfg.Thinking()) != f.flipped
}

// flipThinking toggles the display of the model's thinking.
func (f *Front) flipThinking() {
	if f.flipped = !f.flipped; f.thinking() {
		f.script.Say("Thinking is shown.")
		return
	}
	f.script.Say("Thinking is hidden.")
}

// whole returns the entire transcript, with nothing folded or omitted.
func (f *Front) whole() pager.Text {
	return pager.Text{Title: "Transcript", Lines: func(w int) pager.Lines { return f.script.All(w) }, End: true}
}

// key returns the first key bound to an action, in user-facing notation, or "".
func (f *Front) key(action keys.Action) string {
	first, _, _ := strings.Cut(f.keyboard.typing.Bindings().Keys(action), ", ")
	return first
}
