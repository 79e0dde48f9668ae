package agent

import (
	"adze/internal/msg"
)

// A Goal is a result that a turn must produce before it may end. It is used for one turn, in
// one goroutine.
type Goal interface {
	// Reached is called after each response's calls. If it returns true, the turn ends with the
	// result.
	Reached() (Ended, bool)
	// Missed is called when the model has finished without reaching the goal. It returns a
	// reminder that makes the model continue; if the reminder is empty, the turn ends with end.
	Missed(last msg.Message) (remind string, end Ended)
}

// reached ends a turn that has reached its goal. Stop hooks may still send the model back.
func (r *run) reached(s State, ans answer) (State, *Ended, bool) {
	if r.a.Goal == nil {
		return s, nil, false
	}
	end, ok := r.a.Goal.Reached()
	if !ok {
		return s, nil, false
	}
	if end.Reason.OK() {
		if next, ended, decided := r.awaitPending(s); decided {
			return next, ended, true
		}
		if next, hooked, decided := r.stopHooks(s, ans); decided {
			return next, hooked, true
		}
	}
	return s, &end, true
}

// missed sends the model back to reach the goal, or ends the turn without it. The last result
// is how the turn ends unless a stop hook decides otherwise.
func (r *run) missed(s State, ans answer) (State, *Ended, bool, Ended) {
	if r.a.Goal == nil {
		return s, nil, false, Ended{Reason: Completed}
	}
	remind, end := r.a.Goal.Missed(ans.message)
	switch {
	case remind == "" && end.Reason.OK():
		return s, nil, false, end
	case remind == "":
		return s, &end, true, end
	}
	if capped := s.capped(r.a.MaxTurns); capped != nil {
		return s, capped, true, end
	}
	r.remind(remind)
	return s.next(StopHookBlocking), nil, true, end
}
