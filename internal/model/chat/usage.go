package chat

import (
	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// A tally tracks the usage of one answer. Reports are cumulative, so a later one replaces an
// earlier one.
type tally struct {
	prompt, completion, sum, cached, written, reasoning int

	final bool // a report was received
	odd   bool // a number was implausible
	text  int  // output bytes, for the estimate
}

// usage handles a report and returns whether it was one.
func (d *decoder) usage(raw []byte) bool {
	if raw == nil || raw[0] != '{' {
		return false
	}
	s := jsonscan.Scanner{}
	s.Reset(raw)
	d.tally.read(&s)
	d.tally.final = true
	return true
}

// nestedUsage handles a report nested in another member.
func (d *decoder) nestedUsage(raw []byte) {
	if raw == nil || raw[0] != '{' {
		return
	}
	s := jsonscan.Scanner{}
	s.Reset(raw)
	s.Object()
	for {
		name, ok := s.Member()
		if !ok {
			return
		}
		if string(name) == "usage" {
			d.usage(s.Raw())
		} else {
			s.Skip()
		}
	}
}

func (t *tally) read(s *jsonscan.Scanner) {
	s.Object()
	for {
		name, ok := s.Member()
		if !ok {
			return
		}
		switch string(name) {
		case "prompt_tokens":
			t.number(s, &t.prompt)
		case "completion_tokens":
			t.number(s, &t.completion)
		case "total_tokens":
			t.number(s, &t.sum)
		case "cached_tokens", "prompt_cache_hit_tokens":
			t.number(s, &t.cached)
		case "cache_write_tokens":
			t.number(s, &t.written)
		case "reasoning_tokens":
			t.number(s, &t.reasoning)
		case "prompt_tokens_details", "completion_tokens_details":
			if s.Kind() == '{' {
				t.read(s)
			} else {
				s.Skip()
			}
		default:
			s.Skip()
		}
	}
}

// number reads a count and ignores implausible values.
func (t *tally) number(s *jsonscan.Scanner, to *int) {
	if s.Kind() != '0' {
		s.Skip()
		return
	}
	const absurd = 1e12
	if n, _ := s.Number(); n >= 0 && n <= absurd {
		*to = int(n)
	} else {
		t.odd = true
	}
}

// total returns the usage of the whole answer.
func (t *tally) total() msg.Usage {
	if !t.final || t.prompt == 0 && t.completion == 0 {
		return t.estimate()
	}
	u := msg.Usage{Input: t.prompt, Output: t.completion, Estimated: t.odd}
	// Cache reads and writes are also counted in the prompt.
	u.CacheRead = min(t.cached, u.Input)
	u.Input -= u.CacheRead
	u.CacheWrite = min(t.written, u.Input)
	u.Input -= u.CacheWrite
	if t.reasoning > 0 && t.sum == t.prompt+t.completion+t.reasoning { // some servers count reasoning separately
		u.Output += t.reasoning
	}
	return u
}

// estimate returns the best estimate of the usage without a final report.
func (t *tally) estimate() msg.Usage {
	final := *t
	final.final, final.odd = true, true
	final.completion = max(t.completion, (t.text+3)/4)
	if final.prompt == 0 && final.completion == 0 {
		return msg.Usage{Estimated: true}
	}
	return final.total()
}
