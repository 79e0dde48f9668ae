package wire

import (
	"encoding/json"
	"fmt"
	"testing"

	"adze/internal/app/conversation"
	"adze/internal/app/toolbox"
	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
	"adze/internal/tools/mcptool"
)

// BenchmarkPoolOfServers measures the cost per iteration with 2,000 unchanged server tools. The
// limit is 200 µs.
func BenchmarkPoolOfServers(b *testing.B) {
	var offered []mcp.OfferedTool
	for i := range 40 {
		e := &roster.Entry{Name: fmt.Sprint("server", i)}
		for j := range 50 {
			offered = append(offered, mcp.OfferedTool{Server: e, Tool: mcp.Tool{Name: fmt.Sprint("do_something_", j), Schema: json.RawMessage(`{"type":"object"}`)}})
		}
	}
	set := mcptool.NewSet(mcptool.Config{})
	gate := permission.NewGate(permission.GateConfig{})
	for i := range 20 {
		gate.AddRule(rule.Rule{Tool: fmt.Sprint("mcp__other", i), Behavior: permission.Deny, Scope: scope.User})
	}
	denied := conversation.Denied(nil, AccessSpec{}, gate, conversation.Offer{})
	r := toolbox.Registry(nil, gate)
	r.Deferred = func(string, *tool.Traits) bool { return true }
	first, _ := r.Assemble(set.Tools(offered), denied)
	b.ReportAllocs()
	for b.Loop() {
		if p, _ := r.Assemble(set.Tools(offered), denied); p != first {
			b.Fatal("another pool")
		}
	}
}
