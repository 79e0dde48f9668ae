// Package lifecycle connects hooks to a session: it fires the events of the session's life
// (start, end, prompts, stops, failures, compactions, denials) and applies their outcomes to
// the session.
package lifecycle

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/agent"
	"adze/internal/hook"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/proc/envfile"
	"adze/internal/session"
	"adze/internal/tool"
)

// Config configures the hooks of a session.
type Config struct {
	// Runner configures the hooks. [New] sets its fields EnvFile, Deliver, Wake, Notify and
	// Observer.
	Runner hook.Config
	// Source is the source passed to SessionStart hooks: "startup", "resume" or "fork".
	Source string
	// Exit is the reason passed to SessionEnd hooks: "prompt_input_exit" or "other".
	Exit string
	// ModelID returns the ID of the model with the given name.
	ModelID func(name string) string
	// EnvFile is the file where hooks write variables for commands; it may be nil. It is
	// removed with the session.
	EnvFile *envfile.File
	// Agent is the type of the sub-agent that the hooks belong to, or empty for a session.
	// Transcript returns the path of its transcript.
	Agent      string
	Transcript func() string
	// Unattended is non-nil if the session ends with its turn, so that background hooks have no
	// later turn to report to. It is done when the user interrupts the program.
	Unattended context.Context
	// Pace waits until the next poll of watched files, and returns false if ctx is done first.
	// Nil disables watching.
	Pace func(ctx context.Context) bool
	// Say shows a message to the user.
	Say func(string)
}

// Session is the part of a [*session.Session] that hooks use.
type Session interface {
	Submit(ctx context.Context, op session.Op) error
	Model() string
}

// Hooks runs the hooks of a session. The embedded runner is a [tool.Gate] and a [tool.After];
// Hooks itself is an [agent.StopHook], PromptHook a [session.PromptHook], and Answer a
// [permission.HookFunc].
//
// After [New], call [Hooks.Attach] before the first prompt, and [Hooks.Close] at the end.
type Hooks struct {
	*hook.Runner
	cfg     Config
	session atomic.Pointer[Session]
	relay   relay

	begin sync.Once
	began atomic.Bool
	files watch

	mu       sync.Mutex
	stopping bool     // a stop is waiting for background hooks
	woken    []string // messages from background hooks
}

// New returns the hooks of a session and reports configuration errors to the user.
func New(c Config) *Hooks {
	h := &Hooks{cfg: c}
	r := c.Runner
	r.EnvFile = c.EnvFile.Path()
	r.Deliver = func(text string) { h.Notify(session.Notify{Text: text}) }
	r.Wake = h.wake
	r.Notify = c.Say
	r.Observer = &h.relay
	runner, problems := hook.New(r)
	h.Runner = runner
	h.say(problems)
	return h
}

// Attach sets the session that the hooks belong to.
func (h *Hooks) Attach(s Session) { h.session.Store(&s) }

// Show sets the observer of hook runs, replacing an earlier one.
func (h *Hooks) Show(o hook.Observer) { h.relay.to.Store(&o) }

// Notify submits n to the session. It does nothing before Attach.
func (h *Hooks) Notify(n session.Notify) {
	if s := h.session.Load(); s != nil {
		(*s).Submit(context.Background(), n) // ok: a closed session needs no notifications
	}
}

// wake handles the message of a background hook that wakes the session.
func (h *Hooks) wake(text string) {
	h.mu.Lock()
	stopping := h.stopping
	if stopping {
		h.woken = append(h.woken, text)
	}
	h.mu.Unlock()
	if !stopping {
		h.Notify(session.Notify{Text: text, Wake: true})
	}
}

// patience is how long to wait for background hooks before notifying the user.
const patience = 3 * time.Second

// settle waits for background hooks that may wake the session and returns their messages. It
// waits only in a session that ends with its turn.
func (h *Hooks) settle(ctx context.Context) string {
	if h.cfg.Unattended == nil {
		return ""
	}
	h.mu.Lock()
	h.stopping = true
	h.mu.Unlock()
	slow := time.AfterFunc(patience, func() {
		for _, name := range h.Running() {
			h.cfg.Say("waiting for " + name + " in the background")
		}
	})
	h.Settle(ctx, true)
	slow.Stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	said := strings.Join(h.woken, "\n")
	h.stopping, h.woken = false, nil
	return said
}

// Reload replaces the hooks from the settings and reports configuration errors to the user.
func (h *Hooks) Reload(sources []hook.Source) {
	h.say(h.Runner.Reload(sources))
	if h.began.Load() {
		h.watch(nil)
	}
}

func (h *Hooks) say(problems []hook.Problem) {
	for _, p := range problems {
		h.cfg.Say(p.Error())
	}
}

// PromptHook fires the event of a prompt, and before the first prompt the SessionStart event.
func (h *Hooks) PromptHook(ctx context.Context, p session.Prompt) session.HookResult {
	var hearing session.HookResult
	if h.cfg.Agent != "" {
		h.begin.Do(func() { hearing.Context = h.Fire(ctx, hook.OnSubagentStart(h.cfg.Agent)).Context })
		return hearing
	}
	h.begin.Do(func() { hearing.Context = h.start(ctx, h.cfg.Source) })
	out := h.Fire(ctx, hook.OnUserPromptSubmit(msg.PlainText(p.Parts)))
	switch {
	case out.Stop != "":
		hearing.Blocked = out.Stop
	case out.Blocked:
		hearing.Blocked = fmt.Sprintf("%s blocked the prompt: %s", out.By, out.Reason)
	}
	hearing.Context = append(hearing.Context, out.Context...)
	return hearing
}

