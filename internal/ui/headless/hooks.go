package headless

import (
	"context"
	"encoding/json"

	"adze/internal/hook"
	"adze/internal/msg"
)

// HookStarted implements [hook.Observer]: the stream has a line for every run of a hook that its reader
// wants to know about. It and the next two may be called from any goroutine.
func (f *Front) HookStarted(r hook.Run) { f.hookLine(r, "hook_started", func(*object) {}) }

// HookProgress shows what a hook has printed so far.
func (f *Front) HookProgress(r hook.Run, s hook.Streams) {
	f.hookLine(r, "hook_progress", func(o *object) { appendStreams(o, s) })
}

// HookDone shows how a hook ended.
func (f *Front) HookDone(r hook.Run, rep hook.Report) {
	f.hookLine(r, "hook_response", func(o *object) {
		appendStreams(o, rep.Streams)
		if rep.ExitCode != nil {
			o.int("exit_code", int64(*rep.ExitCode))
		}
		o.str("outcome", rep.Outcome)
		o.int("duration_ms", rep.Duration.Milliseconds())
	})
}

// hookLine writes a line of the stream. The hooks of a session's start are always told.
func (f *Front) hookLine(r hook.Run, subtype string, fill func(*object)) {
	always := r.Event == hook.SessionStart || r.Event == hook.Setup
	if f.cfg.Format != StreamJSON || !always && !f.cfg.Hooks {
		return
	}
	o := system(subtype)
	o.str("hook_id", r.ID)
	o.str("hook_name", r.Name)
	o.str("hook_event", string(r.Event))
	fill(o)
	f.emit(o)
}

func appendStreams(o *object, s hook.Streams) {
	o.str("output", s.Stdout+s.Stderr)
	o.str("stdout", s.Stdout)
	o.str("stderr", s.Stderr)
}

// runHook asks the host to run one of its hooks and waits for what it says.
func (sv *server) runHook(ctx context.Context, id string, input json.RawMessage, useID string) (json.RawMessage, error) {
	request := msg.NewID()
	o := &object{}
	o.str("type", "control_request")
	o.str("request_id", request)
	o.object("request", func(o *object) {
		o.str("subtype", "hook_callback")
		o.str("callback_id", id)
		o.raw("input", input)
		o.strIf("tool_use_id", useID)
	})
	answer, forget, err := sv.pending.call(request)
	if err != nil {
		return nil, err
	}
	defer forget()
	sv.f.out.write(append(o.bytes(), '\n'))
	select {
	case r := <-answer:
		return r.body, r.err
	case <-ctx.Done():
		o := &object{}
		o.str("type", "control_cancel_request")
		o.str("request_id", request)
		sv.f.out.write(append(o.bytes(), '\n'))
		return nil, context.Cause(ctx)
	}
}
