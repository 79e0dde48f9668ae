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
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/text/rank"
)

// A Registry holds the built-in tools and assembles the pool for each request. It is safe for
// concurrent use.
type Registry struct {
	// Deferred reports whether a tool can be called without being sent to the model, which then
	// finds it by other means. May be nil: every tool is sent. It must be set before the
	// registry is used.
	Deferred func(name string, t *Traits) bool
	// Defers reports whether deferred tools are omitted from requests now, given the callable
	// ones: the same slice until it changes. If not, they are sent, and the tools with
	// [Traits].Door are absent. May be nil: they are omitted. It is called for each assembly.
	// While a tool with Door is denied or disabled, deferred tools are sent.
	Defers func(deferred []Tool) bool
	// Rules returns a comparable value that changes whenever the set of denied tools may have
	// changed. If nil, each tool is checked. It must be set before the registry is used.
	Rules func() any
	// Substitutes holds replacements for other programs' tools that models request. It must be
	// set before the registry is used.
	Substitutes []Substitute
	// Missing explains in a sentence why no tool has a name, or returns "". May be nil. It must
	// be set before the registry is used.
	Missing func(name string) string

	builtin    []Tool // sorted by name
	forwarders Forwarders
	last       atomic.Pointer[assembly]

	mu       sync.Mutex
	reported map[Problem]bool
}

// An assembly is a pool with its inputs. It is immutable.
type assembly struct {
	pool       *Pool
	candidates []candidate // built-ins, then dynamic tools in the order they were given
	comparable bool        // all tools have comparable types
	doors      bool        // all tools with Door are available
	defers     bool        // deferred tools are omitted from requests
	rules      any         // result of Registry.Rules
}

// A candidate is a tool that may be in a pool.
type candidate struct {
	tool     Tool
	traits   Traits
	spec     msg.ToolSpec
	absent   error // why it cannot be called, or nil
	deferred bool
}

// A Substitute replaces other programs' tools, which models remember and request.
type Substitute struct {
	Names []string // names of the replaced tools
	// Tool is the replacement, and Advice a sentence about it. If the tool is unavailable, no
	// advice is given; an empty Tool means that the advice needs none.
	Tool, Advice string
}

// NewRegistry returns a registry of the built-in tools. It panics on an illegal or duplicate
// name, which among built-ins is a programming error.
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
	return &Registry{builtin: sorted(builtin), forwarders: ForwardersOf(builtin), reported: make(map[Problem]bool)}
}

// Assemble returns a request's pool, and the problems that no earlier call returned. As long as
// nothing changes it returns the same pool and does not allocate.
//
// Built-in tools come first, then dynamic ones, each in byte-wise order of their names, so that
// a server coming or going never moves a built-in. A dynamic tool whose name is illegal or
// taken is omitted; the first of two wins. A tool is absent if denied returns true for its name
// or an alias, or if it is disabled. A nil denied denies nothing.
func (r *Registry) Assemble(dynamic []Tool, denied func(name string) bool) (*Pool, []Problem) {
	last := r.last.Load()
	if last != nil && r.unchanged(last, dynamic, denied) {
		return last.pool, nil
	}
	next := &assembly{comparable: true, rules: r.rules(), candidates: make([]candidate, 0, len(r.builtin)+len(dynamic))}
	for _, tools := range [][]Tool{r.builtin, dynamic} {
		for _, t := range tools {
			c := candidate{tool: t, traits: t.Traits(), spec: t.Spec()}
			c.absent, c.deferred = c.absence(denied), r.defers(&c)
			next.candidates = append(next.candidates, c)
			next.comparable = next.comparable && reflect.ValueOf(t).Comparable()
		}
	}
	next.pool = r.assemble(next)
	next.pool.forwarders = r.forwarders
	next.pool.substitutes, next.pool.missing = r.Substitutes, r.Missing
	if last != nil && slices.EqualFunc(last.pool.specs, next.pool.specs, sameSpec) {
		next.pool.specs = last.pool.specs
	}
	if last != nil && last.comparable && next.comparable && slices.Equal(last.pool.extra, next.pool.extra) {
		next.pool.extra = last.pool.extra
	}
	r.last.Store(next)
	return next.pool, r.fresh(next.pool.problems)
}

// unchanged reports whether a pool assembled now would equal last's.
func (r *Registry) unchanged(last *assembly, dynamic []Tool, denied func(name string) bool) bool {
	if !last.comparable || len(last.candidates) != len(r.builtin)+len(dynamic) {
		return false
	}
	sameRules := last.rules != nil && last.rules == r.rules()
	for i := range last.candidates {
		c := &last.candidates[i]
		if (!sameRules || c.traits.Enabled != nil) && !sameError(c.absence(denied), c.absent) || r.defers(c) != c.deferred {
			return false
		}
		if i >= len(r.builtin) {
			if dynamic[i-len(r.builtin)] != c.tool {
				return false
			}
		} else if c.absent == nil && !sameSpec(c.tool.Spec(), c.spec) { // its schema may arrive late
			return false
		}
	}
	return !last.doors || r.leavesOut(last.pool.extra) == last.defers
}

