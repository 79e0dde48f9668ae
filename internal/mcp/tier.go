package mcp

import (
	"fmt"
	"slices"
	"strings"
)

// A tier holds the servers configured at one level: for the workspace, or on top of it for a
// conversation. The caller holds the board's lock.
type tier struct {
	below *tier     // nil for the workspace; set once
	list  []*server // servers in roster order
}

// Layer returns an empty set of servers for a conversation, on top of s. If both have a server
// with the same name, the conversation's own is used. Closing the layer ends only its own
// connections.
func (s *Servers) Layer() *Servers { return &Servers{hub: s.hub, tier: &tier{below: s.tier}} }

// has reports whether t is other or on top of it.
func (t *tier) has(other *tier) bool { return t == other || t.below != nil && t.below.has(other) }

// all returns the usable servers: its own, and the ones below with other names.
func (t *tier) all() []*server {
	if t.below == nil {
		return t.list
	}
	all := slices.Clone(t.list)
	for _, sv := range t.below.all() {
		if !slices.ContainsFunc(t.list, func(own *server) bool { return own.entry.Name == sv.entry.Name }) {
			all = append(all, sv)
		}
	}
	return all
}

// find returns a server by its name.
func (t *tier) find(name string) (*server, error) {
	var names []string
	for _, sv := range t.all() {
		if sv.entry.Name == name {
			return sv, nil
		}
		names = append(names, sv.entry.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no server %q: no servers are configured", name)
	}
	return nil, fmt.Errorf("no server %q; there are: %s", name, strings.Join(names, ", "))
}

// underWay returns a running connection attempt, or nil.
func (t *tier) underWay() *attempt {
	for _, sv := range t.all() {
		if sv.attempt != nil {
			return sv.attempt
		}
	}
	return nil
}
