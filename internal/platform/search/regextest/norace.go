//go:build !race

package regextest

// Race says that the race detector slows everything down.
const Race = false
