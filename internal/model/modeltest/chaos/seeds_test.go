//go:build !race

package chaos_test

// seeds is how many runs each dialect has to survive.
const seeds = 2000