// defers reports whether a tool is omitted while tools are deferred.
func (r *Registry) defers(c *candidate) bool {
	return r.Deferred != nil && !c.traits.Dispatcher && r.Deferred(c.spec.Name, &c.traits)
}

// leavesOut reports whether deferred tools are omitted from requests now.
func (r *Registry) leavesOut(deferred []Tool) bool {
	return r.Deferred != nil && (r.Defers == nil || r.Defers(deferred))
}

// rules returns the value that changes with the set of denied tools, or nil.
func (r *Registry) rules() any {
	if r.Rules == nil {
		return nil
	}
	return r.Rules()
}

// fresh returns the problems not reported yet.
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

// assemble returns the candidates' pool. Built-ins are already sorted by name.
func (r *Registry) assemble(a *assembly) *Pool {
	builtin, dynamic := a.candidates[:len(r.builtin)], a.candidates[len(r.builtin):]
	p := &Pool{
		tools:  make(map[string]Tool, len(a.candidates)),
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
		p.known = append(p.known, c.tool)
		if c.absent == nil && c.deferred {
			p.extra = append(p.extra, c.tool)
		}
	}
	a.doors = !slices.ContainsFunc(all, func(c *candidate) bool { return c.traits.Dispatcher && c.absent != nil })
	a.defers = a.doors && r.leavesOut(p.extra)
	for _, c := range all {
		p.offer(c, a.defers)
	}
	return p
}

// offer adds c to the callable tools and, unless it is deferred, to the tools sent to the
// model.
func (p *Pool) offer(c *candidate, defers bool) {
	absent := c.absent
	if absent == nil && c.traits.Dispatcher && !defers {
		absent = errNoDoor
	}
	if absent != nil {
		p.absent[c.spec.Name] = absent
		delete(p.tools, c.spec.Name)
		return
	}
	if _, forwards := c.tool.(Forwarder); c.traits.Dispatcher && !forwards {
		p.finder = c.spec.Name
	}
	p.callable = append(p.callable, c.spec.Name)
	if !defers || !c.deferred {
		p.specs = append(p.specs, c.spec)
		return
	}
	if p.deferred == nil {
		p.deferred = make(map[string]bool)
	}
	p.deferred[c.spec.Name] = true
}

var errNoDoor = errors.New("every tool is listed: call them by their names")

// sameError reports whether two errors have the same text.
func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Error() == b.Error()
}

// A Pool is the set of tools for one request: the callable ones, some of which are sent to the
// model. It is immutable.
type Pool struct {
	known    []Tool            // all tools, including unavailable ones
	specs    []msg.ToolSpec    // specs sent to the model
	callable []string          // canonical names, in order
	tools    map[string]Tool   // callable tools by canonical name
	names    map[string]string // canonical names by alias
	absent   map[string]error  // why an existing tool cannot be called, by canonical name
	problems []Problem

	extra      []Tool          // callable tools that may be deferred, in order
	deferred   map[string]bool // currently deferred tools, by canonical name
	forwarders Forwarders      // includes unavailable ones

	finder string // tool with Door that finds deferred tools, or empty

	substitutes []Substitute
	missing     func(name string) string
}

// A Problem is a tool or an alias omitted from the pool.
type Problem struct {
	Name   string
	Origin string // origin of the omitted one
	Reason string
}

func (p Problem) String() string { return fmt.Sprintf("%s from %s: %s", p.Name, p.Origin, p.Reason) }

// Specs returns the specs sent to the model. As long as nothing changes, every pool of a
// registry returns the same slice, which must not be modified.
func (p *Pool) Specs() []msg.ToolSpec { return p.specs }

// Callable returns the callable tools, sent or not, in order.
func (p *Pool) Callable() []Tool {
	all := make([]Tool, len(p.callable))
	for i, name := range p.callable {
		all[i] = p.tools[name]
	}
	return all
}

// Deferred returns the tools that are callable but not sent: built-ins ordered by name, then
// servers' tools. As long as nothing changes it is the same slice, which must not be modified.
func (p *Pool) Deferred() []Tool {
	if len(p.deferred) == 0 {
		return nil
	}
	return p.extra
}

// IsDeferred reports whether the tool with the canonical name is callable but not sent.
func (p *Pool) IsDeferred(canonical string) bool { return p.deferred[canonical] }

// Problems returns everything omitted because of its name.
func (p *Pool) Problems() []Problem { return p.problems }

