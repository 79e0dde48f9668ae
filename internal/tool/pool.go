package tool

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"adze/internal/msg"
	"adze/internal/platform/spell"
)

// A Registry holds the tools built into the program and assembles the pool of each request.
// It is safe for concurrent use.
type Registry struct {
	// Deferred reports whether a tool can be called without being sent to the model, which then learns of
	// it by other means; [Traits].AlwaysLoad overrules it. May be nil: every tool is sent. It is set before
	// the registry is used.
	Deferred func(Tool) bool

	builtin []Tool // sorted by name
	last    atomic.Pointer[assembly]

	mu       sync.Mutex
	reported map[Problem]bool
}

// An assembly is a pool with what it was made from. It does not change.
type assembly struct {
	pool       *Pool
	candidates []candidate // built-ins, then dynamic tools in the order they were given
	comparable bool        // so that a tool can be told from another
}

// A candidate is a tool that may be in a pool.
type candidate struct {
	tool     Tool
	traits   Traits
	spec     msg.ToolSpec
	absent   error // why it cannot be called, or nil
	deferred bool
}

// NewRegistry returns the registry of the built-in tools. It panics on an illegal name or one that is
// taken: among built-ins that is a mistake in the program.
func NewRegistry(builtin ...Tool) *Registry {
	seen := make(map[string]Tool, len(builtin))
	for _, t := range builtin {
		name := t.Spec().Name
		if err := CheckName(name); err != nil {
			panic(fmt.Sprintf("tool.NewRegistry: %v, from %s", err, origin(t)))
		}
		if first, taken := seen[name]; taken {
			panic(fmt.Sprintf("tool.NewRegistry: tool name %q is used by %s and by %s", name, origin(first), origin(t)))
		}
		seen[name] = t
	}
	return &Registry{builtin: sorted(builtin), reported: make(map[Problem]bool)}
}

// Assemble returns the pool of one request, and the problems that no earlier call returned. As long as
// nothing changed it returns the same pool, and allocates nothing.
//
// Built-in tools come first and dynamic ones after, each part in byte-wise order of their names, so
// that a server coming or going never moves a built-in. A dynamic tool whose name is illegal or taken
// is left out; of two the first wins. A tool for which denied answers true, for its name or an alias,
// is absent, and so is one that is disabled. A nil denied denies nothing.
func (r *Registry) Assemble(dynamic []Tool, denied func(name string) bool) (*Pool, []Problem) {
	last := r.last.Load()
	if last != nil && r.unchanged(last, dynamic, denied) {
		return last.pool, nil
	}
	next := &assembly{comparable: true, candidates: make([]candidate, 0, len(r.builtin)+len(dynamic))}
	for _, tools := range [][]Tool{r.builtin, dynamic} {
		for _, t := range tools {
			c := candidate{tool: t, traits: t.Traits(), spec: t.Spec()}
			c.absent, c.deferred = c.absence(denied), r.defers(&c)
			next.candidates = append(next.candidates, c)
			next.comparable = next.comparable && reflect.ValueOf(t).Comparable()
		}
	}
	next.pool = assemble(next.candidates[:len(r.builtin)], next.candidates[len(r.builtin):])
	if last != nil && slices.EqualFunc(last.pool.specs, next.pool.specs, sameSpec) {
		next.pool.specs = last.pool.specs
	}
	r.last.Store(next)
	return next.pool, r.fresh(next.pool.problems)
}

// unchanged reports whether a pool made now would be that of last.
func (r *Registry) unchanged(last *assembly, dynamic []Tool, denied func(name string) bool) bool {
	if !last.comparable || len(last.candidates) != len(r.builtin)+len(dynamic) {
		return false
	}
	for i := range last.candidates {
		c := &last.candidates[i]
		if !sameError(c.absence(denied), c.absent) || r.defers(c) != c.deferred {
			return false
		}
		if i >= len(r.builtin) {
			if dynamic[i-len(r.builtin)] != c.tool {
				return false
			}
		} else if c.absent == nil && !sameSpec(c.tool.Spec(), c.spec) { // one that is told its schema late
			return false
		}
	}
	return true
}

