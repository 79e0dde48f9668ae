package osproc

// GuardSelf does nothing: Windows doesn't write memory dumps by default.
func GuardSelf() {}
