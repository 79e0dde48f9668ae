package permission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"adze/internal/msg"
	"adze/internal/permission/reminder"
	"adze/internal/permission/tally"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/proc/bell"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

// GateConfig configures a Gate. The functions that answer questions and save updates are set
// later: see [Gate.SetAsk], [Gate.SetHooks] and [Gate.SetSave].
type GateConfig struct {
	Config
	// MayBypass means that the user consented to bypass mode when starting the session.
	MayBypass bool
	// NoAuto means that the settings disable [Auto] mode.
	NoAuto bool
	// DefaultMode is the mode in the user's settings.
	DefaultMode Mode
	// Lead holds the limits of the lead in another process; nil means none.
	Lead *Limits

	Say func(string) // called with messages for the user
	// Language returns the language of texts for the model; nil means English.
	Language func() texts.Language
}

// A Gate allows or denies calls, and updates its state with the user's decisions. It is safe
// for concurrent use.
type Gate struct {
	*State
	denials tally.Denials
	say     func(string)

	mu sync.Mutex
	// These may be nil.
	asker  Asker
	hooker HookFunc
	judge  Judge
	save   func(ctx context.Context, u Update) error
	// advised records the kinds of refusal the model has had advice about in this turn; the key
	// true is for refusals that forbid workarounds. It is nil until the first turn begins, and
	// stays nil if other programs call the tools.
	advised map[bool]bool
}

// NewGate returns the gate of c.
func NewGate(c GateConfig) *Gate {
	if c.Say == nil {
		c.Say = func(string) {}
	}
	g := &Gate{State: newState(c), say: c.Say}
	g.State.alone = func() bool { return !g.Asks() }
	return g
}

// Before adds its verdict to u. It may block until the user answers.
func (g *Gate) Before(ctx context.Context, u *tool.Use) error {
	if u.Tool == nil || u.Call == nil {
		return errors.New("a use reached the permission check before it was bound")
	}
	p := g.Policy()
	f := factsOf(p, u)
	d := Decide(p, f)
	if d.Behavior == Ask {
		if u.Verdict.Failure = foresee(p, u, &f); u.Verdict.Failure != nil {
			u.Verdict.Decision = tool.Undecided
			return nil
		}
		var err error
		if d, err = g.settle(ctx, p, u, &f, d); err != nil {
			return err
		}
	}
	g.record(u, d)
	if own := tool.CommandOf(u.Call); own != nil && own.Free != nil && d.Behavior == Allow && !p.jails(&f, &d) {
		own.Free()
	}
	return nil
}

// foresee returns the reason a call would fail, or nil. It reads the call's files only if they
// may be read without asking.
func foresee(p *Policy, u *tool.Use, f *Facts) error {
	fs, ok := tool.As[tool.FailurePredictor](u.Call)
	if !ok {
		return nil
	}
	look := !slices.ContainsFunc(f.Targets, func(t Target) bool {
		t.Write = false
		return pathCheck{p, f}.read(&t).behavior != Allow
	})
	return fs.Foresee(look)
}

// jails reports whether an allowed command stays in its jail: it is allowed only because it is
// read-only, or the user or the judge allowed it to read the files it names.
func (p *Policy) jails(f *Facts, d *Decision) bool {
	switch d.Reason.Type() {
	case ByReadOnly:
		return p.cfg.Mode != Bypass && p.rules.Allow.Whole(f.Names, p.counts) == nil
	case ByUser, ByJudge:
		return f.Command != nil && f.Command.Jailed && f.Command.Script.Simple
	}
	return false
}

// factsOf returns the facts about a use, including hook results.
func factsOf(p *Policy, u *tool.Use) Facts {
	f := FactsOf(p, u.Tool, u.Call)
	f.HookAllow = u.Verdict.HookAllow
	if u.Verdict.Decision == tool.Ask {
		f.HookAsk = fmt.Sprintf("%s requires confirmation: %s", u.Verdict.By, u.Verdict.Reason)
	}
	return f
}

// record writes the decision into the verdict and counts it.
func (g *Gate) record(u *tool.Use, d Decision) {
	v := &u.Verdict
	v.By, v.Reason = "", d.refusal()
	if d.Behavior == Allow {
		v.Decision, v.By = tool.Allow, d.Reason.Source()
		g.denials.Allowed(u.Name)
		return
	}
	v.Decision = tool.Deny
	if d.Reason.Type() == ByUser {
		v.By, v.Rejected, v.Reason = d.by, true, d.Reason.Text
	} else {
		v.Advice = g.advice(&d, v.Remedy)
	}
	if g.denials.Denied(u.Name, u.Input, v.Reason) {
		v.Context = append(v.Context, msg.Reminder(reminder.Text(g.language(), reminder.Insisting, u.Name)))
	}
}

