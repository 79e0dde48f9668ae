package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"adze/internal/agent"
	"adze/internal/hook"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/config"
	"adze/internal/platform/scope"
	"adze/internal/platform/trust"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/headless"
)

// hooking is the hooks of a session with what they are connected to.
type hooking struct {
	*hook.Runner
	b *builder

	begin   sync.Once
	began   atomic.Bool
	session atomic.Pointer[session.Session]
	shown   atomic.Pointer[hook.Observer]
}

// openHooks makes the hooks of the settings and puts them where the session asks for them.
func (b *builder) openHooks(cfg *session.Config) {
	h := &hooking{b: b}
	c := hook.Config{
		Sources:           hookSources(b.settings),
		Common:            h.common,
		Dir:               b.env.Dir,
		ProjectDir:        b.prefs.workspace.Root,
		Environ:           func() []string { return environ(b.settings) },
		Policy:            b.hookPolicy(),
		Approved:          b.approvedHook,
		SessionEndTimeout: milliseconds(b.settings, "ADZE_SESSIONEND_HOOKS_TIMEOUT_MS"),
		Deliver:           func(text string) { h.notify(session.Notify{Text: text}) },
		Wake:              func(text string) { h.notify(session.Notify{Text: text, Wake: true}) },
		Notify:            b.env.say,
		Observer:          h,
		Log:               cfg.Debug,
	}
	if b.log != nil {
		c.Results = b.log
	}
	c.EnvFile = b.vars.path
	var problems []hook.Problem
	h.Runner, problems = hook.New(c)
	for _, p := range problems {
		b.env.say(p.Error())
	}
	b.hooks = h
	b.closers = append(b.closers, h.close)
	b.gate.SetHooks(h.permissionRequest)
	cfg.Stops = append(cfg.Stops, stopHooks{h})
	cfg.Listeners.Ended = h.ended
}

// hookSources returns where the settings define hooks, the least important first. What an untrusted
// workspace says is not among them.
func hookSources(s *config.Settings) []hook.Source {
	var sources []hook.Source
	for _, p := range s.Parts("hooks") {
		sources = append(sources, hook.Source{
			Name: p.Scope.String(), Scope: p.Scope, File: p.File, JSON: p.JSON, Workspace: p.Scope == scope.Project, Trusted: true,
		})
	}
	return sources
}

func (b *builder) hookPolicy() hook.Policy {
	s := b.settings
	p := hook.Policy{
		Disable:     s.Bool("disableAllHooks") || b.o.bare,
		ManagedOnly: s.Bool("allowManagedHooksOnly"),
		InHook:      s.Bool("ADZE_IN_HOOK"),
	}
	from, set := s.ScopeOf("disableAllHooks")
	p.DisableManaged = s.Bool("disableAllHooks") && set && from == scope.Managed
	if s.Origin("allowedHttpHookUrls") != "" {
		p.AllowedURLs = append([]string{}, s.Strings("allowedHttpHookUrls")...)
	}
	return p
}

// approvedHook reports whether a hook of the workspace is what the person saw when they trusted it.
func (b *builder) approvedHook(_ hook.Source, event, matcher string, handler json.RawMessage) bool {
	return b.prefs.workspace.Approved(scope.Project, trust.Hook(event, matcher, handler))
}

func (h *hooking) common() hook.Common {
	c := hook.Common{Session: h.b.id, Dir: h.b.dir.here(), Mode: h.b.gate.Mode()}
	if h.b.log != nil {
		c.Transcript = h.b.log.Path()
	}
	return c
}

// attach tells the hooks which session they belong to.
func (h *hooking) attach(s *session.Session) { h.session.Store(s) }

// show tells an observer of the runs to come.
func (h *hooking) show(o hook.Observer) { h.shown.Store(&o) }

func (h *hooking) notify(n session.Notify) {
	if s := h.session.Load(); s != nil {
		s.Submit(context.Background(), n) // ok: a session that is closed needs no news
	}
}

// reload takes over the hooks of settings that changed.
func (h *hooking) reload(s *config.Settings) {
	for _, p := range h.Reload(hookSources(s)) {
		h.b.env.say(p.Error())
	}
}

