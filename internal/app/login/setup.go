package login

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/app/providers"
	"adze/internal/platform/term"
)

// SetUp asks a user who has configured no model provider how to continue. It returns the model of a server on this machine
// that the user chose, or "" if there is a provider now. Screen is the error that says every way.
func SetUp(ctx context.Context, c Console, p providers.Config, models []string, screen error) (string, error) {
	if !c.Terminal {
		return "", screen
	}
	var b strings.Builder
	b.WriteString("No model provider is configured yet.\n\n  1  store an API key now\n")
	for i, name := range models {
		fmt.Fprintf(&b, "  %d  use %s, a model on this machine, without a key\n", i+2, term.Sanitize(name))
	}
	fmt.Fprintf(&b, "  %d  show every other way: a cloud, a local server, a gateway, a demo\n\n", len(models)+2)
	if err := c.print(b.String()); err != nil {
		return "", err
	}
	answer, err := c.ask(ctx, fmt.Sprintf("Which one? [%d] ", len(models)+2))
	if err != nil {
		return "", screen
	}
	if answer == "1" {
		fmt.Fprintln(c.Out)
		return "", Store(ctx, c, p, "", Options{})
	}
	for i, name := range models {
		if answer == fmt.Sprint(i+2) {
			return name, nil
		}
	}
	return "", screen
}
