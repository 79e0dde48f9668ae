package roster

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Roster holds the configured servers.
type Roster struct {
	// Entries have distinct names, the strongest scope first.
	Entries []*Entry
	// Unapproved holds the project entries that wait for approval, including entries whose name
	// is used by another one until then.
	Unapproved []*Entry
	// Problems holds other errors.
	Problems []Problem
}

// Find returns the entry with the given Name or Given name, or nil.
func (r *Roster) Find(name string) *Entry {
	for _, same := range []func(*Entry) bool{
		func(e *Entry) bool { return e.Name == name },
		func(e *Entry) bool { return e.Given == name },
		func(e *Entry) bool { return e.Name == Name(name) },
	} {
		if i := slices.IndexFunc(r.Entries, same); i >= 0 {
			return r.Entries[i]
		}
	}
	return nil
}

// strength orders scopes, the strongest first.
func strength(s Scope) int {
	return slices.Index([]Scope{Managed, Flag, Local, Project, User, Plugin}, s)
}

// Merge builds a roster from entries, which are ordered within their scope from farthest to
// nearest. For each name, the entry with the strongest scope replaces the others completely. An
// entry waiting for approval replaces no weaker entry.
func Merge(entries []*Entry, policy *Policy) *Roster {
	r := &Roster{}
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b *Entry) int { return strength(a.Scope) - strength(b.Scope) })
	sorted = nearest(sorted)
	for _, e := range sorted {
		if e.Problem == nil && policy != nil {
			e.Problem = policy.check(e)
		}
		if e.Unapproved && !e.Disabled {
			r.Unapproved = append(r.Unapproved, e)
		}
	}
	byName := map[string]*Entry{}
	take := func(e *Entry) {
		switch first := byName[e.Name]; {
		case first == nil:
			byName[e.Name] = e
			r.Entries = append(r.Entries, e)
		case first.Given != e.Given:
			r.Problems = append(r.Problems, Problem{e.File, fmt.Sprintf(
				"the server %s would be called %s, like %s; it is not used: rename one of them", Shown(e.Given), e.Name, Shown(first.Given))})
		}
	}
	for _, e := range sorted {
		if e.Name != "" && !e.Unapproved {
			take(e)
		}
	}
	for _, e := range sorted {
		switch {
		case e.Name == "":
			r.Problems = append(r.Problems, Problem{e.File, e.Problem.Error()})
		case e.Unapproved && byName[e.Name] == nil:
			take(e)
		}
	}
	slices.SortStableFunc(r.Entries, func(a, b *Entry) int {
		if d := strength(a.Scope) - strength(b.Scope); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	r.unite()
	return r
}

// nearest drops entries replaced by a later entry with the same scope and name. An entry
// waiting for approval replaces only other waiting entries. The order is kept.
func nearest(entries []*Entry) []*Entry {
	type key struct {
		scope Scope
		given string
	}
	last, usable := map[key]*Entry{}, map[key]*Entry{}
	for _, e := range entries {
		k := key{e.Scope, e.Given}
		last[k] = e
		if !e.Unapproved {
			usable[k] = e
		}
	}
	return slices.DeleteFunc(entries, func(e *Entry) bool {
		k := key{e.Scope, e.Given}
		return e != usable[k] && (e != last[k] || !e.Unapproved)
	})
}

// unite keeps a single entry for each server: user entries take precedence over project
// entries, and both over plugin entries.
func (r *Roster) unite() {
	rank := func(e *Entry) int { return slices.Index([]Scope{Managed, Flag, Local, User, Project, Plugin}, e.Scope) }
	kept, addresses := map[string]*Entry{}, map[string]*Entry{}
	for _, e := range r.Entries {
		if !e.Usable() || e.Type == Host {
			continue
		}
		key := e.target()
		other := kept[key]
		if e.Remote() && e.Scope != Plugin {
			addresses[plainURL(e.URL)] = e
		} else if e.Remote() && other == nil {
			other = addresses[plainURL(e.URL)] // the user's entry may have headers
		}
		switch {
		case other == nil:
			kept[key] = e
		case rank(e) < rank(other):
			kept[key] = e
			other.Same, other.Disabled = e.Name, true
		default:
			e.Same, e.Disabled = other.Name, true
		}
	}
	for _, e := range r.Entries { // chains lead to the entry kept
		if first := kept[e.target()]; e.Same != "" && first != nil {
			e.Same = first.Name
		}
	}
}

// target returns a key that identifies an entry's server.
func (e *Entry) target() string {
	parts := []any{e.Type, e.Command, e.Args, sortedPairs(e.Env)}
	if e.Remote() {
		parts = []any{plainURL(e.URL), sortedPairs(e.Headers), e.HeadersHelper}
	}
	key, err := json.Marshal(parts)
	if err != nil {
		return e.Name // strings always encode
	}
	return string(key)
}

func sortedPairs(m map[string]string) (pairs []string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, name, m[name])
	}
	return pairs
}
