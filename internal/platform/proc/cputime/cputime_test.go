package cputime

import "testing"

func TestUsed(t *testing.T) {
	start := Used()
	for n := 0; Used() == start; n++ {
		if n > 1<<30 {
			t.Fatal("work takes no time")
		}
	}
	if Used() < start {
		t.Error("time went back")
	}
}
