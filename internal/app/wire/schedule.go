package wire

import (
	"path/filepath"
	"time"

	"adze/internal/app/schedules"
	"adze/internal/desk"
	"adze/internal/desk/jobs"
	"adze/internal/platform/fsys"
	"adze/internal/schedule"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/tools/cron"
)

// scheduleSwitch is the setting that lets prompts be scheduled.
const scheduleSwitch = "schedule.enabled"

// openSchedule returns what runs scheduled prompts in a conversation, or nil if none can be scheduled: the settings say so,
// or the conversation ends with its first turn or is part of another one. Nothing is read before a front end attends.
func openSchedule(c *Conversation) *schedules.Runner {
	v := c.ws.values()
	if !v.Loop.Schedule.Enabled || v.Simple || c.spec.Entry == Print || c.spec.Calls != FromModel || c.spec.Worker != nil {
		return nil
	}
	cfg := schedule.Config{Now: c.ws.Now, MaxAge: func() time.Duration { return c.ws.values().Loop.Schedule.MaxAge }}
	if home := c.ws.Project.Home; home != "" {
		cfg.File, cfg.Locks = JobsFile(home, c.ws.Dir), filepath.Join(home, "locks")
	}
	return schedules.New(schedules.Config{
		Table: schedule.New(cfg), Now: c.ws.Now, Language: c.ws.language,
		Session: func() *session.Session { return c.Session },
	})
}

// offerSchedule gives the desk access to scheduled prompts, and lets the variable that turns them off count like the setting.
func offerSchedule(c *Conversation, s *desk.Surroundings) {
	if c.told.jobs != nil {
		s.Schedule = c.told.jobs
	}
	s.Sections = append(s.Sections, jobs.Sections()...)
	enabled := s.Enabled
	s.Enabled = func(setting string) bool {
		return enabled(setting) && (setting != scheduleSwitch || c.ws.values().Loop.Schedule.Enabled)
	}
}

// scheduleTools returns the tools for scheduled prompts, none if the model cannot schedule any.
func scheduleTools(c *Conversation) []tool.Tool {
	if c.told.jobs == nil || !c.ws.values().Loop.Schedule.Tools {
		return nil
	}
	return cron.Tools(c.told.jobs)
}

// JobsFile returns the file that keeps the durable jobs of a directory.
func JobsFile(home, dir string) string {
	return filepath.Join(home, "schedules", fsys.HashedKey(dir)+".json")
}
