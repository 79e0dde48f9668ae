package osproc

// GuardSelf does nothing: the system writes no image of a process unless it is asked to.
func GuardSelf() {}
