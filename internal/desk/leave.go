package desk

import "context"

func exitCommand() Command {
	return Command{Name: "exit", Aliases: []string{"quit"}, Kind: Change, Doc: "exit adze (or press Ctrl-D)", Terminal: true,
		Run: func(context.Context, *Desk, string) (Answer, error) { return Leave{}, nil }}
}
