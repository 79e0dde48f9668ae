package sandbox

import (
	"errors"
	"testing"
)

// TestProbe checks that a tier is tested once for all sandboxes of a probe, whether it passes
// or not, and that another tier, or the same tier with other mechanisms, is tested separately.
func TestProbe(t *testing.T) {
	var p Probe
	failed := errors.New("its self-test failed")
	tests := map[probeKey]int{}
	try := func(key probeKey, outcome error) error {
		return p.result(key, func() error { tests[key]++; return outcome })
	}
	passes := probeKey{tier: Bubblewrap, detail: "bwrap", home: "/home/a", helper: "/bin/adze"}
	fails, other := passes, passes
	fails.tier, other.detail = Landlock, "another bwrap"
	for range 2 {
		if err := try(passes, nil); err != nil {
			t.Errorf("passed before: %v", err)
		}
		if err := try(fails, failed); err != failed {
			t.Errorf("failed before: %v", err)
		}
		if err := try(other, failed); err != failed {
			t.Errorf("another program: %v", err)
		}
	}
	for key, n := range tests {
		if n != 1 {
			t.Errorf("%+v was tested %d times", key, n)
		}
	}
}
