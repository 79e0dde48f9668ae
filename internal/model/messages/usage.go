package messages

import "adze/internal/msg"

// wireUsage is a usage report. Numbers that a server omits are nil.
type wireUsage struct {
	Input      *float64 `json:"input_tokens"`
	Output     *float64 `json:"output_tokens"`
	CacheRead  *float64 `json:"cache_read_input_tokens"`
	CacheWrite *float64 `json:"cache_creation_input_tokens"`
	Creation   struct {
		Hour *float64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Server struct {
		WebSearches *float64 `json:"web_search_requests"`
	} `json:"server_tool_use"`
}

// A reportTime is the point in a response at which a report came.
type reportTime uint8

const (
	opening reportTime = iota // reported at the start: the output has hardly begun
	latest                    // reported during or after the content
)

// A tally tracks the usage of one response. Reports are cumulative, so a later one replaces an
// earlier one.
type tally struct {
	usage msg.Usage
	input bool // the input was reported
	final bool // the output was reported at the end
	text  int  // output bytes, for the estimate
}

// add applies a report and returns whether there was one.
func (t *tally) add(w *wireUsage, when reportTime) bool {
	if w == nil {
		return false
	}
	// A zero never replaces an input count, because some servers repeat the fields without the
	// numbers.
	for _, n := range []struct {
		report *float64
		count  *int
	}{
		{w.Input, &t.usage.Input},
		{w.CacheRead, &t.usage.CacheRead},
		{w.CacheWrite, &t.usage.CacheWrite},
		{w.Creation.Hour, &t.usage.CacheWrite1h},
		{w.Server.WebSearches, &t.usage.WebSearches},
	} {
		if t.known(n.report) && *n.report > 0 {
			*n.count = int(*n.report)
		}
	}
	t.input = t.input || t.known(w.Input)
	if t.known(w.Output) {
		t.usage.Output = int(*w.Output)
		t.final = t.final || when == latest
	}
	return true
}

// known reports whether a number was given; an implausible one counts as unknown.
func (t *tally) known(n *float64) bool {
	const absurd = 1e12
	if n == nil {
		return false
	}
	if *n < 0 || *n > absurd {
		t.usage.Estimated = true
		return false
	}
	return true
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
