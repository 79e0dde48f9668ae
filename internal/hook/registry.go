package hook

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/platform/scope"
)

// A registry holds the hooks of settings and of the host, and finds those that run for an event.
type registry struct {
	policy   Policy
	approved func(src Source, event, matcher string, handler json.RawMessage) bool // may be nil

	late func(Problem) // is told what is found after a reload

	muted atomic.Bool // see Mute

	mu       sync.Mutex
	settings []*group
	turn     []*hook // of the skills that run
	host     []*hook
	callback Callback
	lead     *registry // see Under; nil for a session
	check    bool      // see Check
}

// Mute keeps all hooks from running, or lets them run again, except those of the administrator and of a host, which are
// not the user's to switch off.
func (r *registry) Mute(on bool) { r.muted.Store(on) }

// Under says that the hooks are those of a sub-agent: the lead's hooks that can deny a call apply to it, the hooks of the host
// are those of its lead, now and later, and what the user switches off there is off here.
func (r *registry) Under(lead *Runner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lead = &lead.registry
}

// Check says that the hooks are those of an agent that works for a hook of lead. Only the lead's hooks that can deny a call
// run, except those that would start such an agent again.
func (r *registry) Check(lead *Runner) {
	r.Under(lead)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.check = true
}

// hosted returns the hooks of the host, and what runs them.
func (r *registry) hosted() ([]*hook, Callback) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lead != nil {
		return r.lead.hosted()
	}
	return r.host, r.callback
}

// mute reports whether the user has switched hooks off.
func (r *registry) mute() bool {
	r.mu.Lock()
	lead := r.lead
	r.mu.Unlock()
	return r.muted.Load() || lead != nil && lead.mute()
}

// silent reports whether the user has switched off a hook with all others.
func (r *registry) silent(h *hook) bool {
	return r.mute() && h.source.Scope != scope.Managed && h.source.Scope != scope.Host
}

// A hook is a definition with what happened to it so far.
type hook struct {
	*spec
	// idle says why it never runs, or is empty.
	idle string

	mu    sync.Mutex
	spent bool // it was to run once, and did
	last  *Report
	wakes []time.Time
}

func (h *hook) isSpent() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.spent
}

// Reload replaces the hooks of the sources that [New] was given. Until it is called, changes to the
// files behind them have no effect. What is wrong with the hooks of plugins is told when they are needed.
func (r *registry) Reload(sources []Source) []Problem {
	groups := make([]*group, len(sources))
	var problems []Problem
	for i, src := range sources {
		groups[i] = &group{source: src}
		if src.Plugin == nil || escapesLetter(src.JSON) {
			problems = append(problems, r.fill(groups[i])...)
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return rankOf(a) - rankOf(b) })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settings = groups
	return problems
}

// SetTurn replaces the hooks that last no longer than a turn. Those of sources that stay are kept with what happened to
// them.
func (r *registry) SetTurn(sources []Source) []Problem {
	var hooks []*hook
	var problems []Problem
	r.mu.Lock()
	old := r.turn
	r.mu.Unlock()
	for _, src := range sources {
		kept := slices.DeleteFunc(slices.Clone(old), func(h *hook) bool { return h.source.Name != src.Name })
		if len(kept) > 0 {
			hooks = append(hooks, kept...)
			continue
		}
		specs, p := parse(&src)
		hooks, problems = append(hooks, r.made(specs)...), append(problems, p...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn = hooks
	return problems
}

// SetHost replaces the hooks of the host that drives the session. Data maps events to lists of
// {"matcher", "hookCallbackIds", "timeout"}; f runs them. Unless all of them can be used, the error says why, and those
// from before stay. Notes are about what has no effect.
func (r *registry) SetHost(data json.RawMessage, f Callback) (notes []Problem, err error) {
	p := &parser{src: &Source{Name: "the host", Scope: scope.Host}}
	if !absent(data) {
		notes = p.host(data)
	}
	if len(p.problems) > 0 {
		return nil, p.problems[0]
	}
	hooks := r.made(p.specs)
	for _, h := range hooks {
		if h.idle != "" {
			return nil, Problem{Source: p.src.Name, Path: string(h.event), Text: "the hooks of the host would never run, because " + h.idle}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.host, r.callback = hooks, f
	return notes, nil
}

// rankOf puts managed hooks first; the others stay in their order.
func rankOf(g *group) int {
	if g.source.Scope == scope.Managed {
		return 0
	}
	return 1
}

// made returns the hooks of definitions.
func (r *registry) made(specs []*spec) []*hook {
	hooks := make([]*hook, len(specs))
	for i, s := range specs {
		hooks[i] = &hook{spec: s, idle: r.idle(s)}
	}
	return hooks
}

// idle returns why a hook never runs, or "".
func (r *registry) idle(s *spec) string {
	p, src := r.policy, s.source
	managed := src.Scope == scope.Managed
	switch {
	case src.Workspace && !src.Trusted:
		return "the workspace is not trusted"
	case src.Workspace && r.approved != nil && !r.approved(*src, string(s.event), s.matcher.text, s.raw):
		return "it is not approved"
	case managed && p.DisableManaged, !managed && p.Disable:
		return "hooks are disabled"
	case !managed && p.Bare && src.Scope != scope.Host:
		return "--bare leaves them out"
	case !managed && p.ManagedOnly && src.Scope != scope.Host:
		return "only managed hooks are allowed"
	case !managed && p.InHook:
		return "adze runs inside a hook"
	}
	return ""
}

// matching returns the hooks that run for an event, in the order of configuration and each once.
func (r *registry) matching(e Event, dir string) []*hook {
	all := r.hooksOf(e.Name)
	names := e.names()
	var chosen []*hook
	for _, h := range all {
		switch {
		case h.event != e.Name || h.idle != "" || r.silent(h) || h.isSpent():
		case !h.matcher.matches(names) || !h.cond.met(e.use, names, dir):
		default:
			chosen = append(chosen, h)
		}
	}
	return distinct(chosen)
}

// distinct leaves out hooks that do what another one does: the last one counts, but a managed hook
// is never replaced.
func distinct(hooks []*hook) []*hook {
	keep := make(map[string]*hook)
	for _, h := range hooks {
		if old := keep[h.key()]; old == nil || old.source.Scope != scope.Managed {
			keep[h.key()] = h
		}
	}
	return slices.DeleteFunc(hooks, func(h *hook) bool { return h.key() != "" && keep[h.key()] != h })
}

// Has reports whether any hook would run for events of a kind, whatever they are about.
func (r *registry) Has(n Name) bool {
	return slices.ContainsFunc(r.hooksOf(n), func(h *hook) bool { return h.event == n && h.idle == "" && !r.silent(h) })
}
