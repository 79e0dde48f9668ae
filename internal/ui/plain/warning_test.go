package plain

import (
	"bytes"
	"strings"
	"testing"

	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
)

// TestQuestionsWarn checks that an irreversible command is presented with a warning, and that
// the proposed action comes last.
//
// Proves SHC-02.
func TestQuestionsWarn(t *testing.T) {
	var out bytes.Buffer
	dialogFor(session.Permission{Question: permission.Question{
		ID: "u", Tool: "Bash", Title: "Run rm -rf build", Warning: "This deletes files.", Reason: permission.Reason{Text: "no rule allows it"},
		Preview: tool.Changes{{Path: "a.txt", Added: 1, Hunks: []tool.Hunk{{Lines: []string{"+new"}}}}, {Path: "b.txt", Removed: 1, Hunks: []tool.Hunk{{Lines: []string{"-old"}}}}},
	}}).draw(newPrinter(Config{Out: &out, Width: func() int { return 80 }}))
	got := strings.Join(strings.Fields(out.String()), " ")
	want := "Run rm -rf build No rule allows it. ! This deletes files. would change a.txt, 1 added, 0 removed +new would change b.txt, 0 added, 1 removed -old"
	if got != want {
		t.Errorf("%q", got)
	}
}
