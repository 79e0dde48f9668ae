package commands

import (
	"context"
	"errors"
)

func exitCommand() Command {
	return Command{Name: "exit", Aliases: []string{"quit"}, Kind: Change, Doc: "exit adze (or press Ctrl-D)", Terminal: true,
		Run: func(_ context.Context, _ *Registry, arg string) (Answer, error) {
			if arg != "" {
				return nil, errors.New("usage: /exit. To send it as a message, put a word before the slash")
			}
			return Leave{}, nil
		}}
}
