//go:build !race

package chaos_test

// seeds is the number of runs each dialect must survive.
const seeds = 2000
