package plain

import (
	"context"
	"strconv"

	"adze/internal/desk"
	"adze/internal/ui/draw"
)

// isCommand reports whether text is a command.
func isCommand(text string) bool {
	_, _, ok := desk.Parse(text)
	return ok
}

// complete completes the name of a command.
func (f *Front) complete(text string) string {
	if f.talk == nil {
		return text
	}
	completed, _ := f.talk.Complete(context.Background(), text)
	return completed
}

// carryOut runs a command and carries out its answer.
func (f *Front) carryOut(ctx context.Context, run func() (desk.Answer, error)) {
	answer, err := run()
	if err != nil {
		f.out.fail(err)
		return
	}
	switch a := answer.(type) {
	case desk.Page:
		f.out.page(a)
	case desk.List:
		a.Choices = a.Choices[:min(maxChoices, len(a.Choices))]
		f.out.lines(draw.Choices(a, f.out.options()))
		f.out.say("Enter a number to choose, or anything else to continue.")
		f.offer = &offer{a}
	case desk.Prompt:
		f.say(ctx, a.Text)
	case desk.Operation:
		if f.submit(ctx, a.Op) {
			f.out.page(a.Page)
			f.awaited = a.Entries
		}
	case desk.Edit:
		if err := f.edit(a.Path); err != nil {
			f.out.fail(err)
			return
		}
		f.out.page(a.Page)
	case desk.Follow:
		f.out.page(a.Page)
		f.followed, f.awaited = follow(a.Task), true
	case desk.Switch:
		f.next = &a.Session
	case desk.Leave:
		f.quit()
	}
}

func (f *Front) edit(path string) error {
	if f.cfg.Edit == nil {
		return desk.NoEditor(path)
	}
	return f.cfg.Edit(path)
}

// maxChoices is how many choices a list offers.
const maxChoices = 20

// An offer is a list from which the user may choose with the next line, by number.
type offer struct{ desk.List }

// pick returns the choice with the number in text, or nil. The offer may be nil.
func (o *offer) pick(text string) *desk.Choice {
	if o == nil {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(o.Choices) {
		return nil
	}
	return &o.Choices[n-1]
}
