package plain

import (
	"context"
	"fmt"
	"strconv"
	"unicode/utf8"

	"adze/internal/commands"
	"adze/internal/ui/ask"
)

// maxChoices is the maximum number of choices offered in a list.
const maxChoices = 20

// chooses handles a line meant for the offered list, and reports whether it was.
func (f *Front) chooses(ctx context.Context, text string) bool {
	offer := f.Offered()
	if offer == nil || text == "" {
		return false
	}
	shown := offer.Choices[:min(maxChoices, len(offer.Choices))]
	if c := pick(shown, text); c != nil {
		f.Choose(ctx, *c)
		return true
	}
	if !answers(text) {
		return false
	}
	if ask.ParseAnswer(text) == ask.No {
		f.Decline()
	} else {
		f.out.say(fmt.Sprintf("Enter a number from 1 to %d, or n to choose nothing.", len(shown)))
	}
	f.Resume()
	return true
}

// pick returns the choice with the number in text, or nil.
func pick(choices []commands.Choice, text string) *commands.Choice {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(choices) {
		return nil
	}
	return &choices[n-1]
}

// answers reports whether text can only be meant for an offered list although it is not a valid
// choice: another number, a letter, a yes or a no. It is not sent to the model.
func answers(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil || utf8.RuneCountInString(text) == 1 || ask.ParseAnswer(text) != ask.OtherAnswer
}
