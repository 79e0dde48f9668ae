package headless

import "adze/internal/ui/streamjson"

// state tells the host whether the session is idle, running or waiting for an answer, if it wants to know and that has changed. It is
// called from the goroutine that prints.
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
	changed := now != sv.told
	sv.told = now
	sv.mu.Unlock()
	if !changed {
		return
	}
	o := streamjson.System("session_state_changed")
	o.Str("state", now)
	sv.f.emit(o)
}
