package wire

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestAgentsWithoutALog checks that agents whose conversations cannot be saved still work, and
// that the user is notified once.
//
// Proves SESS-16.
func TestAgentsWithoutALog(t *testing.T) {
	p := newPlace(t)
	p.Write("home/.adze/settings.json", `{"sessionMemory":{"enabled":false}}`)
	launch := "use Agent {\"description\":\"look\",\"prompt\":\"Look.\",\"subagent_type\":\"general-purpose\"}\n"
	c := p.chat("when system \"whole task\"\nforever\nsay Looked.\n---\nsay Hello.\n---\n"+launch+launch+"---\nexpect last \"Looked.\"\nsay Done.", nil)
	c.say("Hello.")
	rel, err := filepath.Rel(p.Root, c.record.Folder())
	if err != nil {
		t.Fatal(err)
	}
	p.Write(rel+"/subagents", "in the way")
	c.say("Go.")
	if said := p.said.String(); strings.Count(said, "agent records can't be saved") != 1 || strings.Count(said, "\n") != 1 {
		t.Errorf("unexpected output %q", said)
	}
}
