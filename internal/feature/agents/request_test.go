package agents

import (
	"testing"

	"adze/internal/settings"
)

// TestLimits checks that the smallest configured limit applies, and that 0 is no limit.
func TestLimits(t *testing.T) {
	for _, tt := range []struct{ setting, task, want int }{{0, 0, 0}, {5, 0, 5}, {0, 3, 3}, {5, 3, 3}, {3, 5, 3}} {
		r := Request{Spec: Spec{MemoryTask: &MemoryTask{MaxTurns: tt.task}}}
		if turns, _ := r.limits(settings.Agents{MaxTurns: tt.setting}); turns != tt.want {
			t.Errorf("setting %d, task %d: %d turns, want %d", tt.setting, tt.task, turns, tt.want)
		}
	}
}
