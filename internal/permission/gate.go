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
	"adze/internal/platform/bell"
	"adze/internal/platform/scope"
	"adze/internal/platform/texts"
	"adze/internal/tool"
)

// A GateConfig is what a gate works with. The functions that answer questions and keep updates are set
// later: see [Gate.SetAsk], [Gate.SetHooks] and [Gate.SetSave].
type GateConfig struct {
	Config
	// MayBypass says that the session was started with the consent to ask nothing.
	MayBypass bool
	// NoAuto says that the settings rule out the mode [Auto].
	NoAuto bool
	// DefaultMode is the mode of the user's settings.
	DefaultMode Mode
	// Lead has the limits of the conversation in another process that this one works for; nil if it works for none.
	Lead *Limits

	Say func(string) // told what the user should know
	// Language returns the language that the model is told things in; nil means English.
	Language func() texts.Language
}

// A Gate lets calls pass or not, and changes its state with what the user decides. It is safe for
// concurrent use.
type Gate struct {
	*State
	denials tally.Denials
	say     func(string)

	mu sync.Mutex
	// These may be nil.
	asker  Asker
	hooker Hooker
	judge  Judge
	save   func(ctx context.Context, u Update) error
	// advised are the kinds of refusal that the model has got advice about in this turn; true is for those that forbid
	// other ways. It is nil until the first turn begins, and remains so where other programs call the tools.
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

// Before adds its verdict to u. It may take as long as the user takes to answer.
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

// foresee returns why a call would fail, or nil. Its files are looked at only if they may be read unasked.
func foresee(p *Policy, u *tool.Use, f *Facts) error {
	fs, ok := tool.As[tool.Foreseer](u.Call)
	if !ok {
		return nil
	}
	look := !slices.ContainsFunc(f.Targets, func(t Target) bool {
		t.Write = false
		return pathCheck{p, f}.read(&t).behavior != Allow
	})
	return fs.Foresee(look)
}

// jails reports whether a command that is allowed stays in its jail: it is allowed for no other reason than
// that it only reads, or the user allowed it to read what it names.
func (p *Policy) jails(f *Facts, d *Decision) bool {
	switch d.Reason.Type {
	case ByReadOnly:
		return p.cfg.Mode != Bypass && p.rules.Allow.Whole(f.Names, p.counts) == nil
	case ByUser, ByJudge:
		return f.Command != nil && f.Command.Jailed && f.Command.Script.Simple
	}
	return false
}

// factsOf adds what hooks said to the facts of a use.
func factsOf(p *Policy, u *tool.Use) Facts {
	f := FactsOf(p, u.Tool, u.Call)
	f.HookAllow = u.Verdict.HookAllow
	if u.Verdict.Decision == tool.Ask {
		f.HookAsk = fmt.Sprintf("%s wants it to be asked about: %s", u.Verdict.By, u.Verdict.Reason)
	}
	return f
}

// record writes the decision into the verdict and counts it.
func (g *Gate) record(u *tool.Use, d Decision) {
	v := &u.Verdict
	v.By, v.Reason = "", trimDot(d.Reason.Text)
	if d.Behavior == Allow {
		v.Decision, v.By = tool.Allow, d.Reason.String()
		g.denials.Allowed(u.Name)
		return
	}
	v.Decision = tool.Deny
	if d.Reason.Type == ByUser {
		v.By, v.Rejected, v.Reason = d.by, true, d.Reason.Text
	} else {
		v.Advice = g.advice(&d, v.Remedy)
	}
	if g.denials.Denied(u.Name, u.Input, v.Reason) {
		v.Context = append(v.Context, msg.Reminder(reminder.Text(g.language(), reminder.Insisting, u.Name)))
	}
}

// settle finds an answer to an ask: what was refused just now, the hooks, the judge, and then the user or a host.
func (g *Gate) settle(ctx context.Context, p *Policy, u *tool.Use, f *Facts, d Decision) (Decision, error) {
	if reason, ok := g.denials.Repeated(u.Name, u.Input); ok {
		d.Behavior, d.Reason = Deny, Reason{Type: ByOther, Text: repeatedly(reason)}
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
			d.doubt(&q, note)
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
		d.unanswered(&q)
		if d.note != "" { // the flag that would allow the call is no reason
			g.say(fmt.Sprintf("a call of %s was not judged: %s", u.Name, d.note))
		}
		if why := g.blocked.Tripped(); why != "" && p.cfg.classifies() {
			u.Verdict.Stop, u.Verdict.Tripped = why+", "+unattended, true
		}
		return d, nil
	case err != nil:
		d.Behavior, d.Reason.Text = Deny, fmt.Sprintf("%s, and the question could not be asked: %v", d.why(), err)
		return d, nil
	}
	return g.accept(ctx, p, u, d, reply{a, hooked})
}

// repeatedly says that a call was refused just now, for the given reason, which may be empty.
func repeatedly(reason string) string {
	text := "the identical call was refused a moment ago"
	if reason != "" {
		text += ": " + reason
	}
	return text
}

// A reply is an answer, of a hook, the user or a host.
type reply struct {
	Answer
	hook bool
}

// Ask puts a question to the user or a host: that of an agent that works for the conversation of g.
func (g *Gate) Ask(ctx context.Context, q Question) (Answer, error) { return g.ask(ctx, q) }

// ask puts the question to the user or a host.
func (g *Gate) ask(ctx context.Context, q Question) (Answer, error) {
	g.mu.Lock()
	ask := g.asker
	g.mu.Unlock()
	if ask == nil {
		return Answer{}, errNoAsker
	}
	return ask(ctx, q)
}

// errDecided is why a question is taken back that the user answered elsewhere.
const errDecided tool.Withdrawn = "a rule or the permission mode now decides this call"

// put puts the question that p left open to the user or a host. If they answer it elsewhere, by a rule that they add or a mode that they
// choose, it is taken back and decided by that; unless a hook wants it to be asked.
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

// hooks lets the PermissionRequest hooks answer. A hook never says yes where the user is needed.
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

// accept carries a reply out.
func (g *Gate) accept(ctx context.Context, p *Policy, u *tool.Use, d Decision, r reply) (Decision, error) {
	reason := Reason{Type: ByUser, Text: r.Message}
	if r.hook {
		reason = Reason{Type: ByHook, Text: trimDot(firstOf(r.By, "a hook") + " decided: " + firstOf(r.Message, string(r.Behavior)))}
	}
	if r.Behavior != Allow {
		d.Behavior, d.Reason, d.by = Deny, reason, r.By
		if r.Interrupt {
			u.Verdict.Stop = firstOf(r.By, "the user") + " refused a call and stopped the turn"
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
		g.say(fmt.Sprintf("the permission could not be kept: %v", err))
	}
	if was == Plan && g.Mode() != Plan {
		g.leftPlan()
	}
	// If the answer, or something else meanwhile, changed the policy, it is judged again: a yes never lifts a deny, and
	// a hook's yes to an input of its own never lifts what the user has to see.
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

// denies reports whether the call is refused as such, not for want of someone to ask.
func (d *Decision) denies() bool { return d.Behavior == Deny && d.Reason.Mode != DontAsk }

// rewrite replaces the input by the one of the reply, through the same checks as the model's own.
func rewrite(u *tool.Use, r reply) error {
	if am, ok := tool.As[tool.Amender](u.Call); ok && !r.hook {
		c, err := am.Amend(r.Input)
		if err != nil {
			return fmt.Errorf("%s changed the input of %s into one that cannot be used: %w", firstOf(r.By, "the user"), u.Name, err)
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

// Standing returns the policy in force for what it says of tools as a whole: it does not look at where links lead.
func (g *Gate) Standing() *Policy { return standing(g.State) }

// Apply changes what is allowed: in memory at once, and in the settings where the update says so. What
// cannot be kept there holds for the session.
func (g *Gate) Apply(ctx context.Context, updates []Update) error {
	var errs []error
	for _, u := range updates {
		if err := u.Check(); err != nil {
			errs = append(errs, err)
			continue
		}
		if u.Lasting() {
			err := errors.New("there is no place to keep it")
			if save := g.saver(); save != nil {
				err = save(ctx, u)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("it holds for this session: %w", err))
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

// SetAsk sets the function that puts questions to the user or a host. Without one, calls that would be
// asked about are denied.
func (g *Gate) SetAsk(ask Asker) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asker = ask
}

// Asks reports whether questions can be asked.
func (g *Gate) Asks() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asker != nil
}

// A Hooker asks the PermissionRequest hooks; false means that none had an opinion, or, with the behavior Ask, that
// the user has to answer. An error leaves the question to the user.
type Hooker func(ctx context.Context, u *tool.Use, suggestions []Update) (Answer, bool, error)

// SetHooks sets the function that asks the PermissionRequest hooks; it may be nil.
func (g *Gate) SetHooks(ask Hooker) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hooker = ask
}

// SetSave sets the function that keeps updates in a settings file.
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

func trimDot(s string) string {
	for len(s) > 0 && s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}
