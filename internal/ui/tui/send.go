package tui

import (
	"context"

	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/ui/controller"
	"adze/internal/ui/edit"
	"adze/internal/ui/tui/compose"
)

// send sends the typed message. If later is true, it gets a turn of its own.
func (f *Front) send(ctx context.Context, later bool) {
	text, draft := f.keyboard.Text(), f.keyboard.Draft()
	e := controller.Input{Text: text, Later: later}
	if controller.IsMessage(text) {
		prompt, err := f.prompt(text, draft)
		if err != nil {
			f.Fail(err)
			return
		}
		e.Prompt = prompt
		w := compose.QueuedMessage{ID: prompt.ID, Part: prompt.Parts[0], Later: later, Draft: draft}
		if f.Working() {
			f.outbox.Add(w)
		} else {
			f.outbox.last = &w
		}
	}
	if !f.Working() || len(e.Prompt.Parts) == 0 {
		if controller.IsCommand(text) {
			f.script.Command(text)
		} else {
			f.script.Prompt(text, draft.Brief())
		}
	}
	f.keyboard.Clear()
	f.keyboard.Unstash()
	f.popup.Close()
	f.remarks.dismiss()
	if !f.outbox.Empty() {
		f.outbox.save()
	}
	f.Stay()
	f.keyboard.keep(text, true)
	f.Enter(ctx, e)
}

// prompt returns the message with its images.
func (f *Front) prompt(text string, draft *edit.Draft) (session.Prompt, error) {
	p := session.Prompt{ID: msg.NewID(), Parts: []msg.Part{&msg.Text{Text: text}}, Pasted: draft.Pasted()}
	if f.cfg.Typing.Pictures == nil {
		return p, nil
	}
	for _, image := range f.keyboard.Images() {
		part, err := f.cfg.Typing.Pictures.Part(image)
		if err != nil {
			return p, err
		}
		p.Parts = append(p.Parts, part)
	}
	return p, nil
}
