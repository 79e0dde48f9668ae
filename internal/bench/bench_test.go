package main

import (
	"runtime"
	"testing"
)

// Proves LOOP-52.
func TestLongSessionStaysFlat(t *testing.T) {
	b, err := build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.flat(); err != nil {
		t.Fatal(err)
	}
	if b.missed > 0 || b.last == 0 && runtime.GOOS == "linux" {
		t.Errorf("peak memory %.1f MB", b.last)
	}
}
