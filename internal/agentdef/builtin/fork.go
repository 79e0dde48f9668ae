package builtin

import (
	"strings"

	"adze/internal/platform/texts"
)

// ForkTag is the tag around what a fork is told. It is how a conversation is recognised as that of a fork.
const ForkTag = "fork-directive"

const (
	openFork  = "<" + ForkTag + ">"
	closeFork = "</" + ForkTag + ">"
)

// Fork returns what a fork is told as the last text of its first request: the rules for forks, and its task. Nothing else
// differs between the forks of one response.
func Fork(l texts.Language, task string) string { return forkWith(l, task, "") }

// ForkIn returns the same for a fork whose working copy is not that of the main agent.
func ForkIn(l texts.Language, task, own, main string) string {
	return forkWith(l, task, "\n\n"+catalogue.Text(l, "fork.worktree", own, main))
}

func forkWith(l texts.Language, task, more string) string {
	task = strings.NewReplacer(openFork, "&lt;"+ForkTag+">", closeFork, "&lt;/"+ForkTag+">").Replace(task)
	return openFork + "\n" + catalogue.Text(l, "fork", task) + more + "\n" + closeFork
}

// IsFork reports whether a text of a message is what a fork is told; see [Fork].
func IsFork(text string) bool {
	return strings.HasPrefix(text, openFork) && strings.HasSuffix(text, closeFork)
}

// ForkPending returns the result that each call of a response has for the forks that it launches.
func ForkPending(l texts.Language) string { return catalogue.Text(l, "fork.pending") }
