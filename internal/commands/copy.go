package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"adze/internal/msg"
	"adze/internal/platform/text/amount"
)

func copyCommand() Command {
	return Command{Name: "copy", Args: "[N]", Doc: "copy the last answer to the clipboard, or the Nth last", Terminal: true,
		Run: func(_ context.Context, r *Registry, arg string) (Answer, error) { return r.copyAnswer(arg) }}
}

// copyAnswer returns a model answer for the clipboard.
func (r *Registry) copyAnswer(which string) (Answer, error) {
	n := 1
	if which != "" {
		var err error
		if n, err = strconv.Atoi(which); err != nil || n < 1 {
			return nil, errors.New("usage: /copy, or /copy N for the Nth last answer")
		}
	}
	for _, e := range slices.Backward(r.Session.Conversation()) {
		text := MessageText(e.Message)
		if e.Message.Role != msg.Assistant || text == "" {
			continue
		}
		if n--; n == 0 {
			return Copy{Text: text, Page: Say("Copied " + amount.Of(len([]rune(text)), "character", "characters") + " to the clipboard.")}, nil
		}
	}
	if which == "" {
		return nil, errors.New("no answer to copy yet")
	}
	return nil, fmt.Errorf("there are fewer than %s answers", which)
}
