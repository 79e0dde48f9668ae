package hook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"adze/internal/platform/scope"
)

// Register adds the hooks of an agent's or a skill's front matter, for as long as that runs: remove
// takes them away again and may be called more than once. With an owner the hooks are for events of
// that sub-agent only, without one for those of the session itself.
func (r *Runner) Register(owner Agent, src Source) (remove func(), problems []Problem) {
	hooks, problems := r.load(src)
	for _, h := range hooks {
		h.owner, h.scoped = owner, true
		if owner != (Agent{}) && h.event == Stop {
			h.event = SubagentStop // what a sub-agent does instead
		}
	}
	return r.add(hooks...), problems
}

// Function adds a hook that is part of the program. Owner and remove are as in [Runner.Register]. It
// panics on a matcher that cannot be read.
func (r *Runner) Function(owner Agent, on Name, matcher string, f Func) (remove func()) {
	m, err := newMatcher(matcher)
	if err != nil {
		panic("hook.Function: " + err.Error())
	}
	src := &Source{Name: "adze"}
	s := &spec{event: on, matcher: m, source: src, typ: TypeFunction, function: f, owner: owner, scoped: true}
	return r.add(&hook{spec: s, idle: r.idle(s)})
}

func (r *Runner) add(hooks ...*hook) (remove func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scoped = slices.Concat(r.scoped, hooks)
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.scoped = slices.DeleteFunc(slices.Clone(r.scoped), func(h *hook) bool { return slices.Contains(hooks, h) })
	})
}

// SetHost replaces the hooks of the host that drives the session. Data maps events to lists of
// {"matcher", "hookCallbackIds", "timeout"}; f runs them.
func (r *Runner) SetHost(data json.RawMessage, f Callback) []Problem {
	p := &parser{src: &Source{Name: "the host", Scope: scope.Host}}
	if !absent(data) {
		p.host(data)
	}
	hooks := make([]*hook, len(p.specs))
	for i, s := range p.specs {
		hooks[i] = &hook{spec: s, idle: r.idle(s)}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.host, r.callback = hooks, f
	return p.problems
}

func (p *parser) host(data json.RawMessage) {
	events, _ := p.object("", data)
	for _, name := range slices.Sorted(maps.Keys(events)) {
		k, ok := kindOf(Name(name))
		if !ok {
			p.unknownEvent(name)
			continue
		}
		for i, group := range p.list(name, events[name]) {
			p.callbacks(k, fmt.Sprintf("%s[%d]", name, i), group)
		}
	}
}

func (p *parser) callbacks(k kind, path string, group json.RawMessage) {
	fields, ok := p.object(path, group)
	if !ok {
		return
	}
	m := p.matcher(k, path+".matcher", fields["matcher"])
	timeout := p.timeout(path+".timeout", fields["timeout"])
	var ids []string
	if err := json.Unmarshal(fields["hookCallbackIds"], &ids); err != nil {
		p.report(path+".hookCallbackIds", "expected a list of texts, found %s; it is left out", glimpse(fields["hookCallbackIds"]))
	}
	for _, id := range ids {
		p.specs = append(p.specs, &spec{
			event: k.name, matcher: m, source: p.src, path: path, typ: TypeCallback, callback: id, timeout: timeout,
		})
	}
}
