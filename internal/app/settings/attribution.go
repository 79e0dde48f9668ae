package settings

import (
	"strings"
	"unicode"

	"adze/internal/platform/config"
	"adze/internal/tool/command"
)

// maxAttribution is how many characters of a text are used.
const maxAttribution = 500

// attribution returns what the model ends commit messages and pull requests with.
func attribution(s *config.Settings) (a command.Attribution) {
	if s.Bool("includeCoAuthoredBy") {
		a.Commit, a.PullRequest = attributionText(s.Text("attribution.commit")), attributionText(s.Text("attribution.pr"))
	}
	return a
}

// attributionText returns a text within bounds and without characters that are not seen.
func attributionText(text string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > maxAttribution {
		text = string(runes[:maxAttribution])
	}
	return strings.TrimSpace(text)
}
