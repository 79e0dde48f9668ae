package commands

import "context"

func versionCommand() Command {
	return Command{Name: "version", Doc: "show the version of adze",
		Run: func(_ context.Context, r *Registry, _ string) (Answer, error) { return Say("adze " + r.Version), nil }}
}
