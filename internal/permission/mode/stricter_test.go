package mode

import "testing"

// TestStricter checks that an agent's definition can only make its mode stricter than its
// parent's.
//
// Proves AGENT-10.
func TestStricter(t *testing.T) {
	order := []Mode{Plan, DontAsk, Default, AcceptEdits, Auto, Bypass}
	for i, parent := range order {
		for j, own := range order {
			if got, want := Stricter(parent, own), order[min(i, j)]; got != want {
				t.Errorf("parent %s, definition %s: got %s, want %s", parent, own, got, want)
			}
		}
		if Stricter(parent, "") != parent || Stricter("", parent) != parent {
			t.Errorf("%s: an empty mode has a say", parent)
		}
		if Stricter(parent, "root") != "root" || Stricter("root", parent) != "root" {
			t.Errorf("%s: a mode that does not exist is not the strictest", parent)
		}
	}
}
