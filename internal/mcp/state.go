package mcp

import (
	"fmt"
	"slices"
)

// next returns the states that may follow s.
func (s State) next() []State {
	switch s {
	case Pending:
		return []State{Connected, Failed, NeedsAuth, Disabled}
	case Connected:
		return []State{Pending, Failed, NeedsAuth, Disabled}
	case Failed, NeedsAuth:
		return []State{Pending, Disabled}
	case Disabled:
		return []State{Pending}
	case Unapproved:
		return []State{Disabled}
	}
	return nil
}

// become changes a server's state. The caller holds the lock; notifications are sent when the
// lock is released.
func (sv *server) become(to State, why error) {
	from := sv.state
	sv.err = why
	if from == to {
		return
	}
	if !slices.Contains(from.next(), to) {
		panic(fmt.Sprintf("mcp: server %s cannot become %s from %s", sv.entry.Name, to, from))
	}
	sv.state = to
	sv.news = append(sv.news, stateChange{server: sv.entry.Name, from: from, to: to, err: why})
}

// stateChange is a change to report to watchers.
type stateChange struct {
	server   string
	from, to State // equal if a list changed
	err      error
	say      string // message for the user; may be empty
}

// unlock releases the lock and reports the changes made under it, in order. While one goroutine
// is reporting, it also reports the others' changes.
func (b *hub) unlock() {
	if b.telling {
		b.mu.Unlock()
		return
	}
	b.telling = true
	for len(b.news) > 0 {
		n := b.news[0]
		b.news = b.news[1:]
		watchers := slices.Clone(b.watchers)
		closed := b.closed
		b.mu.Unlock()
		b.tell(n, watchers, closed)
		b.mu.Lock()
	}
	b.news, b.telling = nil, false
	b.mu.Unlock()
}

// tell reports a change to the log, the user and the watchers.
func (b *hub) tell(n stateChange, watchers []*watcher, closed bool) {
	if b.cfg.Log != nil && n.from != n.to {
		b.cfg.Log.Debug("mcp server", "name", n.server, "from", n.from, "to", n.to, "err", n.err)
	}
	if closed {
		return
	}
	if n.say != "" && b.cfg.Say != nil {
		b.cfg.Say(n.say)
	}
	for _, w := range watchers {
		w.hear()
	}
}

// A watcher is called after changes.
type watcher struct{ hear func() }

// Watch calls hear after each change of a state or a list, until stop is called. Calls do not
// overlap, and hear may use the servers. A call may still be running when stop returns.
func (b *hub) Watch(hear func()) (stop func()) {
	w := &watcher{hear}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watchers = append(b.watchers, w)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.watchers = slices.DeleteFunc(slices.Clone(b.watchers), func(x *watcher) bool { return x == w })
	}
}