// settle resolves an ask: by a recent refusal, the hooks, the judge, and then the user or a
// host.
func (g *Gate) settle(ctx context.Context, p *Policy, u *tool.Use, f *Facts, d Decision) (Decision, error) {
	if reason, ok := g.denials.Repeated(u.Name, u.Input); ok {
		d.Behavior, d.Reason = Deny, repeated(reason)
		return d, nil
	}
	q := question(ctx, p, u, f, &d)
	a, hooked := g.hooks(ctx, u, q)
	var err error
	if !hooked {
		if a.Behavior != Ask {
			judged, decided, note := g.judged(ctx, p, u, &q, d)
			if ctx.Err() != nil {
				return d, context.Cause(ctx)
			}
			if decided {
				return judged, nil
			}
			d.Reason.Note, q.Reason.Note = note, note
		}
		var answered *Decision
		if a, answered, err = g.put(ctx, p, u, q, a.Behavior == Ask); answered != nil {
			return *answered, nil
		}
		if err == nil && a.By == Headless {
			err = errNoAsker
		}
	}
	if ctx.Err() != nil {
		return d, context.Cause(ctx)
	}
	switch {
	case errors.Is(err, errNoAsker):
		u.Verdict.Remedy = allowFlags(p, u, &q)
		d.Behavior, d.unasked = Deny, true
		if d.Reason.Note != "" { // the flag that would allow the call is not a reason
			g.say(fmt.Sprintf("%s call not judged: %s", u.Name, d.Reason.Note))
		}
		if why := g.blocked.Tripped(); why != "" && p.cfg.classifies() {
			u.Verdict.Stop, u.Verdict.Tripped = why+"; "+unattended, true
		}
		return d, nil
	case err != nil:
		d.Behavior, d.askError = Deny, err
		return d, nil
	}
	return g.accept(ctx, p, u, d, reply{a, hooked})
}

// repeated returns the reason for denying a call that was just denied. The earlier reason may
// be empty.
func repeated(earlier string) Reason {
	if earlier != "" {
		earlier = ": " + earlier
	}
	return Reason{Kind: Repeated, Text: earlier}
}

// A reply is an answer from a hook, the user or a host.
type reply struct {
	Answer
	hook bool
}

// Ask asks the user or a host the question of an agent that works for g's conversation.
func (g *Gate) Ask(ctx context.Context, q Question) (Answer, error) { return g.ask(ctx, q) }

// ask asks the user or a host.
func (g *Gate) ask(ctx context.Context, q Question) (Answer, error) {
	g.mu.Lock()
	ask := g.asker
	g.mu.Unlock()
	if ask == nil {
		return Answer{}, errNoAsker
	}
	return ask(ctx, q)
}

// errDecided is the reason for withdrawing a question that the user settled elsewhere.
const errDecided tool.Withdrawal = "a rule or the permission mode now decides this call"

// put asks the user or a host the question that p left open. If they settle it elsewhere, by
// adding a rule or changing the mode, the question is withdrawn and decided by that, unless a
// hook requires the prompt.
func (g *Gate) put(ctx context.Context, p *Policy, u *tool.Use, q Question, hooked bool) (Answer, *Decision, error) {
	if hooked {
		a, err := g.ask(ctx, q)
		return a, nil, err
	}
	ctx, withdraw := context.WithCancelCause(ctx)
	defer withdraw(nil)
	var a Answer
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		a, err = g.ask(ctx, q)
	}()
	for {
		changed := bell.Any(ctx, bells(g.State)...)
		if now := g.Policy(); now != p && ctx.Err() == nil {
			p = now
			if d := Decide(p, factsOf(p, u)); d.Behavior != Ask {
				withdraw(errDecided)
				if <-done; err == nil { // the answer came first
					return a, nil, nil
				}
				return Answer{}, &d, nil
			}
		}
		select {
		case <-done:
			return a, nil, err
		case <-changed:
		}
	}
}

// hooks lets the PermissionRequest hooks answer. A hook cannot allow a call that needs the
// user.
func (g *Gate) hooks(ctx context.Context, u *tool.Use, q Question) (Answer, bool) {
	g.mu.Lock()
	ask := g.hooker
	g.mu.Unlock()
	if ask == nil {
		return Answer{}, false
	}
	a, ok, err := ask(ctx, u, q.Suggestions)
	if err != nil {
		g.say(fmt.Sprintf("a PermissionRequest hook failed: %v", err))
		return Answer{Behavior: Ask}, false
	}
	return a, ok && !(a.Behavior == Allow && q.NeedsPerson)
}

