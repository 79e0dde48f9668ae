//go:build !race

package compact_test

const slowdown = 1
