package compact_test

import (
	"fmt"
	"testing"

	"adze/internal/agent/compact"
	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// BenchmarkClear measures the per-request cost of clearing a long conversation.
func BenchmarkClear(b *testing.B) {
	talk := new(talk).say("go")
	for i := range 250 {
		talk.call("Read", fmt.Sprint(i, " ", of(400)))
	}
	c := compact.Clearer{Clearable: func(*msg.ToolUse) bool { return true }}
	g := tokens.New("m")
	list := messagesOf(talk)
	for b.Loop() {
		view, _ := c.Clear(list, need(list, g), g)
		g.Messages(view...)
	}
}
