package agent

import (
	"adze/internal/msg"
)

// A Goal is what a turn has to come to, beyond the model having nothing more to do. One serves one
// turn, from one goroutine.
type Goal interface {
	// Reached is asked after the calls of each response. True ends the turn as it says.
	Reached() (Ended, bool)
	// Missed is asked when the model has nothing more to do. It returns what to tell the model so that
	// it goes on, or else how the turn ends.
	Missed(last msg.Message) (remind string, end Ended)
}

// reached ends a turn that came to what it should. Stop hooks may still send the model back.
func (r *run) reached(s State, ans answer) (State, *Ended, bool) {
	if r.a.Goal == nil {
		return s, nil, false
	}
	end, ok := r.a.Goal.Reached()
	if !ok {
		return s, nil, false
	}
	if end.Reason.OK() {
		if next, ended, decided := r.promised(s); decided {
			return next, ended, true
		}
		if next, hooked, decided := r.stopHooks(s, ans); decided {
			return next, hooked, true
		}
	}
	return s, &end, true
}

// missed sends the model back for what the turn has to come to, or ends the turn without it. The last
// result is how the turn ends if nothing else has to be seen to.
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
