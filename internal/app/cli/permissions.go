package cli

import (
	"context"
	"errors"

	"adze/internal/app/cli/flags"
	"adze/internal/app/cli/permissions"
	"adze/internal/app/wire"
	"adze/internal/settings"
	"adze/internal/setup"
)

// permissionsOptions holds the options of adze permissions.
type permissionsOptions struct {
	project     settings.Source
	access      wire.AccessSpec
	json, stdin bool
}

// explain describes the forms of the command.
func (*permissionsOptions) explain() string {
	return `check lists the rules and hook matchers that can never take effect, with their source and the reason, and
exits with 1 if there are any. check TOOL JSON explains how a model's call would be decided by the rules and
the mode in force; naming the tool here allows nothing. Nothing is run or written.
`
}

func (o *permissionsOptions) flags() []flag {
	table := []flag{
		{Name: "json", Doc: "print the decision as JSON", Set: flags.SetBool(&o.json)},
		{Name: "stdin", Doc: "check many calls: reads a line {\"id\",\"tool\",\"input\",\"cwd\",\"mode\",\"allow\",\"ask\",\"deny\"} for each from stdin, and writes a line with its decision to stdout",
			Set: flags.SetBool(&o.stdin)},
	}
	table = append(table, flags.Only(accessFlags(&o.access),
		"allowed-tools", "disallowed-tools", "permission-mode", "dangerously-skip-permissions", "add-dir")...)
	return append(table, flags.Only(projectFlags(&o.project), "settings", "setting-sources", "trust")...)
}

func (*permissionsOptions) actions() []action {
	return []action{
		{Name: "list", Doc: "list the rules in force, highest precedence first"},
		{Name: "check", Args: "[TOOL [JSON]]", Doc: "find rules that never take effect, or explain how a call would be decided"},
	}
}

// offers completes the tool of a call.
func (*permissionsOptions) offers(env *Env, args []string) []offer {
	if len(args) == 1 && args[0] == "check" {
		return toolOffers(env)
	}
	return nil
}

// run lists the rules, finds ineffective ones, or explains how calls would be decided. Nothing
// is run or written.
func (o *permissionsOptions) run(ctx context.Context, env *Env, in invocation) error {
	const usage = "usage: adze permissions [list], adze permissions check, adze permissions check TOOL JSON, or adze permissions check --stdin"
	c := o.checker(env)
	if action, args := actionOf(in, "list"); action == "list" && len(args) == 0 && !o.stdin {
		return c.List()
	}
	if len(in.Args) == 0 || in.Args[0] != "check" {
		return setup.Errorf("%s", usage)
	}
	args := in.Args[1:]
	switch {
	case o.stdin && len(args) == 0:
		return serveLines(ctx, env, func(line []byte, err error) any {
			if err != nil {
				return permissions.Refuse(nil, err)
			}
			return c.Line(line)
		})
	case len(args) == 0:
		c.Quiet = true
		err := c.Flaws()
		if errors.Is(err, permissions.ErrFailed) {
			return &Ended{}
		}
		return err
	case o.stdin || len(args) > 2:
		return setup.Errorf("%s", usage)
	}
	input, err := toolInput(ctx, env, args[1:])
	if err != nil {
		return err
	}
	return c.One(args[0], input)
}

// checker returns a Checker that judges calls.
func (o *permissionsOptions) checker(env *Env) *permissions.Checker {
	return &permissions.Checker{
		Console: env.streams(), JSON: o.json, Dir: env.Dir,
		Open: func(dir string, say func(string)) (*wire.Bench, error) {
			there, src := *env, o.project
			there.Dir = dir
			src.Trust = src.Trust || o.stdin
			place := there.wire()
			place.Say = say
			return wire.Open(place, openLeniently(&there, src)).Bench(o.access)
		},
	}
}
