package reminder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/platform/text/texts"
)

// Proves CTX-10, X-149.
func TestTexts(t *testing.T) {
	for _, problem := range catalogue.Check() {
		t.Error(problem)
	}
}

// TestPlan checks that the model should read an existing earlier plan.
func TestPlan(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.md")
	for _, plan := range []string{"", "Step one."} {
		if err := os.WriteFile(file, []byte(plan), 0o600); err != nil {
			t.Fatal(err)
		}
		for l, words := range map[texts.Language]string{texts.English: "earlier plan", texts.Chinese: "先前的计划"} {
			if got := Plan(l, file, true); strings.Contains(got, "ExitPlanMode") {
				t.Errorf("where no one can approve it: %s", got)
			}
			got := Plan(l, file, false)
			if strings.Contains(got, words) != (plan != "") || !strings.Contains(got, file) || !strings.Contains(got, "ExitPlanMode") {
				t.Errorf("%s, with the plan %q: %s", l, plan, got)
			}
		}
	}
}
