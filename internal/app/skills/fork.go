package skills

import "fmt"

// maxFork is how much of what a fork says in the end comes back, in characters.
const maxFork = 40_000

// CutEnd returns as much of a text as comes back from a fork.
func CutEnd(text string) string {
	if text == "" {
		return "The skill ended without an answer."
	}
	if r := []rune(text); len(r) > maxFork {
		return string(r[:maxFork]) + fmt.Sprintf("\n[Cut: the answer has %d characters.]", len(r))
	}
	return text
}
