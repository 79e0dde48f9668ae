package about

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/session/archive"
)

// Proves X-134.
func TestInsightsPage(t *testing.T) {
	s := &archive.Stats{
		Sessions: 12, Sum: archive.Work{Input: 2000, Cached: 1500},
		Tools: []archive.Use{{Name: "Bash", Times: 50}, {Name: "Edit", Times: 4}},
		Files: []archive.Use{{Name: "/work/app/main.go", Times: 31}},
		Detail: &archive.Detail{
			Failed:   []archive.Use{{Name: "Bash", Times: 10}, {Name: "Gone\x1b[2J", Times: 1}},
			Projects: []archive.ProjectUse{{Dir: "/work/app/x", Work: archive.Work{Prompts: 30, CostUSD: 1.5, Input: 10, Cached: 9}}, {Dir: "/srv"}},
		},
	}
	s.Detail.Hours[9], s.Detail.Hours[14], s.Detail.Hours[15], s.Detail.Hours[22] = 7, 20, 1, 2
	want := `Sessions:       12 in the last 30 days
Cache:          75% of the input was read from the provider's cache
Busiest hours:  14:00 (20 prompts), 09:00 (7 prompts), 22:00 (2 prompts)
Rule              calls  such as
Bash(npm test:*)     17  npm test
These calls need confirmation in this directory. To skip it, use /permissions
allow RULE; check first which other calls the rule allows.
Tool  failed or refused  of its calls
Bash                 10           20%
Gone                  1             -
File     edits
main.go     31
Project  prompts   cost  cached
x             30  $1.50     90%
/srv           0  $0.00       -
`
	got := lines(t, insightsPage(s, "in the last 30 days", []saving{{"Bash(npm test:*)", "npm test", 17}}, short))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := busiest([24]int{}); got != "" {
		t.Errorf("%q", got)
	}
}
