package commands

import "context"

func versionCommand() Command {
	return Command{Name: "version", Doc: "show the version of adze",
		Run: func(_ context.Context, d *Desk, _ string) (Answer, error) { return Say("adze " + d.Version), nil }}
}
