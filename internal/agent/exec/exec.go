// Package exec executes a single tool use: it looks up the tool, validates the input, runs the
// gates, runs the tool and bounds the result. It is the only place where tools run.
package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"adze/internal/msg"
	"adze/internal/tool"
)

// An Executor runs tool uses. Its fields are set once; it is safe for concurrent use.
type Executor struct {
	// Gates judge a use, in order, and may rewrite it. The first denial is final, and a use
	// that no gate allows is denied.
	Gates []Gate
	// Denied, if non-nil, is called for each use that the gates denied.
	Denied func(*tool.Use)
	// Afters process each result before it is bounded, in order.
	Afters []After
	// Listed, if non-nil, reports whether a tool was listed to the model. A call of a listed
	// tool that is unavailable is reported as such, not as the model's mistake.
	Listed func(name string) bool
	// Results stores output that is too long to send. If nil, such output is truncated.
	Results Results
	// Log is the debug log. It may be nil.
	Log *slog.Logger

	entered func(Stage) // called as each stage begins; set only by tests
}

// A Gate is a [tool.Gate] with a name, used in errors and as its stage.
type Gate struct {
	Name string
	tool.Gate
}

// An After is a [tool.After] with a name for the debug log.
type After struct {
	Name  string
	After tool.After
}

// Results stores the full output of calls.
type Results interface {
	// SaveResult stores the contents of r and returns the path. Saving the same call again
	// keeps the first file.
	SaveResult(callID, ext string, r io.Reader) (path string, n int64, err error)
}

// A Stage is one step in the processing of a use.
type Stage string

// The stages, in order. Between Observe and Run, each gate is a separate stage with its own
// name. The first denial ends the sequence; the result is always bounded.
const (
	Find      Stage = "find"
	Check     Stage = "check"
	Validate  Stage = "validate"
	Observe   Stage = "observe"
	Run       Stage = "call"
	PostHooks Stage = "post_hooks"
	Bound     Stage = "bound"
	Append    Stage = "append"
)

// An Outcome is the result of a use. Every use gets exactly one.
type Outcome struct {
	Result     *msg.ToolResult
	Display    tool.Display
	Structured json.RawMessage
	Code       int
	// Context is sent to the model after the results of the message.
	Context []msg.Part
	// Stop, if not empty, ends the turn after this message with this reason. Tripped is copied
	// from [tool.Verdict].
	Stop    string
	Tripped bool
	// Denied is true if the gates denied the use, Rejected if the user, or a decider in the
	// user's place, did. By names the decider; if Rejected is true and By is empty, it was the
	// user.
	Denied   bool
	Rejected bool
	By       string
	// Refusal is the user-facing reason for the denial, with its source. It is empty if the
	// call was not denied.
	Refusal string
	// Remedy is the flag that would allow a denied call, or empty.
	Remedy string
	// Fatal ends the run.
	Fatal   error
	Elapsed time.Duration
}

// A Pending is a use that has been bound. It is not safe for concurrent use.
type Pending struct {
	use     tool.Use
	raw     *msg.ToolUse // use as the model wrote it
	seen    *msg.ToolUse // use as shown to others
	traits  tool.Traits
	facts   tool.Facts
	refusal *Outcome
	// deferred is true if the model may not know the tool's schema.
	deferred bool
	kept     string // file with the full result, if it was too long to show
}

// Bind looks up the tool and validates the input. It has no side effects.
func (e *Executor) Bind(pool *tool.Pool, use *msg.ToolUse) *Pending {
	p := &Pending{raw: use, seen: use, use: tool.Use{ToolUse: *use}}
	if err := e.bind(pool, p); err != nil {
		p.refuse(errorOutcome(use, err))
	}
	return p
}

func (e *Executor) bind(pool *tool.Pool, p *Pending) error {
	e.enter(Find)
	if err := e.protect(Find, &p.use.ToolUse, func() error { return p.find(pool, e.Listed) }); err != nil {
		return err
	}
	e.enter(Check)
	if p.raw.Malformed != "" {
		return malformed(p.raw, p.use.Tool)
	}
	err := e.protect(Validate, &p.use.ToolUse, p.bind)
	if unfit := (*tool.InputError)(nil); errors.As(err, &unfit) {
		return err
	}
	e.enter(Validate)
	if err == nil {
		e.enter(Observe)
	}
	return err
}

