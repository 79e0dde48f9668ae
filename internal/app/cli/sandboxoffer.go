package cli

import (
	"context"
	"os"
	"path/filepath"

	"adze/internal/app/settings"
	"adze/internal/app/wire"
	"adze/internal/platform/fsys"
	"adze/internal/ui/talk"
)

// sandboxDeclined is the file in the state home that records that the user declined the sandbox.
const sandboxDeclined = "sandbox-declined"

// sandboxOffer returns what offers the sandbox to a user who has not decided about it, if it protects here; it
// may be nil. Enable switches the sandbox on for good.
func sandboxOffer(env *Env, p *settings.Project, protects func() bool, enable func(context.Context) error) func(context.Context) *talk.Suggestion {
	if !env.StdinTerminal || !env.StdoutTerminal || p.Home == "" || p.Settings().Origin(wire.SandboxSetting) != "" {
		return nil
	}
	declined := filepath.Join(p.Home, sandboxDeclined)
	if _, err := os.Lstat(declined); err == nil {
		return nil
	}
	return func(context.Context) *talk.Suggestion {
		if !protects() {
			return nil
		}
		return &talk.Suggestion{
			Text: "Commands can run in a sandbox: there they write only in your working directories, cannot read secrets such as ~/.ssh, " +
				"and reach only the network hosts that you allow. Then they run without asking you first; what needs more still asks.\n" +
				"Use the sandbox from now on? Press y for yes, n for no.",
			Answer: func(ctx context.Context, yes bool) (string, error) {
				if !yes {
					if err := fsys.MkdirPrivate(p.Home); err != nil { // it may be the first start
						return "", err
					}
					return "You will not be asked again. To use the sandbox later: adze config set " + wire.SandboxSetting + " true",
						fsys.WriteAtomic(declined, nil, 0o600)
				}
				if err := enable(ctx); err != nil {
					return "", err
				}
				return "The sandbox is on. adze sandbox status shows what it prevents; to turn it off: adze config set " + wire.SandboxSetting + " false", nil
			},
		}
	}
}
