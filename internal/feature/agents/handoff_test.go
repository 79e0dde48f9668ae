package agents

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"adze/internal/msg"
	"adze/internal/permission/judge"
)

// TestWorkIsBounded checks that the record of an agent's work is bounded: the last calls and a
// count.
//
// Proves AGENT-35.
func TestWorkIsBounded(t *testing.T) {
	var w activity
	huge := strings.Repeat("x", 1<<16)
	for i := range 10 * judge.MaxWork {
		w.note(&msg.ToolUse{Name: "Write", Input: json.RawMessage(fmt.Sprintf(`{"file_path":"%d","content":"%s"}`, i, huge))})
	}
	if w.calls != 10*judge.MaxWork || len(w.lately) != judge.MaxWork {
		t.Errorf("%d of %d calls are kept", len(w.lately), w.calls)
	}
	if last := w.lately[judge.MaxWork-1]; !strings.HasPrefix(last, fmt.Sprintf(`Write {"file_path":"%d"`, w.calls-1)) {
		t.Errorf("the last call is %s", last)
	}
	if size := len(strings.Join(w.lately, "\n")); size > 100_000 {
		t.Errorf("%d bytes are kept", size)
	}
}
