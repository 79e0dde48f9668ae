package plain

import (
	"context"
	"fmt"
	"strconv"
)

// An offer is a list from which the person may choose by a number, with the next thing they enter.
type offer struct {
	choices []Choice
	take    func(context.Context, *Choice)
}

// propose shows a list, and has take called with what the person chooses.
func (f *Front) propose(choices []Choice, take func(context.Context, *Choice)) {
	choices = choices[:min(most, len(choices))]
	for i, c := range choices {
		f.out.say(fmt.Sprintf("%3d  %s  (%s)", i+1, c.Title, c.About))
	}
	f.out.say("Enter a number, or go on as you were.")
	f.offer = &offer{choices, take}
}

// pick returns the choice whose number text is, or nil. A nil offer has none.
func (o *offer) pick(text string) *Choice {
	if o == nil {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(o.choices) {
		return nil
	}
	return &o.choices[n-1]
}

// note offers to add a line to one of the files of instructions. The model is not told before the next
// prompt, as of any file of instructions that changed.
func (f *Front) note(line string) {
	switch {
	case f.cfg.Places == nil:
		f.out.say("There are no instructions here that could be added to.")
		return
	case line == "":
		f.out.say("Write what to add to your instructions after the number sign.")
		return
	}
	places, err := f.cfg.Places()
	switch {
	case err != nil:
		f.out.say(err.Error())
		return
	case len(places) == 0:
		f.out.say("There is no file of instructions here that could be added to.")
		return
	}
	f.out.say("Add this line to which instructions?")
	f.propose(places, func(ctx context.Context, c *Choice) {
		text, err := f.cfg.Add(ctx, c.ID, line)
		if err != nil {
			text = err.Error()
		}
		f.out.say(text)
	})
}
