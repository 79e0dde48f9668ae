package auth

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"adze/internal/app/models"
	"adze/internal/platform/term"
)

// SetUp asks a user without a configured model provider how to continue. It returns the local
// model that the user chose, or "" if a provider has been configured. screen is the error that
// lists all options.
func SetUp(ctx context.Context, c Console, p models.Config, models []string, screen error) (string, error) {
	if !c.Terminal {
		return "", screen
	}
	ways := []string{"store an API key"}
	for _, name := range models {
		ways = append(ways, "use "+term.Sanitize(name)+" on this machine, without a key")
	}
	ways = append(ways, "another way (Bedrock, Vertex, gateway, local server, demo)")
	way, err := c.way(ctx, ways)
	switch {
	case errors.Is(err, ErrInterrupted):
		return "", err
	case err != nil || way < 0 || way == len(ways)-1:
		return "", screen
	case way > 0:
		return models[way-1], c.print(welcome)
	}
	if err := c.storeKey(ctx, p); err != nil {
		return "", err
	}
	return "", c.print(welcome)
}

// way asks for the setup method. The last one is the default.
func (c Console) way(ctx context.Context, ways []string) (int, error) {
	const question = "Welcome to adze. Which model should it use?"
	last := len(ways) - 1
	if c.Choose != nil {
		for i, way := range ways {
			ways[i] = strings.ToUpper(way[:1]) + way[1:]
		}
		if i, err := c.Choose(question, ways, "more options"); err == nil || errors.Is(err, ErrInterrupted) {
			return i, err
		}
	}
	var b strings.Builder
	b.WriteString(question + "\n\n")
	for i, way := range ways {
		fmt.Fprintf(&b, "  %d  %s\n", i+1, way)
	}
	if err := c.print(b.String() + "\n"); err != nil {
		return 0, err
	}
	for range attempts {
		answer, err := c.ask(ctx, fmt.Sprintf("Which one? [%d] ", last+1))
		if err != nil || answer == "" {
			return last, nil
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(ways) {
			return n - 1, nil
		}
		if err := c.print(fmt.Sprintf("Enter a number from 1 to %d.\n", len(ways))); err != nil {
			return 0, err
		}
	}
	return last, nil
}

// storeKey asks for a key, repeatedly if the provider rejects it.
func (c Console) storeKey(ctx context.Context, p models.Config) (err error) {
	for range attempts {
		fmt.Fprintln(c.Out)
		if err = Store(ctx, c, p, "", Options{}); !errors.Is(err, models.ErrRejected) {
			return err
		}
		c.Say(err.Error())
	}
	return err
}

// welcome is shown on the first start.
const welcome = `
adze asks before it changes files or runs commands. Models make mistakes; check
what you approve. /theme changes the colours, /terminal-setup checks your terminal.

`
