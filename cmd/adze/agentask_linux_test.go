package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestTerminalOneAnswerForAgents checks that a permanent permission granted to one agent
// applies to the other waiting agents without another prompt, and that the program's messages
// appear on separate lines.
//
// Proves AGENT-10, PERM-17, PERM-20.
func TestTerminalOneAnswerForAgents(t *testing.T) {
	tm := newTerminal(t, 100, 40, `when no-tool Agent
when messages 1
forever
use Bash {"command":"mkdir -p made","description":"Make a directory"}
---
when no-tool Agent
forever
say Made.
---
use Agent {"description":"one","prompt":"Make it","subagent_type":"general-purpose"}
use Agent {"description":"two","prompt":"Make it","subagent_type":"general-purpose"}
use Agent {"description":"three","prompt":"Make it","subagent_type":"general-purpose"}
---
say All three are back.
`)
	tm.enter("clear; git init -q .; adze --model replay:model.txt")
	tm.waitFor(`^❯ `)
	tm.enter("go")
	tm.answer(`\) asks `, "2")
	tm.waitFor(`All three are back\.`)
	screen := tm.screen()
	if n := strings.Count(screen, ") asks "); n != 1 {
		t.Errorf("%d questions:\n%s", n, screen)
	}
	if !strings.Contains(screen, "\nadze: ") || !regexp.MustCompile(`keeps\s+out\s+of\s+git\n`).MatchString(screen) {
		t.Errorf("what was said is not on its own:\n%s", screen)
	}
	tm.enter("/exit")
}

// TestTerminalAgentsThatWereCut checks that resuming a killed session lists the agents that
// were running.
//
// Proves AGENT-39, SESS-22.
func TestTerminalAgentsThatWereCut(t *testing.T) {
	tm := newTerminal(t, 100, 40, `when no-tool Agent
forever
delay 600s
say Never.
---
use Agent {"description":"look around","prompt":"Look","subagent_type":"general-purpose"}
`)
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`^❯ `)
	tm.enter("go")
	tm.waitFor(`look around +general-purpose`)
	tm.kill()
	tm.enter("") // the shell resets the terminal
	tm.enter("clear; adze --continue --model replay:model.txt")
	tm.waitFor(`These were at work when it ended, and have stopped: agent "look around"\.`)
	tm.enter("/exit")
}
