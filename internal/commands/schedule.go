package commands

import (
	"context"

	"adze/internal/domain/cron"
	"adze/internal/session"
)

// A Schedule holds a session's jobs and its project's durable ones.
type Schedule interface {
	Add(ctx context.Context, d cron.Draft) (cron.Job, error)
	Remove(ctx context.Context, id string) (cron.Job, error)
	List(ctx context.Context) ([]cron.Job, error)
	// Attend enables submitting prompts when they are due; prompt converts a scheduled text to
	// a prompt. Nil disables it.
	Attend(prompt func(ctx context.Context, text string) (session.Prompt, error))
}
