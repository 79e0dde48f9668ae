package worktrees

import (
	"context"
	"errors"

	"adze/internal/platform/git/worktree"
)

// ForAgent creates a worktree for an agent. The caller ends its use with
// [worktree.Tree.Finish].
func (p *Place) ForAgent(ctx context.Context, id string) (*worktree.Tree, error) {
	if p == nil {
		return nil, errors.New("worktrees can't be created here: no state home, or this is a sub-conversation")
	}
	o := p.options("agent-"+id[:min(len(id), 8)], worktree.Agent)
	if t := p.Current(); t != nil {
		o.Dir = t.Path // its HEAD is used
	}
	return p.cfg.Trees.Create(ctx, o)
}
