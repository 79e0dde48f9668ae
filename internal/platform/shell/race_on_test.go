//go:build race

package shell

// slowdown is the cost factor of the race detector.
const slowdown = 10
