//go:build unix

package main

import (
	"testing"
)

// TestTerminalQuestions checks that the model can ask the user of a real terminal, also in plan
// mode, and that text typed before the question appeared does not answer it.
//
// Proves X-009.
func TestTerminalQuestions(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 100, 40, `
when last "begin"
delay 2s
use id=toolu_a AskUserQuestion {"questions":[{"question":"Which database?","header":"Database","options":[{"label":"SQLite","description":"one file","preview":"app.db"},{"label":"Postgres","description":"a server"}]},{"question":"Which features?","header":"Features","multiSelect":true,"options":[{"label":"login","description":"with passwords"},{"label":"search","description":"in full text"},{"label":"export","description":"as CSV"}]}]}
---
expect result toolu_a "Which database?\n  Postgres"
expect result toolu_a "Which features?\n  login, export, a dark mode"
say Understood.
---
when last "again"
use id=toolu_b AskUserQuestion {"questions":[{"question":"Really?","header":"Sure","options":[{"label":"yes","description":"go"},{"label":"no","description":"stop"}]}]}
---
expect result toolu_b "did not answer"
say I assume yes.
`)
	tm.enter("clear; adze --plain --model replay:model.txt --permission-mode plan")
	tm.waitFor(`^> $`)
	tm.enter("begin")
	tm.waitFor(`Database: Which database\?`)
	tm.waitFor(`1\. SQLite: one file`)
	tm.waitFor(`\| app\.db`)
	tm.enter("2")
	tm.waitFor(`Features: Which features\?`)
	tm.enter("1, 3, a dark mode")
	tm.waitFor(`Understood\.`)
	tm.enter("again")
	tm.waitFor(`Sure: Really\?`)
	tm.enter("")
	tm.waitFor(`I assume yes\.`)
}
