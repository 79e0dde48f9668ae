package chat

import (
	"adze/internal/msg"
	"adze/internal/platform/jsonscan"
)

// A tally keeps the usage of one answer. Reports are cumulative, so a later one replaces an earlier one.
type tally struct {
	prompt, completion, sum, cached, written, reasoning int

	final bool // there was a report
	odd   bool // a number made no sense
	text  int  // bytes of output, for the estimate
}

// usage takes in a report, and tells whether it was one.
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

// nestedUsage takes in a report that is a member of something else.
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

// number reads a count. A nonsensical one is not believed.
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
	// What was read from the cache or written to it is counted in the prompt too.
	u.CacheRead = min(t.cached, u.Input)
	u.Input -= u.CacheRead
	u.CacheWrite = min(t.written, u.Input)
	u.Input -= u.CacheWrite
	if t.reasoning > 0 && t.sum == t.prompt+t.completion+t.reasoning { // some servers count reasoning apart
		u.Output += t.reasoning
	}
	return u
}

// estimate returns the usage as far as it can be told without a report at the end.
func (t *tally) estimate() msg.Usage {
	final := *t
	final.final, final.odd = true, true
	final.completion = max(t.completion, (t.text+3)/4)
	if final.prompt == 0 && final.completion == 0 {
		return msg.Usage{Estimated: true}
	}
	return final.total()
}
