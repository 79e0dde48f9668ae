package wire

import (
	"path/filepath"
	"slices"
	"time"

	"adze/internal/commands"
	"adze/internal/commands/schedule"
	cronpkg "adze/internal/domain/cron"
	schedulepkg "adze/internal/feature/schedule"
	"adze/internal/platform/fs/fsys"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/tools/bash"
	"adze/internal/tools/cron"
	"adze/internal/tools/monitor"
)

// scheduleSwitch is the setting that enables scheduled prompts.
const scheduleSwitch = "schedule.enabled"

// scheduleOff is the environment variable that disables scheduled prompts.
const scheduleOff = "ADZE_DISABLE_CRON"

// openSchedule returns the conversation's runner for scheduled prompts. It is nil if the
// settings disable scheduling, or if the conversation is a sub-agent or ends after its first
// turn. Nothing is read until a front end attaches.
func openSchedule(c *Conversation) *schedulepkg.Runner {
	v := c.ws.values()
	if !v.Loop.Schedule.Enabled || v.Size.Reduced() || c.spec.Entry == Print || c.spec.Calls != FromModel || c.spec.Worker != nil {
		return nil
	}
	cfg := cronpkg.Config{Now: c.ws.Now, MaxAge: func() time.Duration { return c.ws.values().Loop.Schedule.MaxAge }}
	if home := c.ws.Project.Home; home != "" {
		cfg.File, cfg.Locks = JobsFile(home, c.ws.Dir), filepath.Join(home, "locks")
	}
	return schedulepkg.New(schedulepkg.Config{
		Table: cronpkg.New(cfg), Now: c.ws.Now, Language: c.ws.language,
		Session: func() *session.Session { return c.Session },
	})
}

// offerSchedule gives the desk access to scheduled prompts. The environment variable that
// disables them overrides the setting.
func offerSchedule(c *Conversation, s *commands.Env) {
	if c.prompt.jobs != nil {
		s.Schedule = c.prompt.jobs
	}
	s.Sections = append(s.Sections, schedule.Sections()...)
	enabled := s.Enabled
	s.Enabled = func(setting string) bool {
		return enabled(setting) && (setting != scheduleSwitch || c.ws.values().Loop.Schedule.Enabled)
	}
	s.Disabled = func(setting string) string {
		if v := c.ws.Project.Settings(); setting == scheduleSwitch && v.Bool(scheduleSwitch) && v.Bool(scheduleOff) {
			return v.Origin(scheduleOff)
		}
		return ""
	}
}

// scheduleTools returns the scheduling tools, or none if the model cannot schedule prompts.
func scheduleTools(c *Conversation) []tool.Tool {
	if c.prompt.jobs == nil || !c.ws.values().Loop.Schedule.Tools {
		return nil
	}
	return cron.Tools(c.prompt.jobs)
}

// watchTools returns the Monitor tool if the settings enable it. It runs commands through the
// shell tool among others.
func watchTools(c *Conversation, others []tool.Tool) []tool.Tool {
	shell := slices.IndexFunc(others, func(t tool.Tool) bool { return t.Spec().Name == bash.Name })
	if !c.ws.values().Loop.Monitor || c.spec.Calls != FromModel || shell < 0 {
		return nil
	}
	return []tool.Tool{monitor.New(monitor.Config{Shell: others[shell], Tasks: c.shell.Tasks})}
}

// JobsFile returns the path of the file with a directory's durable jobs.
func JobsFile(home, dir string) string {
	return filepath.Join(home, "schedules", fsys.HashedKey(dir)+".json")
}
