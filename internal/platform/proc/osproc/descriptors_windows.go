package osproc

// KeepDescriptors does nothing: programs inherit only the handles they are given.
func KeepDescriptors() {}
