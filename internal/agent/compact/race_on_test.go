//go:build race

package compact_test

// slowdown is the approximate cost factor of the race detector.
const slowdown = 8
