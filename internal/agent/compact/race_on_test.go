//go:build race

package compact_test

// slowdown is how much more the race detector makes everything cost.
const slowdown = 8