// defers reports whether a tool is not sent.
func (r *Registry) defers(c *candidate) bool {
	return r.Deferred != nil && !c.traits.AlwaysLoad && r.Deferred(c.tool)
}

// fresh returns those of problems that were not reported yet.
func (r *Registry) fresh(problems []Problem) []Problem {
	r.mu.Lock()
	defer r.mu.Unlock()
	var fresh []Problem
	for _, problem := range problems {
		if !r.reported[problem] {
			r.reported[problem] = true
			fresh = append(fresh, problem)
		}
	}
	return fresh
}

// assemble returns the pool of the candidates, of which builtin are sorted by name.
func assemble(builtin, dynamic []candidate) *Pool {
	p := &Pool{
		tools:  make(map[string]Tool, len(builtin)+len(dynamic)),
		names:  make(map[string]string),
		absent: make(map[string]error),
	}
	admitted := p.admit(builtin, dynamic)
	slices.SortFunc(admitted, func(a, b *candidate) int { return strings.Compare(a.spec.Name, b.spec.Name) })
	all := make([]*candidate, 0, len(builtin)+len(admitted))
	for i := range builtin {
		all = append(all, &builtin[i])
	}
	all = append(all, admitted...)
	p.alias(all)
	for _, c := range all {
		p.offer(c)
	}
	return p
}

// offer enters c among those that can be called and, unless it is deferred, among those that are sent.
func (p *Pool) offer(c *candidate) {
	if c.absent != nil {
		p.absent[c.spec.Name] = c.absent
		delete(p.tools, c.spec.Name)
		return
	}
	p.callable = append(p.callable, c.spec.Name)
	if !c.deferred {
		p.specs = append(p.specs, c.spec)
	}
}

// sameError reports whether two reasons are told alike.
func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Error() == b.Error()
}

// Assemble returns the pool of builtin and dynamic once; see [Registry.Assemble].
func Assemble(builtin, dynamic []Tool, denied func(name string) bool) (*Pool, []Problem) {
	return NewRegistry(builtin...).Assemble(dynamic, denied)
}

// A Pool is the set of tools of one request: those that can be called, and among them those that the
// model is told of. It does not change.
type Pool struct {
	specs    []msg.ToolSpec    // those that are sent
	callable []string          // canonical names, in order
	tools    map[string]Tool   // those that can be called, by canonical name
	names    map[string]string // canonical names by alias
	absent   map[string]error  // why a tool that exists cannot be called, by canonical name
	problems []Problem
}

// A Problem is a tool or an alias that was left out of the pool.
type Problem struct {
	Name   string
	Origin string // of the loser
	Reason string
}

func (p Problem) String() string { return fmt.Sprintf("%s from %s: %s", p.Name, p.Origin, p.Reason) }

// Specs describes the tools that are sent to the model. As long as nothing changed, every pool of a
// registry returns the same slice, which must not be modified.
func (p *Pool) Specs() []msg.ToolSpec { return p.specs }

// Problems returns everything that was left out for its name.
func (p *Pool) Problems() []Problem { return p.problems }

// Lookup finds a tool that can be called, sent or not, by its name or else by an alias, as the model must
// write it. Canonical is the name that rules and the log use.
func (p *Pool) Lookup(name string) (t Tool, canonical string, ok bool) {
	if t, ok := p.tools[name]; ok {
		return t, name, true
	}
	if canonical, ok := p.names[name]; ok {
		t, ok := p.tools[canonical]
		return t, canonical, ok
	}
	return nil, "", false
}

// Fold finds a tool as a user types its name: like [Pool.Lookup], and then in any case.
func (p *Pool) Fold(name string) (t Tool, canonical string, ok bool) {
	if t, canonical, ok := p.Lookup(name); ok {
		return t, canonical, true
	}
	for _, known := range p.callable {
		if strings.EqualFold(known, name) {
			return p.Lookup(known)
		}
	}
	for _, alias := range slices.Sorted(maps.Keys(p.names)) {
		if strings.EqualFold(alias, name) {
			return p.Lookup(alias)
		}
	}
	return nil, "", false
}

