package compact_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"adze/internal/agent/compact"
	"adze/internal/model"
	"adze/internal/msg"
)

// truth counts a request's tokens independently of the gauge.
func truth(req *model.Request) int {
	n := 0
	var count func(parts []msg.Part)
	count = func(parts []msg.Part) {
		for _, p := range parts {
			switch p := p.(type) {
			case *msg.Text:
				n += len(p.Text) / 4
			case *msg.Thinking:
				n += len(p.Text) / 4
			case *msg.ToolUse:
				n += len(p.Input) / 2
			case *msg.ToolResult:
				count(p.Parts)
			case *msg.Image, *msg.Document:
				n += 2000
			}
		}
	}
	count(req.System)
	for _, m := range req.Messages {
		count(m.Parts)
	}
	return n
}

// A maker generates histories.
type maker struct {
	*rand.Rand
	talk
	size int
}

// text returns up to n tokens.
func (m *maker) text(n int) *msg.Text {
	n = 1 + m.IntN(max(1, n))
	m.size += n
	return &msg.Text{Text: filler[:min(len(filler), n*4)]}
}

var filler = strings.Repeat("some text of it ", 1<<16)

// history returns a conversation of about total tokens with every kind of content a
// conversation can have.
func (m *maker) history(total, window int) []msg.Entry {
	for m.size < total {
		m.turn(window)
	}
	switch m.IntN(4) {
	case 0: // mid-turn
		m.iteration(window, window/2)
	case 1:
		m.add(msg.Assistant, &msg.ToolUse{ID: "open", Name: "Bash", Input: []byte("{}")})
		m.add(msg.User, m.text(window/8))
	default:
		m.add(msg.User, m.text(window/4))
	}
	return m.entries
}

func (m *maker) turn(window int) {
	parts := []msg.Part{m.text(window / 20)}
	for m.IntN(6) == 0 {
		parts = append(parts, &msg.Image{MediaType: "image/png", Data: []byte("x")})
		m.size += 2000
	}
	m.add(msg.User, parts...)
	giant := 1
	if m.IntN(20) == 0 {
		giant = window * 2
	}
	for range m.IntN(8) {
		m.iteration(window, giant)
	}
	if m.IntN(8) > 0 {
		m.add(msg.Assistant, m.text(window/50))
	}
}

func (m *maker) iteration(window, giant int) {
	var uses, results []msg.Part
	if m.IntN(2) == 0 {
		uses = append(uses, &msg.Thinking{Text: m.text(200).Text, Signature: "s"})
	}
	for range 1 + m.IntN(3) {
		m.uses++
		id := fmt.Sprint("u", m.uses)
		uses = append(uses, &msg.ToolUse{ID: id, Name: []string{"Read", "Bash", "Todo"}[m.IntN(3)], Input: []byte(`{"a":"b"}`)})
		if m.IntN(12) == 0 {
			continue // never answered
		}
		res := &msg.ToolResult{ID: id, Parts: []msg.Part{m.text(max(window/40, giant))}}
		if m.IntN(15) == 0 {
			res.Parts = append(res.Parts, &msg.Image{MediaType: "image/png", Data: []byte("x")})
			m.size += 2000
		}
		results = append(results, res)
	}
	m.add(msg.Assistant, uses...)
	if len(uses) > 1 && m.IntN(5) == 0 { // stored as two records of one response
		one := m.entries[len(m.entries)-1]
		m.entries[len(m.entries)-1].Message.Parts = uses[:1]
		m.add(msg.Assistant, uses[1:]...)
		m.entries[len(m.entries)-1].ResponseID = one.ResponseID
	}
	if len(results) > 1 && m.IntN(5) == 0 { // spread over two entries
		m.add(msg.User, results[0])
		results = results[1:]
	}
	if len(results) > 0 {
		m.add(msg.User, results...)
	}
	if m.IntN(15) == 0 {
		m.add(msg.User, m.text(100))
	}
}