// find resolves the use to its target tool, which applies from here on.
func (p *Pending) find(pool *tool.Pool, listed func(name string) bool) error {
	if err := pool.Disabled(pool.Canonical(p.raw.Name)); err != nil {
		if pool.Instead(p.raw.Name) != "" {
			return unknownTool(pool, p.raw.Name)
		}
		return fmt.Errorf("%w; it can no longer be called, so continue without it", err)
	}
	to, err := pool.Target(p.raw)
	if err != nil {
		return err
	}
	p.use.Name, p.use.Input = to.Name, to.Input
	if to.By != nil {
		p.seen = &msg.ToolUse{ID: p.raw.ID, Name: to.Name, Input: to.Input}
		if err := pool.Disabled(to.Name); err != nil {
			return fmt.Errorf("%w; continue without it", err)
		}
	}
	if to.Tool == nil && listed != nil && listed(to.Name) {
		return fmt.Errorf("tool %s is listed because this conversation began with it, but it is not available now; continue without it", to.Name)
	}
	if to.Tool == nil {
		return unknownTool(pool, to.Name)
	}
	if _, forwards := to.Tool.(tool.Forwarder); forwards && to.By != nil {
		return fmt.Errorf("%s cannot run itself: name the tool that is to be run", to.Name)
	}
	if to.By != nil && !pool.IsDeferred(to.Name) {
		return fmt.Errorf("%s is among the tools that you have: call it directly, without %s", to.Name, to.By.Spec().Name)
	}
	p.use.Tool, p.traits, p.deferred = to.Tool, to.Tool.Traits(), pool.IsDeferred(to.Name)
	return nil
}

func (p *Pending) bind() error {
	c, err := p.use.Tool.Bind(p.use.Input)
	if unfit := (*tool.InputError)(nil); p.deferred && errors.As(err, &unfit) {
		return &tool.InputError{Err: fmt.Errorf("%w\nThe input schema of %s is: %s", err, p.use.Name, p.use.Tool.Spec().Schema)}
	}
	if err != nil {
		return err
	}
	p.use.Call, p.facts = c, tool.FactsOf(c)
	return nil
}

// Use returns the use as shown to users and hosts: with the target tool's name and the model's
// input.
func (p *Pending) Use() *msg.ToolUse { return p.seen }

// Refused returns the outcome of a use that will not run, or nil.
func (p *Pending) Refused() *Outcome { return p.refusal }

// Concurrent reports whether the call may run concurrently with others.
func (p *Pending) Concurrent() bool { return p.refusal == nil && p.facts.Concurrent }

// ReadOnly reports whether the call changes nothing.
func (p *Pending) ReadOnly() bool { return p.refusal == nil && p.facts.ReadOnly }

// Traits returns the tool's traits; the zero value for an unknown tool.
func (p *Pending) Traits() tool.Traits { return p.traits }

// Title returns a one-line title for the call.
func (p *Pending) Title() string {
	if p.use.Call == nil {
		return tool.OneLine(p.use.Name, 80)
	}
	return tool.TitleOf(p.use.Name, p.use.Call)
}

// Activity returns a short description of the running call, for a spinner.
func (p *Pending) Activity() string {
	if p.use.Call == nil {
		return tool.OneLine(p.use.Name, 80)
	}
	return tool.ActivityOf(p.use.Name, p.use.Call)
}

// Past describes the completed call in the past tense.
func (p *Pending) Past() (verb, object string) {
	if p.use.Call == nil {
		return "", tool.OneLine(p.use.Name, 80)
	}
	return tool.PastOf(p.use.Name, p.use.Call)
}

// Fold returns how front ends may collapse the call.
func (p *Pending) Fold() tool.Fold {
	if p.use.Call == nil {
		return tool.NoFold
	}
	return tool.FoldOf(p.use.Call)
}

