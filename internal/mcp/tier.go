package mcp

import (
	"fmt"
	"slices"
	"strings"
)

// A tier is the servers that are configured in one place: for the workspace, or on top of it for one conversation. It is
// used with the lock of the board held.
type tier struct {
	below *tier     // nil for the workspace; set once
	list  []*server // in the order of the roster
}

// Layer returns what a conversation has that uses servers of its own: none yet, on top of these. Of two servers with the
// same name its own is used. Closing it ends its own connections, and no others.
func (s *Servers) Layer() *Servers { return &Servers{board: s.board, tier: &tier{below: s.tier}} }

// has reports whether the tier is the other one, or on top of it.
func (t *tier) has(other *tier) bool { return t == other || t.below != nil && t.below.has(other) }

// all returns the servers that can be used: its own, and those below with other names.
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
		return nil, fmt.Errorf("there is no server %q: none is configured", name)
	}
	return nil, fmt.Errorf("there is no server %q; there are: %s", name, strings.Join(names, ", "))
}

// underWay returns an attempt to connect that is being made, or nil.
func (t *tier) underWay() *attempt {
	for _, sv := range t.all() {
		if sv.attempt != nil {
			return sv.attempt
		}
	}
	return nil
}
