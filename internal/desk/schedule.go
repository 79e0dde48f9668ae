package desk

import (
	"context"

	"adze/internal/schedule"
	"adze/internal/session"
)

// A Schedule holds the jobs of a session and the durable ones of its project.
type Schedule interface {
	Add(ctx context.Context, d schedule.Draft) (schedule.Job, error)
	Remove(ctx context.Context, id string) (schedule.Job, error)
	List(ctx context.Context) ([]schedule.Job, error)
	// Attend lets prompts be submitted when they are due, from now on; prompt makes them of what is scheduled. Nil stops
	// that.
	Attend(prompt func(ctx context.Context, text string) (session.Prompt, error))
}
