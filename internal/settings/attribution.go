package settings

import (
	"strings"
	"unicode"

	"adze/internal/settings/config"
	"adze/internal/tool/command"
)

// maxAttribution is the maximum length of an attribution text, in characters.
const maxAttribution = 500

// attribution returns the trailers for commit messages and pull requests.
func attribution(s *config.Settings) (a command.Attribution) {
	if s.Bool("includeCoAuthoredBy") {
		a.Commit, a.PullRequest = attributionText(s.Text("attribution.commit")), attributionText(s.Text("attribution.pr"))
	}
	return a
}

// attributionText truncates a text and removes invisible characters.
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
