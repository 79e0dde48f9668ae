package replay

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"adze/internal/model"
)

// A turn is what the script says about one request and its answer.
type turn struct {
	line  int
	times int // how many requests it answers, or forever
	// numbered is set when the script said how often: then {n} stands for the request's number.
	numbered bool

	when []*condition
	// expect holds what is demanded of a request that the turn has been chosen for.
	expect []*condition

	// The answer is either fixed, after the waits among the steps, or a message made of the steps.
	fixed *fixed
	steps []step

	header http.Header
	model  string // empty: as asked
	stop   string // empty: by the content
	usage  tokens
}

const forever = -1

// A fixed answer is one that is not built as a message.
type fixed struct {
	word        string // the directive, for messages about it
	drop        model.Kind
	status      int
	contentType string
	body        []byte
}

// A step is one action within a message.
type step struct {
	op   op
	line int
	// more continues the block of the step before instead of opening one.
	more bool
	text string // of a block or delta, or raw JSON

	id, name  string // of a tool use
	signature string // of thinking
	signed    bool   // signature was given, and may be empty

	pieces int // number of fragments, at least 1
	every  time.Duration

	wait   time.Duration
	tokens tokens
	kind   model.Kind
}

// An op is what a step does.
type op uint8

const (
	opText op = iota
	opThink
	opUse
	opBlock // a raw content block
	opEvent // a raw event
	opPing
	opUsage
	opWait
	opGarble
	// The rest end the message.
	opErrorEvent
	opCut
	opReset
	opHang
)

func (o op) ends() bool { return o >= opErrorEvent }

// content reports whether the step writes into a block that may be continued or fragmented.
func (o op) content() bool { return o <= opUse }

// A counter is one of the token counts that a script can set.
type counter uint8

const (
	inputTokens counter = iota
	cacheWrite
	cacheRead
	outputTokens
	cacheWrite1h
	webSearches
	counters
)

// tokens are token counts, as far as the script gives them.
type tokens struct {
	none  bool // report none at all
	count [counters]int
	set   [counters]bool
}

// counterNames are the names of the counters in scripts.
var counterNames = [counters]string{"input", "cache_write", "cache_read", "output", "cache_write_1h", "web_searches"}

func (t *tokens) put(c counter, n int) { t.count[c], t.set[c] = n, true }

// or returns t with n for c where t has nothing.
func (t tokens) or(c counter, n int) tokens {
	if !t.set[c] {
		t.put(c, n)
	}
	return t
}

// appendJSON appends the counts that are set in the wire's form.
func (t tokens) appendJSON(dst []byte) []byte {
	wire := [counters]struct{ before, after string }{
		inputTokens:  {`"input_tokens":`, ``},
		cacheWrite:   {`"cache_creation_input_tokens":`, ``},
		cacheRead:    {`"cache_read_input_tokens":`, ``},
		outputTokens: {`"output_tokens":`, ``},
		cacheWrite1h: {`"cache_creation":{"ephemeral_1h_input_tokens":`, `}`},
		webSearches:  {`"server_tool_use":{"web_search_requests":`, `}`},
	}
	dst = append(dst, '{')
	sep := ""
	for c, w := range wire {
		if t.set[c] {
			dst = append(dst, sep...)
			dst = append(dst, w.before...)
			dst = strconv.AppendInt(dst, int64(t.count[c]), 10)
			dst = append(dst, w.after...)
			sep = ","
		}
	}
	return append(dst, '}')
}

// expand puts the request's number in the place of {n} where the turn is numbered.
func (t *turn) expand(s string, number int) string {
	if !t.numbered || !strings.Contains(s, "{n}") {
		return s
	}
	return strings.ReplaceAll(s, "{n}", strconv.Itoa(number))
}

func (t *turn) suits(q *query) bool {
	for _, c := range t.when {
		if ok, _ := c.holds(q, t); !ok {
			return false
		}
	}
	return true
}

// stopReason returns the stop reason of a message with or without tool uses.
func (t *turn) stopReason(uses int) string {
	switch {
	case t.stop != "":
		return t.stop
	case uses > 0:
		return string(model.StopTools)
	default:
		return string(model.StopEnd)
	}
}

// waits returns the sum of all pauses in the turn.
func (t *turn) waits() time.Duration {
	var sum time.Duration
	for _, s := range t.steps {
		sum += s.wait + time.Duration(max(0, s.pieces-1))*s.every
	}
	return sum
}
