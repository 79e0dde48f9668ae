package ask

import (
	"testing"

	"adze/internal/permission"
	"adze/internal/tool"
)

// TestQuestion checks that a question is a real question about the call.
//
// Proves PERM-17.
func TestQuestion(t *testing.T) {
	plan := &permission.Draft{Draft: tool.Draft{Plan: &tool.Plan{Asks: []string{"run the tests", "build"}}}}
	for want, q := range map[string]permission.Question{
		"Run this command?":               {Tool: "Bash", Title: "Run make", Command: "make"},
		"Apply this edit to a.go?":        {Title: "Edit a.go", Preview: tool.Diff{Added: 1}},
		"Apply this edit to b.go?":        {Title: "Edit b.go.", Preview: tool.Diff{Partial: true}},
		"Create c.go (3 lines)?":          {Title: "Write c.go", Preview: tool.Diff{Created: true, Added: 3}},
		"Create d.go?":                    {Title: "Write d.go", Preview: tool.Diff{Created: true, Partial: true}},
		"Fetch https://example.com?":      {Title: "Fetch https://example.com"},
		"Run this tool of the server db?": {Tool: "mcp__db__drop", Title: "db: drop", Server: "db"},
		"Do you agree?":                   {Title: "Plan before acting", Consent: "Yes switches to plan mode."},
		"Use Thing?":                      {Tool: "Thing"},
		"Go ahead with this plan? Yes also allows: run the tests; build.": {Title: "Present the plan", Draft: plan, Consent: "Yes approves it."},
	} {
		if got := Question(&q); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
