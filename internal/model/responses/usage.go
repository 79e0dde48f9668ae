package responses

import (
	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// A tally tracks the usage of one answer. It is reported once, at the end.
type tally struct {
	usage msg.Usage
	input bool // the input was reported
	final bool // the output was reported
	text  int  // output bytes, for the estimate
}

// add applies a report and returns whether there was one. The server counts cache reads as
// input and reasoning as output.
func (t *tally) add(report []byte) bool {
	if len(report) == 0 || report[0] != '{' {
		return false
	}
	cached, found := 0, false
	err := jsonscan.Object(report, func(name, value []byte) error {
		switch string(name) {
		case "input_tokens":
			t.usage.Input, t.input = t.count(value)
		case "output_tokens":
			t.usage.Output, t.final = t.count(value)
		case "input_tokens_details":
			if value[0] != '{' {
				return nil
			}
			return jsonscan.Object(value, func(name, value []byte) error {
				if string(name) == "cached_tokens" {
					cached, found = t.count(value)
				}
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return false
	}
	if found && cached <= t.usage.Input {
		t.usage.Input -= cached
		t.usage.CacheRead = cached
	}
	return true
}

// count returns a reported number; an implausible one counts as unknown.
func (t *tally) count(value []byte) (int, bool) {
	const absurd = 1e12
	n, ok := jsonscan.Int(value)
	if !ok || n < 0 || n > absurd {
		t.usage.Estimated = t.usage.Estimated || !jsonscan.IsNull(value)
		return 0, false
	}
	return n, true
}

// estimate fills in missing numbers and reports whether that changed anything.
func (t *tally) estimate() bool {
	before := t.usage
	if !t.input {
		t.usage.Estimated = true
	}
	if !t.final {
		t.usage.Estimated = true
		t.usage.Output = max(t.usage.Output, (t.text+3)/4)
	}
	return t.usage != before
}
