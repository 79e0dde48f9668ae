package worktrees

import (
	"context"
	"errors"

	"adze/internal/platform/worktree"
)

// ForAgent makes a worktree for an agent. Its user ends it with [worktree.Tree.Finish].
func (p *Place) ForAgent(ctx context.Context, id string) (*worktree.Tree, error) {
	if p == nil {
		return nil, errors.New("worktrees cannot be made here: there is no state home, or the conversation is part of another one")
	}
	o := p.options("agent-"+id[:min(len(id), 8)], worktree.Agent)
	if t := p.Current(); t != nil {
		o.Dir = t.Path // its HEAD counts
	}
	return p.cfg.Trees.Create(ctx, o)
}
