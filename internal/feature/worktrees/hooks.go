package worktrees

import (
	"context"
	"errors"
	"strings"

	"adze/internal/hook"
)

// Hooks is a conversation's hooks.
type Hooks interface {
	Has(hook.Name) bool
	Fire(context.Context, hook.Event) hook.Outcome
}

// Make returns a function that creates a worktree with hooks. If a WorktreeCreate hook exists,
// git is not used, and a failing hook is an error.
func Make(h Hooks) func(ctx context.Context, name string) (string, error) {
	return func(ctx context.Context, name string) (string, error) {
		if !h.Has(hook.WorktreeCreate) {
			return "", nil
		}
		out := h.Fire(ctx, hook.OnWorktreeCreate(name))
		if out.Worktree == "" {
			why := strings.Join(out.Messages, "; ")
			if why == "" {
				why = "it did not print a path"
			}
			return "", errors.New(why)
		}
		return out.Worktree, nil
	}
}

// Removing returns a function that notifies hooks before a worktree is removed.
func Removing(h Hooks) func(ctx context.Context, path string) error {
	return func(ctx context.Context, path string) error {
		h.Fire(ctx, hook.OnWorktreeRemove(path))
		return ctx.Err()
	}
}
