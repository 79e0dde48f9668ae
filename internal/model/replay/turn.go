package replay

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"adze/internal/model"
	"adze/internal/model/wire"
)

// A turn is the script for one request and its answer.
type turn struct {
	line  int
	times int // number of requests it answers, or forever
	// numbered is true if the script gave a number of times: {n} then expands to the request's
	// number.
	numbered bool

	takes []capture
	when  []*condition
	// expect holds the conditions for a request after the turn has been chosen.
	expect []*condition

	// The answer is either fixed, after the waits among the steps, or a message built from the
	// steps.
	fixed *fixed
	steps []step

	header http.Header
	model  string // empty: the requested one
	stop   string // empty: depends on the content
	usage  tokens
}

const forever = -1

// A fixed answer is an answer that is not built as a message.
type fixed struct {
	word string // directive, for error messages
	// drop is the error of a connection that fails before there is an answer.
	drop model.Kind
	// kind and message are an error to be encoded in the dialect; without a kind, the other
	// fields are the answer.
	kind    model.Kind
	message string

	status      int
	contentType string
	body        []byte
}

// A step is one action within a message.
type step struct {
	op   op
	line int
	// more continues the previous step's block instead of opening one.
	more bool
	text string // text of a block or delta, or raw JSON

	id, name  string // tool use ID and name
	signature string // thinking signature
	signed    bool   // signature was given and may be empty

	pieces int // number of fragments, at least 1
	every  time.Duration

	wait   time.Duration
	tokens tokens
	kind   model.Kind
}

// An op is a step's operation.
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
	// The following end the message.
	opErrorEvent
	opCut
	opReset
	opHang
)

func (o op) ends() bool { return o >= opErrorEvent }

// content reports whether the step writes to a block that may be continued or fragmented.
func (o op) content() bool { return o <= opUse }

// tokens holds the token counts given in the script.
type tokens struct {
	none  bool // report none at all
	count [wire.Counters]int
	set   [wire.Counters]bool
}

// counterNames lists the names of the counters in scripts.
var counterNames = [wire.Counters]string{"input", "cache_write", "cache_read", "output", "cache_write_1h", "web_searches"}

func (t *tokens) put(c wire.Counter, n int) { t.count[c], t.set[c] = n, true }

// withDefault returns t with counter c set to n if it is unset.
func (t tokens) withDefault(c wire.Counter, n int) tokens {
	if !t.set[c] {
		t.put(c, n)
	}
	return t
}

// counts returns the report, or nil for none.
func (t tokens) counts() wire.Counts {
	if t.none {
		return nil
	}
	counts := wire.Counts{}
	for c, set := range t.set {
		if set {
			counts[wire.Counter(c)] = t.count[c]
		}
	}
	return counts
}

// bytesPerToken is a rough estimate for turns without token counts.
const bytesPerToken = 4

func countTokens(body []byte) int { return max(1, len(body)/bytesPerToken) }

// estimate returns the turn's usage after the given bytes of content, estimating counts that
// are not in the script.
func (t *turn) estimate(q *query, content int) tokens {
	u := t.usage.withDefault(wire.InputTokens, countTokens(q.body))
	u = u.withDefault(wire.CacheWrite, 0).withDefault(wire.CacheRead, 0)
	return u.withDefault(wire.OutputTokens, max(1, content/bytesPerToken))
}

// A capture is a part of the request that the answer repeats.
type capture struct {
	name    string // name in braces
	pattern *regexp.Regexp
}

// expand replaces {n} with the request's number if the turn is numbered, and the names of takes
// with their values. q is nil while a script is being parsed.
func (t *turn) expand(s string, q *query) string {
	if t.numbered && strings.Contains(s, "{n}") {
		number := 1
		if q != nil {
			number = q.number
		}
		s = strings.ReplaceAll(s, "{n}", strconv.Itoa(number))
	}
	for _, take := range t.takes {
		if q != nil && strings.Contains(s, take.name) {
			s = strings.ReplaceAll(s, take.name, q.find(take.pattern))
		}
	}
	return s
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
func (t *turn) stopReason(uses int) model.StopReason {
	switch {
	case t.stop != "":
		return model.StopReason(t.stop)
	case uses > 0:
		return model.StopTools
	default:
		return model.StopEnd
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
