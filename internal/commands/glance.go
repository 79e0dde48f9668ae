package commands

import (
	"slices"
	"strings"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/git/gitinfo"
	"adze/internal/platform/text/amount"
)

// A Glance is the session state that front ends always show.
type Glance struct {
	Mode  string // permission mode
	Model string // short name
	// Percent is how much of the context window is used; -1 if the window is unknown.
	Percent int
	Fill    FillLevel
	Cost    string // may be empty
	Branch  string // checked-out branch; may be empty
}

// FillLevel is how full the context window is.
type FillLevel uint8

// The fill levels.
const (
	Roomy FillLevel = iota
	Tight           // the user is warned
	Full            // no request can be sent
)

// A Greeting introduces a conversation. Everything except Program may be empty.
type Greeting struct {
	Program    string // name and version
	Model      string
	Dir        string
	Branch     string
	Mode       string // permission mode unless it is the default
	Help       string // how to get help
	Notes      string // lines
	Invitation string // invites the user to write
}

// Glance returns the current session state. It is fast, and safe for concurrent use.
func (r *Registry) Glance() Glance {
	g := Glance{Mode: r.Permission.Mode(), Percent: -1, Model: r.shortModel()}
	if m, err := r.Preamble.Resolve(r.Session.Model()); err == nil && m.Window > 0 {
		limits := compact.Limits{Window: m.Window, MaxOutput: m.MaxOutput}
		if r.Env.CompactPercent != nil {
			limits.Percent = r.Env.CompactPercent()
		}
		used := r.occupied(r.Session.Conversation(), m)
		g.Percent = min(100, used*100/m.Window)
		switch {
		case used > limits.Block():
			g.Fill = Full
		case used > limits.Warn():
			g.Fill = Tight
		}
	}
	if t := r.Session.Sum(); !t.HasUnknownCost || t.CostUSD > 0 {
		g.Cost = amount.USD(t.CostUSD)
	}
	g.Branch, _ = gitinfo.Branch(r.Dir)
	return g
}

// occupied estimates the tokens of a conversation: the reported usage of the last response, and
// an estimate for everything after it. Without a response, such as after a compaction,
// everything is estimated.
func (r *Registry) occupied(entries []msg.Entry, m agent.Model) int {
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
	return r.preambleTokens(m) + tokens.New(m.ID).Messages(later...)
}

// preambleTokens estimates the tokens of a request before the conversation. It measures them
// once for each model.
func (r *Registry) preambleTokens(m agent.Model) int {
	if n, ok := r.measured.Load(m.ID); ok {
		return n.(int)
	}
	specs := r.Preamble.Describe(r.Session.ToolSpecs())
	gauge := tokens.New(m.ID)
	n := gauge.Request(nil, specs, nil)
	for _, block := range r.Preamble.Blocks(m, specs) {
		for _, piece := range block.Pieces {
			n += gauge.Text(piece.Text)
		}
	}
	r.measured.Store(m.ID, n)
	return n
}

// shortModel returns a short name of the session's model: without its maker, if the rest
// identifies it.
func (r *Registry) shortModel() string {
	id := r.Session.Model()
	if m, err := r.Preamble.Resolve(id); err == nil {
		id = m.ID
	}
	known, ok := r.Models.Catalog.Lookup(id)
	if !ok || known.Name == "" {
		return id[strings.LastIndexByte(id, '/')+1:]
	}
	name := strings.ToLower(known.Name)
	maker, rest, _ := strings.Cut(name, " ")
	family, _, _ := strings.Cut(rest, " ")
	if _, known := r.Models.Catalog.Lookup(family); known && !strings.ContainsAny(maker, "0123456789") {
		return rest
	}
	return name
}

// A Request is the state of the checked-out branch's pull request. Text is empty without one.
type Request struct {
	Text string
	Mood Mood
}

// A Mood indicates whether a state is good or bad.
type Mood uint8

// The moods.
const (
	Neutral Mood = iota
	Well
	Ill
)

// NextMode returns the permission mode after the current one, for a key that cycles through the
// available modes.
func (r *Registry) NextMode() string {
	return string(permission.Mode(r.Permission.Mode()).Next(func(m permission.Mode) bool {
		return r.Permission.Allowed != nil && r.Permission.Allowed(string(m))
	}))
}
