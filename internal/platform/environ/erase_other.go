//go:build !linux

package environ

// erase does nothing: the initial environment cannot be found for certain here.
func erase(func(name, value string) bool) {}