// start fires SessionStart and returns the context that hooks add to the conversation.
func (h *Hooks) start(ctx context.Context, source string) []msg.Part {
	h.began.Store(true)
	if h.Has(hook.SessionStart) || h.Has(hook.CwdChanged) || h.Has(hook.FileChanged) {
		h.cfg.EnvFile.Prepare()
	}
	out := h.Fire(ctx, hook.OnSessionStart(source, h.cfg.ModelID((*h.session.Load()).Model())))
	h.watch(out.Watch)
	if out.InitialMessage == "" {
		return out.Context
	}
	return append(out.Context, &msg.Text{Text: out.InitialMessage})
}

// Stop implements [agent.StopHook]: it asks the hooks whether the model may stop.
func (h *Hooks) Stop(ctx context.Context, c agent.StopInput) (agent.StopResult, error) {
	e := hook.OnStop(c.Active, msg.PlainText(c.Last.Parts))
	if h.cfg.Agent != "" {
		e = hook.OnSubagentStop(h.cfg.Agent, c.Active, msg.PlainText(c.Last.Parts), h.cfg.Transcript())
	}
	out := h.Fire(ctx, e)
	v := agent.StopResult{Hook: out.By, Prevent: out.Stop}
	if out.Blocked {
		v.Block = out.Reason
	}
	if said := h.settle(ctx); said != "" {
		v.Hook = cmp.Or(v.Hook, "in the background")
		v.Block = strings.TrimPrefix(v.Block+"\n"+said, "\n")
	}
	return v, nil
}

// Ended fires an event if a provider error ended the turn. Other outcomes have no event.
func (h *Hooks) Ended(ctx context.Context, e agent.Ended) {
	if e.Reason != agent.ModelError || e.Err == nil {
		return
	}
	h.Fire(ctx, hook.OnStopFailure(model.KindOf(e.Err).String(), e.Err.Error()))
}

// Close fires SessionEnd if the session has started, stops running hooks and removes the
// environment file.
func (h *Hooks) Close() {
	h.files.stop()
	if h.began.Load() {
		h.Fire(context.Background(), hook.OnSessionEnd(h.cfg.Exit))
	}
	if h.cfg.Unattended != nil {
		ctx, cancel := context.WithTimeout(h.cfg.Unattended, hook.AsyncTimeout)
		h.Settle(ctx, false)
		cancel()
	}
	for _, name := range h.Running() {
		h.cfg.Say(name + " was still running in the background and was ended")
	}
	h.Runner.Close()
	h.cfg.EnvFile.Remove()
}

// Answer lets the hooks decide about a call before adze asks the user; it is a
// [permission.HookFunc]. It reports whether they decided.
func (h *Hooks) Answer(ctx context.Context, u *tool.Use, updates []permission.Update) (permission.Answer, bool, error) {
	suggestions, err := json.Marshal(updates)
	if err != nil {
		return permission.Answer{}, false, err
	}
	a := h.PermissionRequest(ctx, u, suggestions)
	answer := permission.Answer{By: a.By, Message: a.Message, Interrupt: a.Interrupt, Input: a.UpdatedInput}
	switch a.Decision {
	case tool.Allow:
		answer.Behavior = permission.Allow
	case tool.Deny:
		answer.Behavior = permission.Deny
	case tool.Ask: // a hook failed
		return permission.Answer{Behavior: permission.Ask}, false, nil
	default:
		return permission.Answer{}, false, nil
	}
	if a.UpdatedPermissions != nil {
		if err := json.Unmarshal(a.UpdatedPermissions, &answer.Updates); err != nil {
			return permission.Answer{}, false, fmt.Errorf("%s: updatedPermissions: %w", a.By, err)
		}
	}
	return answer, true, nil
}

// Announced wraps ask to fire a Notification event when the user has to answer.
func (h *Hooks) Announced(ask permission.Asker) permission.Asker {
	return func(ctx context.Context, q permission.Question) (permission.Answer, error) {
		// External notifiers may be slow, so this does not wait; they end with the hooks.
		go h.Fire(context.WithoutCancel(ctx), hook.OnNotification("permission_prompt", "Permission", "adze needs your permission to use "+q.Tool))
		return ask(ctx, q)
	}
}

// Denials wraps g to fire hooks for the calls it denies.
func (h *Hooks) Denials(g tool.Gate) tool.Gate { return denials{g, h.Runner} }

type denials struct {
	tool.Gate
	hooks *hook.Runner
}

// Before implements [tool.Gate].
func (d denials) Before(ctx context.Context, u *tool.Use) error {
	err := d.Gate.Before(ctx, u)
	if err == nil && u.Verdict.Decision == tool.Deny {
		d.hooks.PermissionDenied(ctx, u)
	}
	return err
}

// A relay forwards hook runs to an observer that may change.
type relay struct{ to atomic.Pointer[hook.Observer] }

// HookStarted implements [hook.Observer], as do the next two.
func (r *relay) HookStarted(run hook.Run) { r.tell(func(o hook.Observer) { o.HookStarted(run) }) }

// HookProgress implements [hook.Observer].
func (r *relay) HookProgress(run hook.Run, s hook.Streams) {
	r.tell(func(o hook.Observer) { o.HookProgress(run, s) })
}

// HookDone implements [hook.Observer].
func (r *relay) HookDone(run hook.Run, rep hook.Report) {
	r.tell(func(o hook.Observer) { o.HookDone(run, rep) })
}

func (r *relay) tell(f func(hook.Observer)) {
	if o := r.to.Load(); o != nil {
		f(*o)
	}
}
