package builtin

import (
	"strings"

	"adze/internal/platform/text/texts"
)

// ForkTag is the tag around a fork's directive. It identifies a conversation as a fork.
const ForkTag = "fork-directive"

const (
	openFork  = "<" + ForkTag + ">"
	closeFork = "</" + ForkTag + ">"
)

// Fork returns the directive for a fork, which is the last text of its first request: the rules
// for forks, and its task. Nothing else differs between the forks of one response.
func Fork(l texts.Language, task string) string { return forkWith(l, task, "") }

// ForkIn is like Fork for a fork that does not share the main agent's working copy.
func ForkIn(l texts.Language, task, own, main string) string {
	return forkWith(l, task, "\n\n"+catalogue.Text(l, "fork.worktree", own, main))
}

func forkWith(l texts.Language, task, more string) string {
	task = strings.NewReplacer(openFork, "&lt;"+ForkTag+">", closeFork, "&lt;/"+ForkTag+">").Replace(task)
	return openFork + "\n" + catalogue.Text(l, "fork", task) + more + "\n" + closeFork
}

// IsFork reports whether text is a fork's directive; see [Fork].
func IsFork(text string) bool {
	return strings.HasPrefix(text, openFork) && strings.HasSuffix(text, closeFork)
}

// ForkPending returns the placeholder result for the calls that launch forks.
func ForkPending(l texts.Language) string { return catalogue.Text(l, "fork.pending") }
