package commands

import (
	"context"
	"errors"

	"adze/internal/session"
)

func btwCommand() Command {
	return Command{Name: "btw", Kind: Work, Args: "QUESTION", Doc: "ask a side question; the conversation stays as it is",
		Run: func(_ context.Context, _ *Registry, text string) (Answer, error) {
			if text == "" {
				return nil, errors.New("usage: /btw QUESTION")
			}
			return Operation{Op: session.Aside{Text: text}, Entries: true}, nil
		}}
}
