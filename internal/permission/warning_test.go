package permission

import (
	"context"
	"testing"

	"adze/internal/tool"
)

// Whoever is asked about a command that cannot be undone is told so, in the shell and in other languages.
//
// Proves SHC-02.
func TestQuestionsCarryAWarning(t *testing.T) {
	for command, want := range map[string]string{
		"rm -rf build":            "This deletes files.",
		"git push --force":        "This rewrites history that others may have.",
		"git reset --hard HEAD~1": "This discards changes that are not committed.",
		"touch x":                 "",
	} {
		var asked Question
		g := NewGate(GateConfig{Config: Config{Dir: "/work"}, Ask: func(_ context.Context, q Question) (Answer, error) {
			asked = q
			return Answer{Behavior: Deny}, nil
		}})
		u := newUse(t, fake{name: "Bash"}, call{Access_: []tool.Access{{Verb: tool.Execute, Target: command}}})
		if err := g.Before(t.Context(), u); err != nil || asked.Tool != "Bash" || asked.Warning != want {
			t.Errorf("%q: %q, %v", command, asked.Warning, err)
		}
	}
}
