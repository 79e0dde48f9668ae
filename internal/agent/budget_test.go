package agent

import "testing"

// Proves LOOP-30.
func TestBudgetIn(t *testing.T) {
	for prompt, want := range map[string]int{
		"port it to Go +500k": 500_000, "+2M write all tests": 2_000_000, "go on +1.5k": 1500, "go on +64000": 64_000, "x\n+10k\n": 10_000,
		"+500k": 0, "": 0, "add +500k to the sum": 0, "go on 500k": 0, "go on -500k": 0, "go on +": 0, "go on +k": 0, "go on +1e9": 0,
		"go on +999": 0, "go on +1.2.3k": 0, "go on +2000m": 0, "go on +kk": 0, "go on ++5k": 0, "go on +inf": 0, "go on +0x10k": 0,
		"go on +99999999999999999999999999999999k": 0,
	} {
		if got := BudgetIn(prompt); got != want {
			t.Errorf("%q: %d, want %d", prompt, got, want)
		}
	}
}
