package tool

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"adze/internal/msg"
	"adze/internal/platform/spell"
)

// A Registry holds the tools built into the program and assembles the pool of each request.
// It is safe for concurrent use.
type Registry struct {
	builtin []Tool // sorted by name

	mu       sync.Mutex
	last     *Pool   // the one assembled last
	absent   []error // why each built-in is not in it, or nil
	plain    bool    // it has nothing but built-ins
	reported map[Problem]bool
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

// Assemble returns the pool of one request, and the problems that no earlier call returned.
//
// Built-in tools come first and dynamic ones after, each part in byte-wise order of their names, so
// that a server coming or going never moves a built-in. A dynamic tool whose name is illegal or taken
// is left out; of two the first wins. A tool for which denied answers true, for its name or an alias,
// is absent, and so is one that is disabled. A nil denied denies nothing.
func (r *Registry) Assemble(dynamic []Tool, denied func(name string) bool) (*Pool, []Problem) {
	absent := make([]error, len(r.builtin))
	specs := make([]msg.ToolSpec, 0, len(r.builtin))
	for i, t := range r.builtin {
		if absent[i] = absence(t, denied); absent[i] == nil {
			specs = append(specs, t.Spec())
		}
	}
	plain := len(dynamic) == 0

	r.mu.Lock()
	defer r.mu.Unlock()
	if plain && r.plain && slices.EqualFunc(r.absent, absent, sameError) && slices.EqualFunc(r.last.specs, specs, sameSpec) {
		return r.last, nil
	}
	p := &Pool{
		tools:  make(map[string]Tool, len(r.builtin)+len(dynamic)),
		names:  make(map[string]string),
		absent: make(map[string]error),
	}
	dynamic = sorted(p.admit(r.builtin, dynamic))
	p.alias(slices.Concat(r.builtin, dynamic))
	for i, t := range r.builtin {
		p.offer(t, absent[i])
	}
	for _, t := range dynamic {
		p.offer(t, absence(t, denied))
	}
	if r.last != nil && slices.EqualFunc(r.last.specs, p.specs, sameSpec) {
		p.specs = r.last.specs
	}
	r.last, r.absent, r.plain = p, absent, plain
	var fresh []Problem
	for _, problem := range p.problems {
		if !r.reported[problem] {
			r.reported[problem] = true
			fresh = append(fresh, problem)
		}
	}
	return p, fresh
}

// offer enters t among those that the model is told of, unless there is a reason against it.
func (p *Pool) offer(t Tool, why error) {
	if why != nil {
		p.absent[t.Spec().Name] = why
		delete(p.tools, t.Spec().Name)
		return
	}
	p.specs = append(p.specs, t.Spec())
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

// A Pool is the set of tools of one request. It does not change.
type Pool struct {
	specs    []msg.ToolSpec
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

// Specs describes the tools to the model. As long as nothing changed, every pool of a registry returns
// the same slice; nobody may modify it.
func (p *Pool) Specs() []msg.ToolSpec { return p.specs }

// Problems returns everything that was left out for its name.
func (p *Pool) Problems() []Problem { return p.problems }

// Lookup finds a tool by its name or else by an alias, as the model must write it. Canonical is the
// name that rules and the log use.
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

// Fold finds a tool as a person types its name: like [Pool.Lookup], and then in any case.
func (p *Pool) Fold(name string) (t Tool, canonical string, ok bool) {
	if t, canonical, ok := p.Lookup(name); ok {
		return t, canonical, true
	}
	for _, s := range p.specs {
		if strings.EqualFold(s.Name, name) {
			return p.Lookup(s.Name)
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
	words := make([]string, 0, len(p.specs)+len(p.names))
	for _, s := range p.specs {
		words = append(words, s.Name)
	}
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
// assembled, or was disabled since. It returns nil for a tool that can, and for a name nobody has.
func (p *Pool) Disabled(name string) error {
	canonical := name
	if c, ok := p.names[name]; ok {
		canonical = c
	}
	err := p.absent[canonical]
	if t, ok := p.tools[canonical]; ok {
		err = enabled(t)
	}
	if err != nil {
		return fmt.Errorf("tool %s is not available: %w", canonical, err)
	}
	return nil
}

// admit enters builtin and then those of dynamic whose names are legal and free, which it returns.
func (p *Pool) admit(builtin, dynamic []Tool) []Tool {
	for _, t := range builtin {
		p.tools[t.Spec().Name] = t
	}
	admitted := make([]Tool, 0, len(dynamic))
	for _, t := range dynamic {
		name := t.Spec().Name
		if err := CheckName(name); err != nil {
			p.report(name, t, err.Error())
			continue
		}
		if winner, taken := p.tools[name]; taken {
			p.report(name, t, "the name is taken by "+origin(winner))
			continue
		}
		p.tools[name] = t
		admitted = append(admitted, t)
	}
	return admitted
}

// alias enters the aliases of all. The name of a tool is never an alias, even while it is disabled.
func (p *Pool) alias(all []Tool) {
	for _, t := range all {
		name := t.Spec().Name
		for _, a := range t.Traits().Aliases {
			switch winner, taken := p.names[a]; {
			case p.tools[a] != nil:
				if a != name {
					p.report(a, t, fmt.Sprintf("alias of %s is the name of a tool from %s", name, origin(p.tools[a])))
				}
			case taken && winner != name:
				p.report(a, t, fmt.Sprintf("alias of %s is already an alias of %s", name, winner))
			default:
				p.names[a] = name
			}
		}
	}
}

func (p *Pool) report(name string, loser Tool, reason string) {
	p.problems = append(p.problems, Problem{Name: name, Origin: origin(loser), Reason: reason})
}

var errDenied = errors.New("a permission rule denies it")

// absence reports why t is not offered, or nil.
func absence(t Tool, denied func(name string) bool) error {
	if denied != nil && (denied(t.Spec().Name) || slices.ContainsFunc(t.Traits().Aliases, denied)) {
		return errDenied
	}
	return enabled(t)
}

// enabled asks t whether it can be offered now. A check that panics counts as no.
func enabled(t Tool) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("its availability check panicked: %v", v)
		}
	}()
	if check := t.Traits().Enabled; check != nil {
		return check()
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
