package tui

import (
	"strings"

	"adze/internal/ui/keys"
	"adze/internal/ui/tui/pager"
	"adze/internal/ui/tui/transcript"
)

// newScript returns the transcript of what is said and done.
func (f *Front) newScript() *transcript.Transcript {
	return transcript.New(transcript.Config{
		Glyphs: f.cfg.Glyphs, Marks: !f.cfg.Palette.Coloured(), Links: f.cfg.Palette.Links(), Dir: f.cfg.Dir, Verbose: f.cfg.Verbose, Thinking: f.thinking,
		Explain: func(err error) string {
			if c := f.Conversation(); c != nil && c.Explain != nil {
				return c.Explain(err, c.Model())
			}
			return err.Error()
		},
		ModelName: func(name string) string { return f.Conversation().ModelInWords(name) },
		PlanFile:  func() string { return f.Conversation().PlanFile },
		WarnUSD:   func() float64 { return f.Conversation().WarnUSD },
		Keys: func() transcript.Keys {
			all := transcript.Keys{Stop: f.key(keys.Cancel), All: f.key(keys.ShowOutput)}
			if f.keyboard.Empty() { // or the key is for the text
				all.Background = f.key(keys.Background)
			}
			return all
		},
	})
}

// thinking reports whether to show what the model thinks: as configured, or the other way round if the user wants it.
func (f *Front) thinking() bool {
	return (f.cfg.Thinking != nil && f.cfg.Thinking()) != f.flipped
}

// flipThinking shows what the model thinks, or hides it.
func (f *Front) flipThinking() {
	if f.flipped = !f.flipped; f.thinking() {
		f.script.Say("What the model thinks is shown.")
		return
	}
	f.script.Say("What the model thinks is hidden.")
}

// whole returns all of the transcript, with nothing folded or left out.
func (f *Front) whole() pager.Text {
	return pager.Text{Title: "Transcript", Lines: func(w int) pager.Lines { return f.script.All(w) }, End: true}
}

// key returns the first key that an action is bound to, as users are told of it, or "".
func (f *Front) key(action keys.Action) string {
	first, _, _ := strings.Cut(f.keyboard.typing.Bindings().Keys(action), ", ")
	return first
}