func (p *Pending) refuse(o Outcome) { p.refusal = &o }

// Admit passes p through the gates and reports whether it may run. It may block until the user
// answers.
func (e *Executor) Admit(ctx context.Context, p *Pending) bool {
	if p.refusal != nil {
		return false
	}
	for _, g := range e.Gates {
		if !e.gate(ctx, p, g) {
			return false
		}
	}
	if p.use.Verdict.Decision != tool.Allow {
		e.deny(p)
		return false
	}
	return true
}

// gate lets g judge p and reports whether to continue with the next gate.
func (e *Executor) gate(ctx context.Context, p *Pending, g Gate) bool {
	stage := Stage(g.Name)
	e.enter(stage)
	err := e.protect(stage, &p.use.ToolUse, func() error { return g.Before(ctx, &p.use) })
	switch {
	case ctx.Err() != nil:
		p.refuse(Unstarted(p.raw, tool.AbortReason(ctx)))
		return false
	case err != nil:
		// A failed check may not have applied the deny rules.
		p.use.Verdict.Decide(tool.Deny, "a check that failed", fmt.Sprintf("The %s check failed: %v.", g.Name, err))
	}
	if p.use.Verdict.Decision == tool.Deny {
		e.deny(p)
		return false
	}
	if err := p.use.Verdict.Failure; err != nil {
		p.refuse(errorOutcome(p.raw, err))
		return false
	}
	p.facts = tool.FactsOf(p.use.Call) // the gate may have rewritten the call
	return true
}

// deny denies p with the gates' verdict.
func (e *Executor) deny(p *Pending) {
	p.refuse(denied(p.raw, p.use))
	if e.Denied != nil {
		e.Denied(&p.use)
	}
}

// Grace is how long a canceled call may take to stop before it is abandoned.
const Grace = 10 * time.Second

// Execute takes a use through all stages, without progress reports.
func (e *Executor) Execute(ctx context.Context, pool *tool.Pool, use *msg.ToolUse) Outcome {
	p := e.Bind(pool, use)
	if !e.Admit(ctx, p) {
		return *p.Refused()
	}
	return e.Run(ctx, p, func(tool.Progress) {})
}

// Run executes an admitted use and bounds its result. It returns at the latest [Grace] after ctx is
// done, even if the tool does not.
func (e *Executor) Run(ctx context.Context, p *Pending, report func(tool.Progress)) Outcome {
	if p.refusal != nil {
		return *p.refusal
	}
	e.enter(Run)
	start := time.Now()
	r, err := e.call(ctx, p, report)
	var o Outcome
	err = e.protect(Bound, &p.use.ToolUse, func() error { o = e.outcome(ctx, p, r, err); return nil })
	if err != nil {
		o = errorOutcome(p.raw, err)
	}
	o.Elapsed = time.Since(start)
	e.enter(Append)
	return o
}

type returnValues struct {
	r   tool.Result
	err error
}

// call runs the tool in a separate goroutine, so that a tool that ignores ctx can be abandoned.
func (e *Executor) call(ctx context.Context, p *Pending, report func(tool.Progress)) (tool.Result, error) {
	if report == nil {
		report = func(tool.Progress) {}
	}
	done := make(chan returnValues, 1)
	go func() {
		var out returnValues
		out.err = e.protect(Run, &p.use.ToolUse, func() (err error) {
			out.r, err = p.use.Call.Run(tool.WithUse(ctx, p.raw.ID), report)
			return err
		})
		done <- out
	}()
	select {
	case out := <-done:
		return out.r, out.err
	case <-ctx.Done():
	}
	t := time.NewTimer(Grace)
	defer t.Stop()
	select {
	case out := <-done:
		return out.r, out.err
	case <-t.C:
		e.logger().Error("tool ignored cancellation and was abandoned", "tool", p.use.Name, "use", p.raw.ID)
		return tool.Result{}, fmt.Errorf("%s did not stop within %s of being cancelled and was abandoned; it may still be running", p.use.Name, Grace)
	}
}