// Lookup finds a callable tool, sent or not, by its name or an alias, as the model must write
// it. Canonical is the name used in rules and the log.
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

// callPrefix precedes tool names in some models' calls.
const callPrefix = "functions."

// Canonical returns the name of the tool that a model's call refers to: the name itself, an
// alias, or either of them with the prefix "functions." or in another case, if unambiguous. Any
// other name is returned unchanged.
func (p *Pool) Canonical(name string) string {
	plain := strings.TrimPrefix(name, callPrefix)
	for _, exact := range []string{name, plain} {
		if p.tools[exact] != nil || p.absent[exact] != nil {
			return exact
		}
		if canonical, ok := p.names[exact]; ok {
			return canonical
		}
	}
	var found []string
	add := func(known, canonical string) {
		if strings.EqualFold(known, plain) && !slices.Contains(found, canonical) {
			found = append(found, canonical)
		}
	}
	for known := range p.tools {
		add(known, known)
	}
	for known := range p.absent {
		add(known, known)
	}
	for alias, canonical := range p.names {
		add(alias, canonical)
	}
	if len(found) == 1 {
		return found[0]
	}
	return name
}

// Paths returns the files that tool uses were about, as far as known.
func (p *Pool) Paths(uses []*msg.ToolUse, in paths.Base) []string {
	var all []string
	for _, u := range uses {
		to, err := p.Target(u)
		if err != nil || to.Tool == nil {
			continue
		}
		call, err := to.Tool.Bind(to.Input)
		if err != nil {
			continue // invalid call
		}
		if about, ok := As[Pather](call); ok {
			if path, err := in.Expand(about.Path()); err == nil {
				all = append(all, path)
			}
		}
	}
	return all
}

// Fold finds a tool by a name typed by a user: like [Pool.Lookup], then ignoring case.
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

// Closest returns up to three tool names similar to name.
func (p *Pool) Closest(name string) []string {
	words := slices.Clone(p.callable)
	for _, alias := range slices.Sorted(maps.Keys(p.names)) {
		if _, _, ok := p.Lookup(alias); ok {
			words = append(words, alias)
		}
	}
	var names []string
	for _, word := range rank.Closest(name, words, len(words)) {
		if _, canonical, _ := p.Lookup(word); !slices.Contains(names, canonical) && len(names) < 3 {
			names = append(names, canonical)
		}
	}
	return names
}

// Finder returns the name of the tool that finds deferred tools, or "" if none are deferred.
func (p *Pool) Finder() string { return p.finder }

// Instead explains in sentences why no tool has that name, or suggests a replacement for
// another program's tool, or returns "".
func (p *Pool) Instead(name string) string {
	if p.missing != nil {
		if why := p.missing(name); why != "" {
			return why
		}
	}
	var advice []string
	for _, s := range p.substitutes {
		if _, _, ok := p.Lookup(s.Tool); (ok || s.Tool == "") && slices.Contains(s.Names, name) {
			advice = append(advice, s.Advice)
		}
	}
	return strings.Join(advice, " ")
}

// Disabled returns the reason an existing tool cannot be called now: it was absent when the
// pool was assembled, or was disabled since. It returns nil for a callable tool and for an
// unknown name.
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

// admit adds builtin and then the dynamic tools whose names are legal and free, which it
// returns.
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

// alias adds the aliases of all. A tool's name is never an alias, even while the tool is
// disabled.
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

// absence returns the reason a tool is not offered, or nil.
func (c *candidate) absence(denied func(name string) bool) error {
	if denied != nil && (denied(c.spec.Name) || slices.ContainsFunc(c.traits.Aliases, denied)) {
		return errDenied
	}
	return enabled(c.traits)
}

// enabled returns the reason a tool cannot be offered now, or nil. A check that panics counts
// as a failure.
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

// origin describes where t comes from. Built-in tools differ in their implementing type.
func origin(t Tool) string {
	if o := t.Traits().Origin; o != "" {
		return o
	}
	return fmt.Sprintf("built in (%T)", t)
}

// sorted returns tools ordered by name; names are unique.
func sorted(tools []Tool) []Tool {
	return slices.SortedFunc(slices.Values(tools), func(a, b Tool) int {
		return strings.Compare(a.Spec().Name, b.Spec().Name)
	})
}

func sameSpec(a, b msg.ToolSpec) bool {
	return a.Name == b.Name && a.Description == b.Description && a.Strict == b.Strict && bytes.Equal(a.Schema, b.Schema)
}

// IsAlias reports whether any of the tools has the name as an alias.
func IsAlias(tools []Tool, name string) bool {
	return slices.ContainsFunc(tools, func(t Tool) bool { return slices.Contains(t.Traits().Aliases, name) })
}
