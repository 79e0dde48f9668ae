package commands

import (
	"context"
	"errors"

	"adze/internal/platform/text/amount"
)

func doctorCommand() Command {
	return Command{Name: "doctor", Args: "[online]", Doc: "check the installation, settings, rules and workspace for problems; online also tries the provider",
		Run: func(ctx context.Context, r *Registry, arg string) (Answer, error) {
			switch {
			case arg != "" && arg != "online":
				return nil, errors.New("usage: /doctor or /doctor online")
			case r.Env.Examine == nil:
				return Say("Nothing can be looked at in this session."), nil
			}
			return CheckPage(r.Env.Examine(ctx, arg != "")), nil
		},
		Complete: words("online")}
}

// A Check is the result of one diagnostic check.
type Check struct {
	Name string
	// Fine describes the working state. Problems lists errors, and Notes lists suggestions.
	Fine            string
	Problems, Notes []string
}

// maxFindings is the maximum number of findings shown per check.
const maxFindings = 20

// CheckPage shows checks, and the findings below them.
func CheckPage(checks []Check) Page {
	var fields Fields
	var notices []Block
	for _, c := range checks {
		text := c.Fine
		found := append(append([]string{}, c.Problems...), c.Notes...)
		if len(c.Problems) > 0 {
			text = amount.Of(len(c.Problems), "problem", "problems")
		}
		fields = append(fields, Field{c.Name, text})
		for _, one := range found[:min(maxFindings, len(found))] {
			notices = append(notices, Notice(c.Name+": "+one))
		}
		if more := len(found) - maxFindings; more > 0 {
			notices = append(notices, Notice(c.Name+": and "+amount.Of(more, "other", "others")))
		}
	}
	p := Page{Blocks: []Block{fields}}
	p.Add(notices...)
	switch n := Broken(checks); {
	case n > 0:
		p.Add(Text(amount.Of(n, "problem was", "problems were") + " found."))
	default:
		p.Add(Text("No problem was found."))
	}
	return p
}

// Broken returns the number of problems found.
func Broken(checks []Check) (n int) {
	for _, c := range checks {
		n += len(c.Problems)
	}
	return n
}