// Closest returns up to three names of tools that may have been meant by name.
func (p *Pool) Closest(name string) []string {
	words := slices.Clone(p.callable)
	for _, alias := range slices.Sorted(maps.Keys(p.names)) {
		if _, _, ok := p.Lookup(alias); ok {
			words = append(words, alias)
		}
	}
	var names []string
	for _, word := range spell.Closest(name, words, len(words)) {
		if _, canonical, _ := p.Lookup(word); !slices.Contains(names, canonical) && len(names) < 3 {
			names = append(names, canonical)
		}
	}
	return names
}

// Disabled reports why a tool that exists cannot be called now: it was absent when the pool was
// assembled, or was disabled since. It returns nil for a tool that can, and for a name that no tool has.
func (p *Pool) Disabled(name string) error {
	canonical := name
	if c, ok := p.names[name]; ok {
		canonical = c
	}
	err := p.absent[canonical]
	if t, ok := p.tools[canonical]; ok {
		err = enabled(t.Traits())
	}
	if err != nil {
		return fmt.Errorf("tool %s is not available: %w", canonical, err)
	}
	return nil
}

// admit enters builtin and then those of dynamic whose names are legal and free, which it returns.
func (p *Pool) admit(builtin, dynamic []candidate) []*candidate {
	for i := range builtin {
		p.tools[builtin[i].spec.Name] = builtin[i].tool
	}
	admitted := make([]*candidate, 0, len(dynamic))
	for i := range dynamic {
		c := &dynamic[i]
		if err := CheckName(c.spec.Name); err != nil {
			p.report(c.spec.Name, c.tool, err.Error())
			continue
		}
		if winner, taken := p.tools[c.spec.Name]; taken {
			p.report(c.spec.Name, c.tool, "the name is taken by "+origin(winner))
			continue
		}
		p.tools[c.spec.Name] = c.tool
		admitted = append(admitted, c)
	}
	return admitted
}

// alias enters the aliases of all. The name of a tool is never an alias, even while it is disabled.
func (p *Pool) alias(all []*candidate) {
	for _, c := range all {
		for _, a := range c.traits.Aliases {
			switch winner, taken := p.names[a]; {
			case p.tools[a] != nil:
				if a != c.spec.Name {
					p.report(a, c.tool, fmt.Sprintf("alias of %s is the name of a tool from %s", c.spec.Name, origin(p.tools[a])))
				}
			case taken && winner != c.spec.Name:
				p.report(a, c.tool, fmt.Sprintf("alias of %s is already an alias of %s", c.spec.Name, winner))
			default:
				p.names[a] = c.spec.Name
			}
		}
	}
}

func (p *Pool) report(name string, loser Tool, reason string) {
	p.problems = append(p.problems, Problem{Name: name, Origin: origin(loser), Reason: reason})
}

var errDenied = errors.New("a permission rule denies it")

// absence reports why a tool is not offered, or nil.
func (c *candidate) absence(denied func(name string) bool) error {
	if denied != nil && (denied(c.spec.Name) || slices.ContainsFunc(c.traits.Aliases, denied)) {
		return errDenied
	}
	return enabled(c.traits)
}

// enabled reports why a tool cannot be offered now, or nil. A check that panics counts as no.
func enabled(t Traits) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("its availability check panicked: %v", v)
		}
	}()
	if t.Enabled != nil {
		return t.Enabled()
	}
	return nil
}

// origin says where t comes from. Built-in tools differ in the type that implements them.
func origin(t Tool) string {
	if o := t.Traits().Origin; o != "" {
		return o
	}
	return fmt.Sprintf("built in (%T)", t)
}

// sorted returns tools in the order of their names, no two of which are equal.
func sorted(tools []Tool) []Tool {
	return slices.SortedFunc(slices.Values(tools), func(a, b Tool) int {
		return strings.Compare(a.Spec().Name, b.Spec().Name)
	})
}

func sameSpec(a, b msg.ToolSpec) bool {
	return a.Name == b.Name && a.Description == b.Description && a.Strict == b.Strict && bytes.Equal(a.Schema, b.Schema)
}
