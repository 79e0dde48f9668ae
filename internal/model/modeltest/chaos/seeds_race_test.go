//go:build race

package chaos_test

// seeds is a share: the race detector finds what it finds in fewer runs, and all of them run without it.
const seeds = 200
