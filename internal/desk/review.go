package desk

import (
	"context"
	"strings"
)

func reviewCommand() Command {
	return Command{Name: "review", Kind: Ask, Args: "[WHAT]", Doc: "have the model review the uncommitted changes, or WHAT",
		Run: func(_ context.Context, _ *Desk, what string) (Answer, error) {
			if what == "" {
				what = "the uncommitted changes in this working directory"
			}
			return Prompt{Text: strings.ReplaceAll(reviewPrompt, "WHAT", what)}, nil
		}}
}

const reviewPrompt = `Review WHAT.

Read the diff first, then as much of the surrounding code as you need to judge it. Do not change anything. Look for
bugs, unhandled cases, missing tests and violations of the project's conventions. Report your findings, the most serious
first, each with its file and line, why it is a problem and how to fix it. Leave out matters of taste. If there is nothing
to report, say so.`
