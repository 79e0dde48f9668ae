package headless

// state tells the host what the session does, when that has changed. It is called by the one who prints.
func (sv *server) state(busy bool) {
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
	o := system("session_state_changed")
	o.str("state", now)
	sv.f.emit(o)
}
