package skills

import "fmt"

// maxFork is the maximum length of a fork's returned answer, in characters.
const maxFork = 40_000

// CutEnd truncates a fork's answer to the maximum length.
func CutEnd(text string) string {
	if text == "" {
		return "The skill ended without an answer."
	}
	if r := []rune(text); len(r) > maxFork {
		return string(r[:maxFork]) + fmt.Sprintf("\n[Cut: the answer has %d characters.]", len(r))
	}
	return text
}
