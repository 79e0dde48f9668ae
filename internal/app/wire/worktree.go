package wire

import (
	"context"
	"fmt"
	"path/filepath"

	"adze/internal/app/conversation"
	"adze/internal/feature/worktrees"
	"adze/internal/platform/git/worktree"
	"adze/internal/session"
	"adze/internal/setup"
)

// A WorktreeSpec configures a conversation to start in a worktree.
type WorktreeSpec struct {
	Wanted bool
	Name   string // empty means a new worktree
	// In is the worktree in which the conversation started, and Dir its directory there.
	// Opening the conversation sets both.
	In  *worktree.Tree
	Dir string
}

// A workplace holds a conversation's directory and the worktrees it can move to.
type workplace struct {
	*conversation.Workdir
	trees *worktrees.Place // nil if worktrees are unavailable
	news  string           // pending notice about a resumed session's worktree
}

// localSettings returns the user's own settings files, which are not in the repository.
func localSettings() []string {
	return []string{".adze/settings.local.json", ".claude/settings.local.json"}
}

// openWorktrees creates the conversation's worktree support, and enters the requested or
// previous worktree.
func (c *Conversation) openWorktrees(ctx context.Context) error {
	if c.ws.Project.Home == "" {
		if c.spec.Worktree.Wanted {
			return setup.Errorf("--worktree needs a state home: set ADZE_HOME to a folder for adze's files")
		}
		return nil
	}
	p := worktrees.New(worktrees.Config{
		Trees: worktree.New(worktree.Config{
			Judge: c.ws.git.judge, Run: c.ws.runner, Records: filepath.Join(c.ws.Project.Home, "worktrees"),
			Make: worktrees.Make(c.Hooks), BeforeRemove: worktrees.Removing(c.Hooks),
			Refuse: func(root string) error {
				if path := filepath.Join(root, ".adze"); c.ws.Project.In(root) != path {
					return fmt.Errorf("worktrees would be in %s, which the next start would take for the folder with all of adze's files: set ADZE_HOME to a folder for them", path)
				}
				return nil
			},
		}),
		Dir: c.ws.Dir, Move: c.dir.Relocate, Note: c.note, Say: c.ws.Say,
		Content: func() worktrees.Content {
			s := c.ws.values().Loop.Worktree
			return worktrees.Content{Links: s.Links, Sparse: s.Sparse, Copies: localSettings()}
		},
	})
	c.dir.trees, c.trees = p, p
	c.closers.add(p.SweepBeside())
	if c.spec.Worktree.Wanted {
		if err := p.Begin(ctx, c.spec.Worktree.Name); err != nil {
			return setup.Errorf("--worktree: %v", err)
		}
	} else {
		c.dir.news = p.Resume(ctx, c.record.State().Last[worktrees.NoteKind])
	}
	c.spec.Worktree.In, c.spec.Worktree.Dir = p.Current(), p.Here()
	return nil
}

// tellWorktree tells the user and the model of a resumed session which worktree it is in.
func (c *Conversation) tellWorktree() {
	if c.dir.news == "" {
		return
	}
	c.ws.Say(c.dir.news)
	c.Hooks.Notify(session.Notify{Text: c.dir.news})
}

// Worktree returns the name of the conversation's worktree, or "".
func (c *Conversation) Worktree() string {
	if t := c.dir.trees.Current(); t != nil {
		return t.Name
	}
	return ""
}
