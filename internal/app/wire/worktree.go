package wire

import (
	"context"
	"path/filepath"

	"adze/internal/app/setup"
	"adze/internal/app/workdir"
	"adze/internal/app/worktrees"
	"adze/internal/desk"
	"adze/internal/desk/copies"
	"adze/internal/platform/worktree"
	"adze/internal/session"
	"adze/internal/tool"
	tree "adze/internal/tools/worktree"
)

// A WorktreeSpec says that a conversation works in a worktree from the beginning.
type WorktreeSpec struct {
	Wanted bool
	Name   string // empty means a new one
	// In is the worktree in which the conversation began, and Dir its directory there. Opening the conversation sets both.
	In  *worktree.Tree
	Dir string
}

// A workplace is where a conversation works: its directory, and the copies of the repository that it can move to.
type workplace struct {
	*workdir.Dir
	trees *worktrees.Place // nil if there can be none
	news  string           // what is to be told of where a resumed session works
}

// localSettings are the files of settings that are the user's own and not in the repository.
func localSettings() []string {
	return []string{".adze/settings.local.json", ".claude/settings.local.json"}
}

// openWorktrees makes what moves the conversation between copies of its repository, and moves it where it is wanted or where
// it was before.
func openWorktrees(ctx context.Context, c *Conversation) error {
	if c.spec.Worker != nil || c.spec.Calls != FromModel {
		return nil
	}
	if c.ws.Project.Home == "" {
		if c.spec.Worktree.Wanted {
			return setup.Errorf("--worktree needs a state home: set ADZE_HOME to a folder for adze's files")
		}
		return nil
	}
	p := worktrees.New(worktrees.Config{
		Trees: worktree.New(worktree.Config{
			Judge: c.ws.git.judge, Run: c.ws.runner, Records: filepath.Join(c.ws.Project.Home, "worktrees"),
			Make: worktrees.Make(c.Hooks), Removing: worktrees.Removing(c.Hooks),
		}),
		Dir: c.ws.Dir, Move: c.dir.Relocate, Note: noteOf(c), Say: c.ws.Say,
		Content: func() worktrees.Content {
			s := c.ws.values().Loop.Worktree
			return worktrees.Content{Links: s.Links, Sparse: s.Sparse, Copies: localSettings()}
		},
	})
	c.dir.trees = p
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

// tellWorktree tells the user and the model of a session that is resumed in which copy it works.
func tellWorktree(c *Conversation) {
	if c.dir.news == "" {
		return
	}
	c.ws.Say(c.dir.news)
	c.Hooks.Notify(session.Notify{Text: c.dir.news})
}

// WorktreeOf returns the name of the worktree that a conversation works in, or "".
func WorktreeOf(c *Conversation) string {
	if t := c.dir.trees.Current(); t != nil {
		return t.Name
	}
	return ""
}

// worktreeTools returns the tools with which the model moves the conversation. They are for users who work with worktrees:
// others should not pay for what the model is told of them.
func worktreeTools(c *Conversation) []tool.Tool {
	if c.dir.trees == nil || c.ws.values().Size.Reduced() || !c.ws.values().Loop.Worktree.Tools && c.spec.Worktree.In == nil {
		return nil
	}
	return tree.Tools(c.dir.trees)
}

// worktreeGate returns the gate for calls of a conversation in a worktree: of its own, or of the session that it works for.
func worktreeGate(c *Conversation) tool.Gate {
	if guard := worktrees.NewGuard(c.spec.Worker.copy()); guard != nil {
		return guard
	}
	for c.spec.Worker != nil {
		c = c.spec.Worker.Lead
	}
	return c.dir.trees.Guard(tree.ExitName)
}

// offerWorktrees gives the desk the command for worktrees.
func offerWorktrees(c *Conversation, s *desk.Surroundings) {
	if c.dir.trees != nil {
		s.Sections = append(s.Sections, copies.Sections(c.dir.trees, c.ws.Now)...)
	}
}
