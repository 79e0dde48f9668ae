package wire

import (
	"path/filepath"
	"time"

	"adze/internal/domain/cron"
	"adze/internal/feature/schedule"
	"adze/internal/platform/fs/fsys"
)

// newSchedule returns the conversation's runner for scheduled prompts. It is nil if the
// settings disable scheduling, or if the conversation ends after its first turn, like a sub-agent's.
// Nothing is read until a front end attaches.
func (c *Conversation) newSchedule() *schedule.Runner {
	v := c.ws.values()
	if !v.Loop.Schedule.Enabled || v.Size.Reduced() || c.spec.Entry == Print || c.spec.Calls != FromModel {
		return nil
	}
	cfg := cron.Config{Now: c.ws.Now, MaxAge: func() time.Duration { return c.ws.values().Loop.Schedule.MaxAge }}
	if home := c.ws.Project.Home; home != "" {
		cfg.File, cfg.Locks = JobsFile(home, c.ws.Dir), filepath.Join(home, "locks")
	}
	return schedule.New(schedule.Config{
		Table: cron.New(cfg), Now: c.ws.Now, Language: c.ws.language,
		Session: c.session,
	})
}

// JobsFile returns the path of the file with a directory's durable jobs.
func JobsFile(home, dir string) string {
	return filepath.Join(home, "schedules", fsys.HashedKey(dir)+".json")
}