// whole returns an error if a segment has a result without its use or a split response.
func whole(before []msg.Entry, seg *compact.Segment) error {
	used := map[string]bool{}
	for _, e := range seg.Entries() {
		for _, p := range e.Message.Parts {
			switch p := p.(type) {
			case *msg.ToolUse:
				used[p.ID] = true
			case *msg.ToolResult:
				if !used[p.ID] {
					return fmt.Errorf("the result of %s is without its use", p.ID)
				}
			}
		}
	}
	gone := map[string]bool{}
	kept := map[string]bool{}
	for _, id := range seg.KeptIDs() {
		kept[id] = true
	}
	for _, e := range before {
		gone[e.ResponseID] = gone[e.ResponseID] || len(seg.Recast) == 0 && !kept[e.ID]
	}
	for _, e := range seg.Kept {
		if e.ResponseID != "" && gone[e.ResponseID] {
			return fmt.Errorf("response %s was split", e.ResponseID)
		}
	}
	if first := seg.Summary.Message; first.Role != msg.User || !seg.Summary.Hidden {
		return errors.New("the segment does not begin with a hidden message of the user")
	}
	return nil
}

// histories is the number of conversations to try. It is lower under the race detector, which
// makes each much slower.
const histories = 2400 / slowdown

// TestNoDeadEnd checks that for any conversation and any model behavior, the next request fits
// and is valid, and tool uses keep their results.
//
// Proves CTX-39, CTX-47.
func TestNoDeadEnd(t *testing.T) {
	tooLong := &model.Error{Kind: model.TooLong}
	models := []struct {
		name    string
		answers []say
	}{
		{"sums up", []say{{text: good}}},
		{"sums up at length", []say{{text: "<summary>" + filler[:60_000] + "</summary>"}}},
		{"says nothing", []say{{text: ""}}},
		{"calls tools", []say{{text: good, use: true}}},
		{"is cut off", []say{{text: "<summary>We", stop: model.StopMaxTokens}}},
		{"finds everything too long", []say{{err: tooLong}}},
		{"finds two too long", []say{{err: tooLong}, {err: &model.Error{Kind: model.OverWindow, Input: 300, Window: 200}}, {text: good}}},
		{"is down", []say{{err: &model.Error{Kind: model.ServerFault}}}},
	}
	shortened, summed := 0, 0
	for i := range histories {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		window := []int{12_000, 16_000, 24_000}[r.IntN(3)]
		if i%200 == 1 {
			window = 200_000
		}
		share := 0.5 + 1.5*r.Float64()
		if i%3 == 0 {
			share = 0.5 + 19.5*r.Float64()*r.Float64()
		}
		if i%100 == 0 {
			share = 20
		}
		m := maker{Rand: r}
		entries := m.history(int(share*float64(window)), window)
		how := models[i%len(models)]
		j := job(&talk{entries: entries}, window)
		s := &scribe{t: t, answers: how.answers}
		s.fits = func(req *model.Request) bool {
			if n := truth(req); n > window {
				t.Fatalf("history %d: a request for a summary of %d tokens in a window of %d", i, n, window)
			}
			return true
		}
		c := newCompactor(s, nil)
		clearer := compact.Clearer{Clearable: func(u *msg.ToolUse) bool { return u.Name != "Todo" }}
		g := c.Gauge(j.Model)
		req := request(j, entries)
		req.Messages, _ = clearer.Clear(req.Messages, compact.ClearConditions{Usable: j.Limits.Usable(), Used: func() int { return g.Messages(req.Messages...) }}, g)
		seg, _ := c.Relieve(t.Context(), j, g.Request(j.System, j.Tools, req.Messages))
		if seg != nil {
			if err := whole(entries, seg); err != nil {
				t.Fatalf("history %d, %s: %v", i, how.name, err)
			}
			if seg.Text == "" {
				shortened++
			} else {
				summed++
			}
			clearer.Restart(seg)
			req = request(j, seg.Entries())
			req.Messages, _ = clearer.Clear(req.Messages, compact.ClearConditions{Usable: j.Limits.Usable(), Used: func() int { return g.Messages(req.Messages...) }}, g)
		}
		check(t, req)
		if n := g.Request(req.System, req.Tools, req.Messages); n > j.Limits.Block() {
			t.Fatalf("history %d (%.1f windows of %d), %s: the request is estimated at %d tokens, more than %d", i, share, window, how.name, n, j.Limits.Block())
		}
		if n := truth(req); n > j.Limits.Usable() {
			t.Fatalf("history %d (%.1f windows of %d), %s: the request has %d tokens", i, share, window, how.name, n)
		}
	}
	if shortened < histories/10 || summed < histories/10 {
		t.Errorf("only %d were shortened and %d summed up: the histories are too easy", shortened, summed)
	}
}
