package regextest

import (
	"os"
	"strconv"
	"testing"
)

// Seed returns RAPID_SEED, which scripts/test changes once a day, or 1 without it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	text := os.Getenv("RAPID_SEED")
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("RAPID_SEED: %v", err)
	}
	t.Logf("RAPID_SEED=%d", seed)
	return seed
}
