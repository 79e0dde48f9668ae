package worktrees

import (
	"context"
	_ "embed"
	"errors"

	"adze/internal/platform/texts"
	"adze/internal/platform/worktree"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
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

// ForkNotice tells an agent that has the conversation of its parent that it works in a worktree, beside the copy in parent.
func ForkNotice(l texts.Language, t *worktree.Tree, parent string) string {
	return catalogue.Text(l, "fork", t.Path, parent)
}
