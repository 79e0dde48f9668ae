package worktrees

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adze/internal/feature"
	"adze/internal/tool"
	tree "adze/internal/tools/worktree"
)

// Part returns the worktrees' contribution to a main conversation: its tools if the model may
// switch worktrees, and the command. A nil place has neither, but still guards.
func (p *Place) Part(tools bool, now func() time.Time) feature.Part {
	part := feature.Part{Name: "worktree", Gate: p.Guard()}
	if p == nil {
		return part
	}
	if tools {
		part.Tools = tree.Tools(p)
	}
	part.Commands = Sections(p, now)
	return part
}

// A Guard is a [tool.Gate] for an agent with its own worktree. Once the worktree is gone, calls
// that touch files or run commands are denied: they would recreate its directory inside another
// copy of the repository, and git would then operate on that one.
type Guard struct {
	path      string
	dir, link os.FileInfo // identity of the worktree; link is nil if a hook created it without git
}

// NewGuard returns the guard of the worktree at a path, or nil if it does not exist.
func NewGuard(path string) *Guard {
	dir, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	link, _ := os.Lstat(filepath.Join(path, ".git")) // ok: may not exist
	return &Guard{path, dir, link}
}

// Before denies a call in a worktree that is gone.
func (g *Guard) Before(_ context.Context, u *tool.Use) error {
	if !g.there() && touches(u) {
		g.deny(u, "stop, and report your work and that the worktree is gone")
	}
	return nil
}

// deny denies a call and suggests an alternative.
func (g *Guard) deny(u *tool.Use, instead string) {
	u.Verdict.Decide(tool.Deny, "the worktree check", fmt.Sprintf(
		"The worktree %s was removed while you worked in it. Uncommitted changes are lost. Now %s.", g.path, instead))
}

// there reports whether the worktree is still the same.
func (g *Guard) there() bool {
	dir, err := os.Lstat(g.path)
	if err != nil || !os.SameFile(dir, g.dir) {
		return false
	}
	if g.link == nil {
		return true
	}
	_, err = os.Lstat(filepath.Join(g.path, ".git"))
	return err == nil
}

// A placeGuard is a [tool.Gate] for a session and the agents that share its directory: a
// [Guard] of its current worktree.
type placeGuard struct{ place *Place }

// Guard returns the gate for calls in the session's worktree. It always allows the tool that
// leaves the worktree.
func (p *Place) Guard() tool.Gate { return placeGuard{p} }

// Before denies a call in a worktree that is gone.
func (g placeGuard) Before(_ context.Context, u *tool.Use) error {
	if g.place == nil {
		return nil
	}
	g.place.mu.Lock()
	guard := g.place.guard
	g.place.mu.Unlock()
	if guard == nil || u.Tool.Spec().Name == tree.ExitName || guard.there() || !touches(u) {
		return nil
	}
	guard.deny(u, fmt.Sprintf("stop and report it, or return to %[2]s with %[1]s if you have that tool", tree.ExitName, g.place.cfg.Dir))
	return nil
}

// touches reports whether a call may touch files or run commands.
func touches(u *tool.Use) bool {
	a, ok := tool.As[tool.Accesser](u.Call)
	return !ok || len(a.Access()) > 0 || u.Tool.Traits().Shell
}