// accept applies a reply.
func (g *Gate) accept(ctx context.Context, p *Policy, u *tool.Use, d Decision, r reply) (Decision, error) {
	reason := Reason{Kind: UserDecides, Text: r.Message}
	if r.hook {
		reason = Reason{Kind: HookDecides, What: firstOf(r.By, "a hook"), Text: firstOf(r.Message, string(r.Behavior))}
	}
	if r.Behavior != Allow {
		d.Behavior, d.Reason, d.by = Deny, reason, r.By
		if r.Interrupt {
			u.Verdict.Stop = firstOf(r.By, "the user") + " denied a call and stopped the turn"
		}
		return d, nil
	}
	if !r.hook {
		g.blocked.Allowed()
		reason.Text = firstOf(r.By, "the user") + " allowed it"
	}
	if r.Interrupt && !r.hook {
		u.Verdict.Stop = firstOf(r.By, "the user") + " allowed a call and stopped the turn after it"
	}
	if r.Input != nil {
		if err := rewrite(u, r); err != nil {
			return d, err
		}
	}
	was := g.Mode()
	if err := g.Apply(ctx, r.Updates); err != nil {
		g.say(fmt.Sprintf("saving the permission failed: %v", err))
	}
	if was == Plan && g.Mode() != Plan {
		g.leftPlan()
	}
	// If the answer changed the input, or the policy has changed, judge again: a yes never
	// overrides a deny, and a hook's yes to its own input never overrides a hazard the user
	// must confirm.
	if now := g.Policy(); r.Input != nil || now != p {
		again := Decide(now, factsOf(now, u))
		if again.denies() || again.Firm && r.hook && r.Input != nil {
			again.Behavior = Deny
			return again, nil
		}
	}
	d.Behavior, d.Reason = Allow, reason
	return d, nil
}

// denies reports whether the call itself is refused, rather than for lack of someone to ask.
func (d *Decision) denies() bool { return d.Behavior == Deny && d.Reason.Mode != DontAsk }

// rewrite replaces the input with the reply's, after the same checks as the model's own.
func rewrite(u *tool.Use, r reply) error {
	if am, ok := tool.As[tool.Amender](u.Call); ok && !r.hook {
		c, err := am.Amend(r.Input)
		if err != nil {
			return fmt.Errorf("%s changed the input of %s to an invalid one: %w", firstOf(r.By, "the user"), u.Name, err)
		}
		u.Input, u.Call = r.Input, c
		return nil
	}
	return u.Rewrite(firstOf(r.By, "the user"), r.Input)
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Standing returns the current policy for questions about whole tools: it does not resolve
// symlinks.
func (g *Gate) Standing() *Policy { return standing(g.State) }

// Apply updates the permissions: immediately in memory, and in the settings if the update's
// destination requires it. An update that cannot be saved applies to the session.
func (g *Gate) Apply(ctx context.Context, updates []Update) error {
	var errs []error
	for _, u := range updates {
		if err := u.Check(); err != nil {
			errs = append(errs, err)
			continue
		}
		if u.Lasting() {
			err := errors.New("no settings file to save it to")
			if save := g.saver(); save != nil {
				err = save(ctx, u)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("it applies to this session only: %w", err))
				u.Destination = scope.Session
			}
		}
		if u.Type == SetMode {
			if err := g.move(u.Mode); err != nil {
				errs = append(errs, err)
			}
			continue
		}
		apply := func(c Config) Config { return c.apply(u) }
		g.change(apply)
		for s := g.lead; s != nil && u.Lasting(); s = s.lead {
			s.change(apply)
		}
	}
	return errors.Join(errs...)
}

// SetAsk sets the function that asks the user or a host. Without it, calls that need a prompt
// are denied.
func (g *Gate) SetAsk(ask Asker) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asker = ask
}

// Asks reports whether there is a function to ask questions.
func (g *Gate) Asks() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asker != nil
}

// A HookFunc runs the PermissionRequest hooks. False means that none had an opinion, or, with the
// behavior Ask, that the user has to answer. After an error, the gate asks the user.
type HookFunc func(ctx context.Context, u *tool.Use, suggestions []Update) (Answer, bool, error)

// SetHooks sets the function that runs the PermissionRequest hooks; it may be nil.
func (g *Gate) SetHooks(ask HookFunc) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hooker = ask
}

// SetSave sets the function that saves updates to a settings file.
func (g *Gate) SetSave(save func(ctx context.Context, u Update) error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.save = save
}

func (g *Gate) saver() func(ctx context.Context, u Update) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.save
}
