package compact_test

import (
	"fmt"
	"testing"

	"adze/internal/agent/compact"
	"adze/internal/model/tokens"
)

// BenchmarkClear is what a request of a long conversation costs before it is sent.
func BenchmarkClear(b *testing.B) {
	talk := new(talk).say("go")
	for i := range 250 {
		talk.call("Read", fmt.Sprint(i, " ", of(400)))
	}
	c := compact.Clearer{Clearable: func(string) bool { return true }}
	g := tokens.New("m")
	list := messagesOf(talk)
	for b.Loop() {
		view, _ := c.Clear(list, 0, g)
		g.Messages(view...)
	}
}
