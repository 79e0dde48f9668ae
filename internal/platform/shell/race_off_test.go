//go:build !race

package shell

const slowdown = 1
