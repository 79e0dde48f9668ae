// Package lifecycle connects hooks to a session: it fires the events of the session's life (its start and
// end, prompts, stops, failures, compactions, denials) and turns their outcomes into what the session
// understands. How hooks run, and what an outcome says, is left to hook; where hooks are defined, to the
// caller.
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
	"adze/internal/platform/envfile"
	"adze/internal/session"
	"adze/internal/tool"
)

// A Config is what the hooks of a session are made of.
type Config struct {
	// Runner says which hooks there are and how they run. Its fields EnvFile, Deliver, Wake, Notify and
	// Observer are set by [New].
	Runner hook.Config
	// Source is what SessionStart hooks are told about how the session came about: "startup", "resume" or
	// "fork".
	Source string
	// Exit is what SessionEnd hooks are told about why it ends: "prompt_input_exit" or "other".
	Exit string
	// ModelID returns the id of the model with the given name.
	ModelID func(name string) string
	// EnvFile is where hooks write variables for commands; it may be nil. It is removed with the session.
	EnvFile *envfile.File
	// Agent is the type of the sub-agent whose hooks they are; empty for those of a session. Transcript is where its
	// conversation is.
	Agent      string
	Transcript func() string
	// Unattended is not nil if the session ends with its turn, so that nothing could hear hooks in the background later. It is
	// done when the user interrupts the program.
	Unattended context.Context
	// Pace waits until the files that hooks watch are looked at again, and reports false if ctx was done before. Nil means that
	// none is watched.
	Pace func(ctx context.Context) bool
	// Say tells the user something.
	Say func(string)
}

// A Session is what hooks need of a [*session.Session].
type Session interface {
	Submit(ctx context.Context, op session.Op) error
	Model() string
}

// Hooks are the hooks of one session. The embedded runner is a [tool.Gate] and a [tool.After]; Hooks is
// itself an [agent.Stopper], Hear a [session.Hearer], Answer a [permission.Hooker].
//
// After [New] comes [Hooks.Attach], before the first prompt, and [Hooks.Close] in the end.
type Hooks struct {
	*hook.Runner
	cfg     Config
	session atomic.Pointer[Session]
	relay   relay

	begin sync.Once
	began atomic.Bool
	files watch

	mu       sync.Mutex
	stopping bool     // a stop waits for hooks in the background
	woken    []string // their messages
}

// New returns the hooks of a session. It tells the user what is wrong with them.
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

// Attach says which session the hooks belong to.
func (h *Hooks) Attach(s Session) { h.session.Store(&s) }

// Show tells o of the runs to come, in place of an earlier observer.
func (h *Hooks) Show(o hook.Observer) { h.relay.to.Store(&o) }

// Notify submits n to the session. Before there is one it does nothing.
func (h *Hooks) Notify(n session.Notify) {
	if s := h.session.Load(); s != nil {
		(*s).Submit(context.Background(), n) // ok: a closed session needs no news
	}
}

// wake passes on the message of a background hook that wakes the session.
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

// patience is the wait for background hooks before adze notifies the user.
const patience = 3 * time.Second

// settle waits for hooks that may wake the session and returns their messages. Only a session that ends with its turn waits.
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

// Reload replaces the hooks of the settings, and tells the user what is wrong with them.
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

// Hear fires the event of a prompt, and before the first one that of the session's start.
func (h *Hooks) Hear(ctx context.Context, p session.Prompt) session.Hearing {
	var hearing session.Hearing
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

// start fires the event of a session's start and returns what hooks add to the conversation.
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

// Stop implements [agent.Stopper]: it asks the hooks whether the model may stop.
func (h *Hooks) Stop(ctx context.Context, c agent.StopCheck) (agent.StopVerdict, error) {
	e := hook.OnStop(c.Active, msg.PlainText(c.Last.Parts))
	if h.cfg.Agent != "" {
		e = hook.OnSubagentStop(h.cfg.Agent, c.Active, msg.PlainText(c.Last.Parts), h.cfg.Transcript())
	}
	out := h.Fire(ctx, e)
	v := agent.StopVerdict{Hook: out.By, Prevent: out.Stop}
	if out.Blocked {
		v.Block = out.Reason
	}
	if said := h.settle(ctx); said != "" {
		v.Hook = cmp.Or(v.Hook, "in the background")
		v.Block = strings.TrimPrefix(v.Block+"\n"+said, "\n")
	}
	return v, nil
}

// Ended fires the event of a turn that an error of the provider ended. Other ends have none.
func (h *Hooks) Ended(ctx context.Context, e agent.Ended) {
	if e.Reason != agent.ModelError || e.Err == nil {
		return
	}
	h.Fire(ctx, hook.OnStopFailure(model.KindOf(e.Err).String(), e.Err.Error()))
}

// Close fires the event of the session's end, if it has begun, ends the hooks that still run and removes
// the environment file.
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

// Answer lets the hooks answer a question about a call before the user is asked; it is a
// [permission.Hooker]. It reports whether they have an answer.
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
	case tool.Ask: // a hook broke
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

// Announced returns ask as one that tells the hooks that the user is waited for.
func (h *Hooks) Announced(ask permission.Asker) permission.Asker {
	return func(ctx context.Context, q permission.Question) (permission.Answer, error) {
		// Those who tell the user elsewhere take as long as they take; they end with the hooks.
		go h.Fire(context.WithoutCancel(ctx), hook.OnNotification("permission_prompt", "Permission", "adze needs your permission to use "+q.Tool))
		return ask(ctx, q)
	}
}

// Denials returns g as a gate that tells the hooks what it denies.
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

// A relay passes news of runs on to an observer that may change.
type relay struct{ to atomic.Pointer[hook.Observer] }

// HookStarted implements [hook.Observer], as do the next two.
func (r *relay) HookStarted(run hook.Run) { r.tell(func(o hook.Observer) { o.HookStarted(run) }) }

// HookProgress passes the news on.
func (r *relay) HookProgress(run hook.Run, s hook.Streams) {
	r.tell(func(o hook.Observer) { o.HookProgress(run, s) })
}

// HookDone passes the news on.
func (r *relay) HookDone(run hook.Run, rep hook.Report) {
	r.tell(func(o hook.Observer) { o.HookDone(run, rep) })
}

func (r *relay) tell(f func(hook.Observer)) {
	if o := r.to.Load(); o != nil {
		f(*o)
	}
}
