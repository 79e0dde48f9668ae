package teams

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/permission"
	"adze/internal/tool"
)

// TestRelayedChanges checks that the lead's user sees the proposed change, not only the file
// name.
//
// Proves TEAM-09.
func TestRelayedChanges(t *testing.T) {
	diff := tool.Diff{Path: "/w/a.txt", Added: 1, Removed: 1, Hunks: []tool.Hunk{{OldStart: 1, OldLines: 1, NewStart: 1, NewLines: 1, Lines: []string{"-old", "+new"}}}}
	for _, shown := range []tool.Display{diff, tool.Changes{diff, diff}} {
		sent, err := relayed(permission.Question{Tool: "Edit", Title: "Edit a.txt", Preview: shown})
		if err != nil {
			t.Fatal(err)
		}
		q, err := received("ann", sent)
		if err != nil || q.Agent == nil || q.Agent.ID != "ann" {
			t.Fatalf("%+v, %v", q, err)
		}
		if d := cmp.Diff(tool.Diffs(shown), tool.Diffs(q.Preview)); d != "" {
			t.Errorf("(-sent +shown):\n%s", d)
		}
	}
	sent, err := relayed(permission.Question{})
	if err != nil {
		t.Fatal(err)
	}
	sent.Changes = []byte(`{"broken"`)
	if _, err := received("ann", sent); err == nil {
		t.Error("a question whose changes cannot be read was shown without them")
	}
}
