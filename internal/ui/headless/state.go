package headless

import "adze/internal/ui/streamjson"

// state notifies the host that the session is idle, running or waiting for an answer, if the
// host wants it and the state has changed. It is called from the printing goroutine.
func (sv *server) state(busy bool) {
	if !sv.h.States {
		return
	}
	now := "idle"
	switch {
	case sv.pending.asks():
		now = "requires_action"
	case busy:
		now = "running"
	}
	sv.mu.Lock()
	changed := now != sv.lastState
	sv.lastState = now
	sv.mu.Unlock()
	if !changed {
		return
	}
	o := streamjson.System("session_state_changed")
	o.Str("state", now)
	sv.f.emit(o)
}
