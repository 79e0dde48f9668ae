package desk

import (
	"context"
	"strings"
)

func reviewCommand() Command {
	return Command{Name: "review", Kind: Ask, Args: "[WHAT]", Doc: "have the model review the changes that are not committed, or WHAT",
		Run: func(_ context.Context, _ *Desk, what string) (Answer, error) {
			if what == "" {
				what = "the changes in this working directory that are not committed yet"
			}
			return Prompt{strings.ReplaceAll(reviewPrompt, "WHAT", what)}, nil
		}}
}

const reviewPrompt = `Review WHAT.

Read the diff first, then as much of the surrounding code as you need to judge it. Change nothing. Look for mistakes in
what the code does, for cases that are not handled, for tests that are missing, and for what contradicts the conventions
of the project. Report what you find with the most serious first, each with its file and line, why it is a problem, and
how to fix it. Leave out remarks about taste. If there is nothing to find, say so.`
