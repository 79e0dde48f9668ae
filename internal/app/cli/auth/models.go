package auth

import (
	"context"

	"adze/internal/platform/term"
	"adze/internal/ui/console"
)

// ChooseModel asks which model of a local server to use. Without a terminal it returns "", and
// opening the server lists the models.
func ChooseModel(ctx context.Context, c Console, models []string) (string, error) {
	if !c.Terminal {
		return "", nil
	}
	var names []string
	for _, name := range models {
		names = append(names, term.Sanitize(name))
	}
	i, err := c.choice(ctx, console.Choice{Question: "Which model?", Answers: names, Leaving: "quit"}, "quit")
	switch {
	case err != nil:
		return "", err
	case i < 0:
		return "", ErrInterrupted
	}
	return models[i], nil
}
