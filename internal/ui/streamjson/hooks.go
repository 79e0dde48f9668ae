package streamjson

import "adze/internal/hook"

// HookStarted implements [hook.Observer], as do the next two methods. They may be called from
// any goroutine.
func (p *Printer) HookStarted(r hook.Run) { p.hookLine(r, "hook_started", func(*Object) {}) }

// HookProgress prints a hook's output so far.
func (p *Printer) HookProgress(r hook.Run, s hook.Streams) {
	p.hookLine(r, "hook_progress", func(o *Object) { appendStreams(o, s) })
}

// HookDone prints how a hook ended.
func (p *Printer) HookDone(r hook.Run, rep hook.Report) {
	p.hookLine(r, "hook_response", func(o *Object) {
		appendStreams(o, rep.Streams)
		if rep.ExitCode != nil {
			o.Int("exit_code", int64(*rep.ExitCode))
		}
		o.Str("outcome", rep.Outcome)
		o.Int("duration_ms", rep.Duration.Milliseconds())
	})
}

// hookLine prints a line about a run. Session start hooks are always printed.
func (p *Printer) hookLine(r hook.Run, subtype string, fill func(*Object)) {
	always := r.Event == hook.SessionStart || r.Event == hook.Setup
	if !always && !p.cfg.Hooks {
		return
	}
	o := System(subtype)
	o.Str("hook_id", r.ID)
	o.Str("hook_name", r.Name)
	o.Str("hook_event", string(r.Event))
	fill(o)
	p.emit(o)
}

func appendStreams(o *Object, s hook.Streams) {
	o.Str("output", s.Stdout+s.Stderr)
	o.Str("stdout", s.Stdout)
	o.Str("stderr", s.Stderr)
}
