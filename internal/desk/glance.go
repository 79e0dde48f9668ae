package desk

import (
	"slices"
	"strings"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/amount"
	"adze/internal/platform/gitinfo"
)

// A Glance is what front ends show of a session at all times.
type Glance struct {
	Mode  string // the permission mode
	Model string // a short name
	// Percent is how much of the context window is used; -1 if the window is not known.
	Percent int
	Fill    Fill
	Cost    string // may be empty
	Branch  string // that is checked out; may be empty
}

// Fill says how close the conversation is to the end of the context window.
type Fill uint8

// The fills.
const (
	Roomy Fill = iota
	Tight      // the user is warned
	Full       // no request can be sent
)

// Glance returns what to show of the session now. It is quick, and safe for concurrent use.
func (d *Desk) Glance() Glance {
	g := Glance{Mode: d.Permission.Mode(), Percent: -1, Model: d.shortModel()}
	if m, err := d.Preamble.Resolve(d.Session.Model()); err == nil && m.Window > 0 {
		limits := compact.Limits{Window: m.Window, MaxOutput: m.MaxOutput}
		if d.Surroundings.CompactPercent != nil {
			limits.Percent = d.Surroundings.CompactPercent()
		}
		used := d.occupied(d.Session.Conversation(), m)
		g.Percent = min(100, used*100/m.Window)
		switch {
		case used > limits.Block():
			g.Fill = Full
		case used > limits.Warn():
			g.Fill = Tight
		}
	}
	if t := d.Session.Sum(); !t.HasUnknownCost || t.CostUSD > 0 {
		g.Cost = amount.USD(t.CostUSD)
	}
	g.Branch, _ = gitinfo.Branch(d.Dir)
	return g
}

// occupied returns about how many tokens a conversation has: those of the last response, as reported, and an estimate for
// what came after it. If no response is left, such as after a compaction, all is estimated.
func (d *Desk) occupied(entries []msg.Entry, m agent.Model) int {
	var later []msg.Message
	for _, e := range slices.Backward(entries) {
		if u := e.Usage; e.Message.Role == msg.Assistant && u != nil {
			return sent(*u) + u.Output + tokens.New(m.ID).Messages(later...)
		}
		later = append(later, e.Message)
	}
	if len(later) == 0 {
		return 0
	}
	return d.preambleTokens(m) + tokens.New(m.ID).Messages(later...)
}

// preambleTokens returns about how many tokens of a request precede the conversation. It measures them once for each model.
func (d *Desk) preambleTokens(m agent.Model) int {
	if n, ok := d.measured.Load(m.ID); ok {
		return n.(int)
	}
	specs := d.Preamble.Describe(d.Session.ToolSpecs())
	gauge := tokens.New(m.ID)
	n := gauge.Request(nil, specs, nil)
	for _, block := range d.Preamble.Blocks(m, specs) {
		for _, piece := range block.Pieces {
			n += gauge.Text(piece.Text)
		}
	}
	d.measured.Store(m.ID, n)
	return n
}

// shortModel returns a short name of the session's model: without its maker, if another word says what it is.
func (d *Desk) shortModel() string {
	id := d.Session.Model()
	if m, err := d.Preamble.Resolve(id); err == nil {
		id = m.ID
	}
	known, ok := d.Models.Catalog.Lookup(id)
	if !ok || known.Name == "" {
		return id[strings.LastIndexByte(id, '/')+1:]
	}
	name := strings.ToLower(known.Name)
	maker, rest, _ := strings.Cut(name, " ")
	family, _, _ := strings.Cut(rest, " ")
	if _, known := d.Models.Catalog.Lookup(family); known && !strings.ContainsAny(maker, "0123456789") {
		return rest
	}
	return name
}

// A Request is the state of the pull request of the branch that is checked out. Text is empty if there is none.
type Request struct {
	Text string
	Mood Mood
}

// A Mood says whether something is as it should be.
type Mood uint8

// The moods.
const (
	Neutral Mood = iota
	Well
	Ill
)

// NextMode returns the permission mode after the present one, for a key that goes through those that can be chosen.
func (d *Desk) NextMode() string {
	return string(permission.Mode(d.Permission.Mode()).Next(func(m permission.Mode) bool {
		return d.Permission.Allowed != nil && d.Permission.Allowed(string(m))
	}))
}
