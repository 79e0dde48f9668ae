package schedule

import (
	"adze/internal/commands"
	"adze/internal/commands/schedule"
	"adze/internal/feature"
	"adze/internal/settings"
	"adze/internal/tools/cron"
)

const (
	enabledKey  = "schedule.enabled"  // setting that enables scheduled prompts
	disabledKey = "ADZE_DISABLE_CRON" // environment variable that overrides it
)

// Part returns a conversation's scheduled prompts. r is nil if nothing is scheduled in it; the
// commands then report that.
func Part(r *Runner, p *settings.Project) feature.Part {
	part := feature.Part{Name: "schedule", Commands: schedule.Sections(), Offer: func(to *commands.Env) {
		if r != nil {
			to.Schedule = r
		}
		enabled := to.Enabled
		to.Enabled = func(setting string) bool {
			return enabled(setting) && (setting != enabledKey || p.Values().Loop.Schedule.Enabled)
		}
		to.Disabled = func(setting string) string {
			if v := p.Settings(); setting == enabledKey && v.Bool(enabledKey) && v.Bool(disabledKey) {
				return v.Origin(disabledKey)
			}
			return ""
		}
	}}
	if r == nil {
		return part
	}
	part.PromptHook, part.Close = r.PromptHook, r.Close
	if p.Values().Loop.Schedule.Tools {
		part.Tools = cron.Tools(r)
	}
	return part
}
