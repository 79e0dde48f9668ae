package desk

import (
	"context"
	"strings"
)

func initCommand() Command {
	return Command{Name: "init", Kind: Ask, Args: "[WHAT]", Doc: "have the model write AGENTS.md, the instructions for this project",
		Run: func(_ context.Context, _ *Desk, what string) (Answer, error) {
			text := initPrompt
			if what != "" {
				text += "\n\nThe user adds: " + what
			}
			return Prompt{Text: strings.TrimSpace(text)}, nil
		}}
}

const initPrompt = `Write AGENTS.md in the root of this project: what a coding agent must know to work here and cannot see at a glance.

Find out first: README and contributing guides, manifests, build files, CI configuration, scripts, the layout of the source, a few
central files and their tests. Look for instruction files that are there already (AGENTS.md, CLAUDE.md, .cursorrules, .cursor/rules,
.github/copilot-instructions.md) and use what still holds.

Put in:
- the commands to build, to check and format, to run all tests and to run a single one; run those that are quick and harmless, to be sure they work
- the structure that takes several files to understand: main parts, how they depend on each other, where a change of each kind goes
- conventions that differ from the language's usual ones, with an example from the code
- traps: generated files, steps that must go together, what must not be edited

Leave out what any engineer knows, lists of every file, and anything you did not verify. Stay below 60 lines.

If AGENTS.md or CLAUDE.md exists, improve it in place: keep what is right, correct what is not, and never drop a rule that a person
wrote. If the directory has no source yet, write only what is known, and say so. At the end, summarise in a few lines what you wrote and what you
could not find out.`
