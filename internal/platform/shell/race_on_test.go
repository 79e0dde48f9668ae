//go:build race

package shell

// slowdown is how much more the race detector makes everything cost.
const slowdown = 10
