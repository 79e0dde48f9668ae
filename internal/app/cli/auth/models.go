package auth

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"adze/internal/platform/term"
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
	i, err := c.pick(ctx, "Which model?", names)
	switch {
	case err != nil:
		return "", err
	case i < 0:
		return "", ErrInterrupted
	}
	return models[i], nil
}

// pick asks a multiple-choice question whose first answer is the default. It returns a negative
// number if the user cancels.
func (c Console) pick(ctx context.Context, question string, answers []string) (int, error) {
	if c.Choose != nil {
		if i, err := c.Choose(question, answers, "quit"); err == nil || errors.Is(err, ErrInterrupted) {
			return i, err
		}
	}
	for i, answer := range answers {
		if err := c.print(fmt.Sprintf("  %d  %s\n", i+1, answer)); err != nil {
			return -1, err
		}
	}
	for range attempts {
		answer, err := c.ask(ctx, question+" [1] ")
		if err != nil || answer == "" {
			return 0, err
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(answers) {
			return n - 1, nil
		}
		if err := c.print(fmt.Sprintf("Enter a number from 1 to %d.\n", len(answers))); err != nil {
			return -1, err
		}
	}
	return -1, nil
}
