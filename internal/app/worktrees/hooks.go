package worktrees

import (
	"context"
	"errors"
	"strings"

	"adze/internal/hook"
)

// Hooks are those of a conversation.
type Hooks interface {
	Has(hook.Name) bool
	Fire(context.Context, hook.Event) hook.Outcome
}

// Make returns what has hooks make a worktree. If there is one for that, git makes none: a hook that fails is an error.
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

// Removing returns what tells hooks of a worktree that is about to be removed.
func Removing(h Hooks) func(ctx context.Context, path string) error {
	return func(ctx context.Context, path string) error {
		h.Fire(ctx, hook.OnWorktreeRemove(path))
		return ctx.Err()
	}
}
