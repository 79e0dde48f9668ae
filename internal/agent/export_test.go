package agent

import (
	"context"
	"iter"
)

// Watch is like [Agent.Run], but calls look with the state before each iteration.
func (a *Agent) Watch(ctx context.Context, h History, look func(State)) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		r := newRun(ctx, a, h, yield)
		defer r.close()
		r.turn(func(s State) (State, *Ended) {
			look(s)
			return r.iterate(s)
		})
	}
}
