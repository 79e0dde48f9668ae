package plain

import (
	"strings"
	"testing"
	"testing/synctest"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/prompt"
)

// TestContextCommand checks that the page fits the width and is safe for the terminal.
//
// Proves CTX-18.
func TestContextCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "say hi", func(c *setup) {
			c.Commands.Preamble.Blocks = func(agent.Model, []msg.ToolSpec) []prompt.Block {
				return []prompt.Block{{Pieces: []prompt.Piece{{Name: "a\x1b[31m section", Text: strings.Repeat("word ", 20)}}}}
			}
		})
		c.Enter("/context\n")
		for _, want := range []string{"small: 64 of 1k tokens", "  system prompt\n", "    a section\n", "  conversation, 0 messages\n"} {
			if !strings.Contains(c.Text(), want) {
				t.Errorf("%q is not in %q", want, c.Text())
			}
		}
		c.Keys.Close()
		<-c.Done
	})
}
