//go:build !race

package regextest

// Race is true if the race detector is enabled, which slows down everything.
const Race = false
