//go:build race

package chaos_test

// seeds is smaller under the race detector, which needs fewer runs; all of them run without it.
const seeds = 200
