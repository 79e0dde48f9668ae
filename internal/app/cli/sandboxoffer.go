package cli

import (
	"context"
	"os"
	"path/filepath"

	"adze/internal/app/wire"
	"adze/internal/platform/fs/fsys"
	"adze/internal/settings"
	"adze/internal/ui/controller"
)

// sandboxDeclined is the file in the state home that records that the user declined the
// sandbox.
const sandboxDeclined = "sandbox-declined"

// Answers to the sandbox offer.
const (
	useSandbox = iota
	sandboxLater
	noSandbox
)

// sandboxOffer returns a function that offers the sandbox if it works here, or nil if the user
// has already decided. enable turns the sandbox on permanently.
func sandboxOffer(env *Env, p *settings.Project, protects func() bool, enable func(context.Context) error) func(context.Context) *controller.Suggestion {
	if !env.StdinTerminal || !env.StdoutTerminal || p.Home == "" || p.Settings().Origin(wire.SandboxSetting) != "" {
		return nil
	}
	declined := filepath.Join(p.Home, sandboxDeclined)
	if _, err := os.Lstat(declined); err == nil {
		return nil
	}
	return func(context.Context) *controller.Suggestion {
		if !protects() {
			return nil
		}
		return &controller.Suggestion{
			Title: "Sandbox",
			Body: "In a sandbox, commands can write only in your working directories, cannot read secrets such as ~/.ssh, and reach only the network " +
				"hosts that you allow. In return they run without asking; anything that needs more still asks.",
			Question: "Run commands in a sandbox?",
			Answers:  []string{useSandbox: "Yes, from now on", sandboxLater: "Not now", noSandbox: "No, and do not offer it again"},
			Later:    sandboxLater,
			Answer: func(ctx context.Context, chosen int) (string, error) {
				switch chosen {
				case sandboxLater:
					return "", nil
				case noSandbox:
					if err := fsys.MkdirPrivate(p.Home); err != nil { // may be the first start
						return "", err
					}
					return "To use the sandbox later: adze config set " + wire.SandboxSetting + " true",
						fsys.WriteAtomic(declined, nil, 0o600)
				}
				if err := enable(ctx); err != nil {
					return "", err
				}
				return "The sandbox is on. adze sandbox status shows its limits. To turn it off: adze config set " + wire.SandboxSetting + " false", nil
			},
		}
	}
}