// heard fires the events of a prompt, and before the first one that of the session's start.
func (h *hooking) heard(ctx context.Context, p session.Prompt) session.Hearing {
	var hearing session.Hearing
	h.begin.Do(func() { hearing.Context = h.start(ctx, h.source()) })
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

// source says how the session came about.
func (h *hooking) source() string {
	switch {
	case h.b.o.fork:
		return "fork"
	case h.b.earlier != nil:
		return "resume"
	}
	return "startup"
}

// start fires the event of a session's start and returns what it adds to the conversation.
func (h *hooking) start(ctx context.Context, source string) []msg.Part {
	h.began.Store(true)
	if h.Has(hook.SessionStart) {
		h.b.vars.make()
	}
	m, _ := h.b.resolve(h.session.Load().Model()) // ok: the session has it already
	out := h.Fire(ctx, hook.OnSessionStart(source, m.ID))
	if out.InitialMessage == "" {
		return out.Context
	}
	return append(out.Context, &msg.Text{Text: out.InitialMessage})
}

// ended fires the event of a turn that an error of the provider ended.
func (h *hooking) ended(ctx context.Context, e agent.Ended) {
	if e.Reason != agent.ModelError || e.Err == nil {
		return
	}
	kind := "unknown"
	if failed := (*model.Error)(nil); errors.As(e.Err, &failed) {
		kind = failed.Kind.String()
	}
	h.Fire(ctx, hook.OnStopFailure(kind, e.Err.Error()))
}

// close fires the event of the session's end and ends what still runs.
func (h *hooking) close() {
	if h.began.Load() {
		reason := "other"
		if interactive(h.b.env, h.b.o) {
			reason = "prompt_input_exit"
		}
		h.Fire(context.Background(), hook.OnSessionEnd(reason))
	}
	h.Runner.Close()
	h.b.vars.remove()
}

// permissionRequest lets the hooks answer a question about a call before a person is asked. False means
// that they have no answer.
func (h *hooking) permissionRequest(ctx context.Context, u *tool.Use, updates []permission.Update) (permission.Answer, bool, error) {
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
	default:
		return permission.Answer{}, false, nil // also when a hook broke: then a person must answer
	}
	if a.UpdatedPermissions != nil {
		if err := json.Unmarshal(a.UpdatedPermissions, &answer.Updates); err != nil {
			return permission.Answer{}, false, fmt.Errorf("%s: updatedPermissions: %w", a.By, err)
		}
	}
	return answer, true, nil
}

// host takes over the hooks of the program that drives the session.
func (h *hooking) host(start headless.Start) error {
	if len(start.Hooks) == 0 {
		return nil
	}
	hooks, err := json.Marshal(start.Hooks)
	if err != nil {
		return err
	}
	if problems := h.SetHost(hooks, start.RunHook); len(problems) > 0 {
		return &headless.Refusal{Code: "invalid_hooks", Text: problems[0].Error()}
	}
	return nil
}

// listing describes the hooks to the program that drives the session.
func (h *hooking) listing() object {
	var hooks []object
	managed := 0
	for _, l := range h.List() {
		o := object{
			"event": l.Event, "matcher": l.Matcher, "if": l.If, "type": l.Type, "label": l.Label,
			"source": l.Source, "file": l.File, "idle": l.Idle, "slow": l.Slow,
		}
		if l.Last != nil {
			o["lastOutcome"], o["lastDurationMs"] = l.Last.Outcome, l.Last.Duration.Milliseconds()
		}
		if l.Source == scope.Managed.String() {
			managed++
		}
		hooks = append(hooks, o)
	}
	p := h.b.hookPolicy()
	return object{
		"events": hook.Names(), "hooks": append([]object{}, hooks...), "eventCatalog": []object{},
		"policy": object{
			"disabledByPolicy": p.DisableManaged, "managedOnly": p.ManagedOnly, "pluginOnly": false,
			"allDisabled": p.Disable, "policyHookCount": managed,
		},
	}
}

// HookStarted implements [hook.Observer], as do the next two.
func (h *hooking) HookStarted(r hook.Run) { h.observe(func(o hook.Observer) { o.HookStarted(r) }) }

// HookProgress passes the news on.
func (h *hooking) HookProgress(r hook.Run, s hook.Streams) {
	h.observe(func(o hook.Observer) { o.HookProgress(r, s) })
}

// HookDone passes the news on.
func (h *hooking) HookDone(r hook.Run, rep hook.Report) {
	h.observe(func(o hook.Observer) { o.HookDone(r, rep) })
}

func (h *hooking) observe(f func(hook.Observer)) {
	if o := h.shown.Load(); o != nil {
		f(*o)
	}
}

// deniedHooks tells the hooks what a gate denies.
type deniedHooks struct {
	tool.Gate
	h *hooking
}

// Before implements [tool.Gate].
func (d deniedHooks) Before(ctx context.Context, u *tool.Use) error {
	err := d.Gate.Before(ctx, u)
	if err == nil && u.Verdict.Decision == tool.Deny {
		d.h.PermissionDenied(ctx, u)
	}
	return err
}

// stopHooks asks the hooks whether the model may stop.
type stopHooks struct{ h *hooking }

// Stop implements [agent.Stopper].
func (s stopHooks) Stop(ctx context.Context, c agent.StopCheck) (agent.StopVerdict, error) {
	out := s.h.Fire(ctx, hook.OnStop(c.Active, msg.PlainText(c.Last.Parts)))
	v := agent.StopVerdict{Hook: out.By, Prevent: out.Stop}
	if out.Blocked {
		v.Block = out.Reason
	}
	return v, nil
}
