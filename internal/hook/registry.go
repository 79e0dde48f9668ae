package hook

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/platform/fs/scope"
)

// A registry holds the hooks from settings and the host, and finds the ones to run for an
// event.
type registry struct {
	policy   Policy
	approved func(src Source, event, matcher string, handler json.RawMessage) bool // may be nil

	late func(Problem) // called with problems found after a reload

	muted atomic.Bool // see Mute

	mu       sync.Mutex
	settings []*group
	turn     []*hook // hooks of the running skills
	host     []*hook
	callback Callback
	lead     *registry // see Under; nil for a session
	check    bool      // see Check
}

// Mute disables or enables all hooks, except the administrator's and a host's, which the user
// cannot disable.
func (r *registry) Mute(on bool) { r.muted.Store(on) }

// Under makes the hooks a sub-agent's: the lead's hooks that can deny a call apply to it, it
// has its lead's host hooks, now and later, and hooks the user disables there are disabled
// here.
func (r *registry) Under(lead *Runner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lead = &lead.registry
}

// Check makes r the registry of an agent that works for a hook of lead. Only the lead's hooks
// that can deny a call run, except agent hooks, which would recurse.
func (r *registry) Check(lead *Runner) {
	r.Under(lead)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.check = true
}

// hosted returns the host's hooks and the callback that runs them.
func (r *registry) hosted() ([]*hook, Callback) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lead != nil {
		return r.lead.hosted()
	}
	return r.host, r.callback
}

// mute reports whether the user has disabled hooks.
func (r *registry) mute() bool {
	r.mu.Lock()
	lead := r.lead
	r.mu.Unlock()
	return r.muted.Load() || lead != nil && lead.mute()
}

// silent reports whether a hook is disabled because the user disabled hooks.
func (r *registry) silent(h *hook) bool {
	return r.mute() && h.source.Scope != scope.Managed && h.source.Scope != scope.Host
}

// A hook is a definition with its run state.
type hook struct {
	*spec
	// idle is the reason it never runs, or empty.
	idle string

	mu    sync.Mutex
	spent bool // a run-once hook that has run
	last  *Report
	wakes []time.Time
}

func (h *hook) isSpent() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.spent
}

// Reload replaces the hooks of the sources passed to [New]. Until it is called, changes to
// their files have no effect. Problems in plugin hooks are reported when they are needed.
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

// SetTurn replaces the hooks that last for a turn. Hooks of unchanged sources keep their state.
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
// {"matcher", "hookCallbackIds", "timeout"}; f runs them. If any hook is unusable, it returns
// an error and keeps the previous ones. Notes lists entries without effect.
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

// rankOf orders managed hooks first; the others keep their order.
func rankOf(g *group) int {
	if g.source.Scope == scope.Managed {
		return 0
	}
	return 1
}

// made returns the hooks for definitions.
func (r *registry) made(specs []*spec) []*hook {
	hooks := make([]*hook, len(specs))
	for i, s := range specs {
		hooks[i] = &hook{spec: s, idle: r.idle(s)}
	}
	return hooks
}

// idle returns the reason a hook never runs, or "".
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

// matching returns the hooks that run for an event, in configuration order and without
// duplicates.
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

// distinct removes duplicate hooks: the last one counts, but a managed hook is never replaced.
func distinct(hooks []*hook) []*hook {
	keep := make(map[string]*hook)
	for _, h := range hooks {
		if old := keep[h.key()]; old == nil || old.source.Scope != scope.Managed {
			keep[h.key()] = h
		}
	}
	return slices.DeleteFunc(hooks, func(h *hook) bool { return h.key() != "" && keep[h.key()] != h })
}

// Has reports whether any hook could run for events of a kind.
func (r *registry) Has(n Name) bool {
	return slices.ContainsFunc(r.hooksOf(n), func(h *hook) bool { return h.event == n && h.idle == "" && !r.silent(h) })
}
