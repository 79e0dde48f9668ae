package confine

import (
	"context"

	"adze/internal/tool"
)

// Guard wraps g in a gate that tests the sandbox before the first command that does more than
// read is judged: whether commands are confined determines the prompts. A file that a call is
// allowed to write may appear, even under a protected name.
func (f *Confinement) Guard(g tool.Gate) tool.Gate { return guard{g, f} }

type guard struct {
	tool.Gate
	sandbox *Confinement
}

// Before implements [tool.Gate].
func (g guard) Before(ctx context.Context, u *tool.Use) error {
	if u.Tool.Traits().Shell && !tool.FactsOf(u.Call).ReadOnly {
		g.sandbox.Ready()
	}
	err := g.Gate.Before(ctx, u)
	if err == nil && u.Verdict.Decision == tool.Allow && !tool.FactsOf(u.Call).ReadOnly {
		if path, ok := tool.PathOf(u.Call); ok {
			g.sandbox.box.Expect(g.sandbox.absolute(path))
		}
	}
	return err
}