func (e *Executor) outcome(ctx context.Context, p *Pending, r tool.Result, err error) Outcome {
	switch {
	case err == nil:
	case tool.IsFatal(err):
		closeBody(r.Body)
		return errorOutcome(p.raw, err)
	case stopped(ctx, err) && len(r.Parts) == 0 && r.Body == nil:
		return Interrupted(p.raw, tool.AbortReason(ctx))
	case stopped(ctx, err):
		r = failed(r, errors.New(interruption(tool.AbortReason(ctx))))
	default:
		r = failed(r, err)
	}
	e.enter(PostHooks)
	for _, a := range e.Afters {
		changed := r
		if err := e.protect(PostHooks, &p.use.ToolUse, func() error { return a.After.After(ctx, &p.use, &changed) }); err != nil {
			e.logger().Warn("a check of a result failed", "check", a.Name, "tool", p.use.Name, "err", err)
			continue
		}
		r = changed
	}
	e.enter(Bound)
	o := Outcome{
		Result:     &msg.ToolResult{ID: p.raw.ID, IsError: r.IsError},
		Display:    r.Display,
		Structured: e.structured(p, r.Structured),
		Code:       r.Code,
		Context:    slices.Concat(p.use.Verdict.Context, r.Context),
		Stop:       p.use.Verdict.Stop,
		Tripped:    p.use.Verdict.Tripped,
	}
	o.Result.Parts = e.bound(p, r)
	if d, ok := o.Display.(tool.Output); ok && p.kept != "" {
		d.File = p.kept
		o.Display = d
	}
	for _, text := range r.Reminders {
		o.Result.Parts = append(o.Result.Parts, msg.Reminder(text))
	}
	return o
}

// stopped reports whether err only means that ctx is done.
func stopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// structured returns v as JSON, or a JSON error if it cannot be marshaled. It returns nil for
// nil.
func (e *Executor) structured(p *Pending, v any) json.RawMessage {
	if v == nil {
		return nil
	}
	var data []byte
	err := e.protect(Bound, &p.use.ToolUse, func() (err error) { data, err = marshal(v); return err })
	if err != nil {
		e.logger().Warn("structured result cannot be written as JSON", "tool", p.use.Name, "err", err)
		data, _ = json.Marshal(map[string]string{"error": err.Error()}) // ok: a string always marshals
	}
	return data
}

// marshal returns v as JSON. Values with long texts may implement a faster path than
// reflection.
func marshal(v any) ([]byte, error) {
	if a, ok := v.(interface{ AppendJSON([]byte) ([]byte, error) }); ok {
		return a.AppendJSON(nil)
	}
	return json.Marshal(v)
}

// failed converts a call's error into the result for the model.
func failed(r tool.Result, err error) tool.Result {
	r.IsError = true
	var coded *tool.Error
	if errors.As(err, &coded) {
		r.Code = coded.Code
	}
	r.Parts = append(r.Parts[:len(r.Parts):len(r.Parts)], &msg.Text{Text: errorText(err)})
	return r
}

// protect calls f and converts a panic into an error that names the stage.
func (e *Executor) protect(stage Stage, use *msg.ToolUse, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			e.logger().Error("panic", "stage", string(stage), "tool", use.Name, "use", use.ID, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = fmt.Errorf("internal error in %s at stage %q; the debug log has the details. Try another way", tool.OneLine(use.Name, 64), stage)
		}
	}()
	return f()
}

func (e *Executor) enter(s Stage) {
	if e.entered != nil {
		e.entered(s)
	}
}

func (e *Executor) logger() *slog.Logger {
	if e.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return e.Log
}

func unknownTool(pool *tool.Pool, name string) error {
	s := fmt.Sprintf("unknown tool %q.", tool.OneLine(name, 64))
	if advice := pool.Instead(name); advice != "" {
		return errors.New(s + " " + advice)
	}
	if close := pool.Closest(name); len(close) > 0 {
		return errors.New(s + " Did you mean " + strings.Join(close, ", ") + "?")
	}
	if finder := pool.Finder(); finder != "" {
		s += " Look for it with " + finder + "."
	}
	return errors.New(s)
}
