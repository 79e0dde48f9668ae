//go:build !linux && !darwin

package sandbox

func candidates() []candidate { return nil }
