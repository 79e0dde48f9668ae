package gemini

import (
	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// A tally tracks the usage of one response. Reports are cumulative, so a later one replaces an
// earlier one.
type tally struct {
	prompt, tools, cached, answer, thoughts int

	reported  bool // a report was received
	final     bool // a report was received with or after the end
	senseless bool // a number was invalid
	text      int  // output bytes, for the estimate
	searches  int  // web searches
}

// read reads a report and returns whether there was one.
func (t *tally) read(s *jsonscan.Scanner) bool {
	if s.Kind() != '{' {
		s.Skip()
		return false
	}
	t.reported = true
	for name := range s.Members {
		switch string(name) {
		case "promptTokenCount":
			t.count(s, &t.prompt)
		case "toolUsePromptTokenCount":
			t.count(s, &t.tools)
		case "cachedContentTokenCount":
			t.count(s, &t.cached)
		case "candidatesTokenCount":
			t.count(s, &t.answer)
		case "thoughtsTokenCount":
			t.count(s, &t.thoughts)
		default:
			s.Skip()
		}
	}
	return true
}

// count reads a number; an implausible one counts as unknown.
func (t *tally) count(s *jsonscan.Scanner, into *int) {
	const absurd = 1e12
	n, ok := s.Number()
	switch {
	case !ok:
	case n < 0 || n > absurd:
		t.senseless = true
	default:
		*into = int(n)
	}
}

// usage returns the reported usage. The prompt includes cached tokens.
func (t *tally) usage() msg.Usage {
	u := msg.Usage{CacheRead: min(t.cached, t.prompt), Output: t.answer + t.thoughts, WebSearches: t.searches, Estimated: t.senseless}
	u.Input = t.prompt - u.CacheRead + t.tools
	return u
}

// estimate returns the usage with missing numbers estimated.
func (t *tally) estimate() msg.Usage {
	u := t.usage()
	if !t.reported {
		u.Estimated = true
	}
	if !t.final {
		u.Estimated = true
		u.Output = max(u.Output, (t.text+3)/4)
	}
	return u
}
