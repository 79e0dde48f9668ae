package worktrees

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"adze/internal/tool"
)

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
		g.deny(u, "stop, and report what you did and that it is gone")
	}
	return nil
}

// deny denies a call and suggests an alternative.
func (g *Guard) deny(u *tool.Use, instead string) {
	u.Verdict.Decide(tool.Deny, "the worktree check", fmt.Sprintf(
		"The worktree %s was removed while you worked in it. What was not committed is lost, and nothing more can be done there: %s.", g.path, instead))
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
type placeGuard struct {
	place *Place
	leave string // tool that leaves a worktree
}

// Guard returns the gate for calls in the session's worktree. It always allows the tool that
// leaves the worktree.
func (p *Place) Guard(leave string) tool.Gate { return placeGuard{p, leave} }

// Before denies a call in a worktree that is gone.
func (g placeGuard) Before(_ context.Context, u *tool.Use) error {
	if g.place == nil {
		return nil
	}
	g.place.mu.Lock()
	guard := g.place.guard
	g.place.mu.Unlock()
	if guard == nil || u.Tool.Spec().Name == g.leave || guard.there() || !touches(u) {
		return nil
	}
	guard.deny(u, fmt.Sprintf("stop, and say so. %s, if you have it, leads back to %s", g.leave, g.place.cfg.Dir))
	return nil
}

// touches reports whether a call may touch files or run commands.
func touches(u *tool.Use) bool {
	a, ok := tool.As[tool.Accesser](u.Call)
	return !ok || len(a.Access()) > 0 || u.Tool.Traits().Shell
}
