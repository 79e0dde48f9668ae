package window

import (
	"context"
	"encoding/json"
	"testing"

	"adze/internal/msg"
	"adze/internal/tool"
)

// TestClearableLater checks that results of a tool whose server connects late become clearable.
func TestClearableLater(t *testing.T) {
	late := tool.New(tool.Def{Name: "Late", Doc: "Late", Schema: json.RawMessage(`{"type":"object"}`), Traits: tool.Traits{Clearable: true}},
		func(context.Context, struct{}, func(tool.Progress)) (tool.Result, error) { return tool.Result{}, nil })
	registry := tool.NewRegistry()
	var connected []tool.Tool
	w := New(Config{}, Conversation{Pool: func() *tool.Pool {
		pool, _ := registry.Assemble(connected, nil)
		return pool
	}})
	use := msg.NewToolUse("u1", "Late", "{}")
	if w.clearable(use) {
		t.Error("an unknown tool's results may be cleared")
	}
	if connected = append(connected, late); !w.clearable(use) {
		t.Error("the tool's results may not be cleared after its server has connected")
	}
}
