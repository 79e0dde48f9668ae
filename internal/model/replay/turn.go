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

// A turn is what the script says about one request and its answer.
type turn struct {
	line  int
	times int // how many requests it answers, or forever
	// numbered is set when the script said how often: then {n} stands for the request's number.
	numbered bool

	takes []take
	when  []*condition
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
	word string // the directive, for messages about it
	// drop is the error of a connection that fails before there is an answer.
	drop model.Kind
	// kind and message are an error that the dialect spells; without a kind the rest is the answer.
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

// tokens are token counts, as far as the script gives them.
type tokens struct {
	none  bool // report none at all
	count [wire.Counters]int
	set   [wire.Counters]bool
}

// counterNames are the names of the counters in scripts.
var counterNames = [wire.Counters]string{"input", "cache_write", "cache_read", "output", "cache_write_1h", "web_searches"}

func (t *tokens) put(c wire.Counter, n int) { t.count[c], t.set[c] = n, true }

// or returns t with n for c where t has nothing.
func (t tokens) or(c wire.Counter, n int) tokens {
	if !t.set[c] {
		t.put(c, n)
	}
	return t
}

// counts returns the report, or nil if there is none.
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

// bytesPerToken is a rough measure, for turns that do not say what they cost.
const bytesPerToken = 4

func countTokens(body []byte) int { return max(1, len(body)/bytesPerToken) }

// estimate returns the turn's usage after the given bytes of content, estimated as far as the script
// says nothing.
func (t *turn) estimate(q *query, content int) tokens {
	u := t.usage.or(wire.InputTokens, countTokens(q.body))
	u = u.or(wire.CacheWrite, 0).or(wire.CacheRead, 0)
	return u.or(wire.OutputTokens, max(1, content/bytesPerToken))
}

// A take is a part of the request that the answer repeats.
type take struct {
	name    string // in braces
	pattern *regexp.Regexp
}

// expand puts the request's number in the place of {n} where the turn is numbered, and what the turn takes of the
// request in the place of its name. While a script is parsed there is no request.
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
