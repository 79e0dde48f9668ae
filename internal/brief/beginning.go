package brief

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"adze/internal/model"
	"adze/internal/msg"
)

// A Beginning is what the requests of a conversation to one model begin with, as it is kept with the session: the
// blocks of the system prompt, and the tools. Requests go on beginning with it, in later processes too, so that
// the provider finds them in its cache and takes back the model's reasoning; what changes is told in a message.
type Beginning struct {
	Version string   `json:"version"`
	Blocks  []Block  `json:"blocks"`
	Tools   []Listed `json:"tools"`
}

// valid reports whether a provider would take it. What was damaged would be refused with every request.
func (b *Beginning) valid() bool {
	empty := func(b Block) bool { return b.Text() == "" }
	broken := func(t Listed) bool { return t.Name == "" || !json.Valid([]byte(t.Schema)) }
	return len(b.Blocks) > 0 && !slices.ContainsFunc(b.Blocks, empty) && !slices.ContainsFunc(b.Tools, broken)
}

// Listed is a tool as a request lists it. The bytes of its schema count, so they are a string.
type Listed struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Schema      string `json:"schema"`
	Strict      bool   `json:"strict,omitempty"`
}

// Begun is what the requests of a turn begin with.
type Begun struct {
	System []msg.Part
	Cache  []model.Mark
	Tools  []msg.ToolSpec
	// Renewed says that earlier requests to the model began otherwise, as far as it is known.
	Renewed bool
}

// A beginning is a [Beginning] in use.
type beginning struct {
	blocks  []Block
	parts   []msg.Part
	tools   []msg.ToolSpec
	expired bool // the next turn begins with what holds then
}

// facts are the sections that say how things are. When one changes, the model is told; all others say what the model
// is to do, or what it may know, and change only when the user wants it so.
var facts = [...]string{
	"client", "simple", "tools", "guidance", "environment", "language", "servers", "clearing",
	"notedown", "budget", "brief",
}

func isFact(p Piece) bool { return slices.Contains(facts[:], p.Name) }

// restore sets what the requests to a model began with in an earlier process.
func (p *Prompt) restore(modelID string, b Beginning) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := &beginning{blocks: b.Blocks}
	for _, block := range b.Blocks {
		old.parts = append(old.parts, &msg.Text{Text: block.Text()})
	}
	for _, t := range b.Tools {
		old.tools = append(old.tools, msg.ToolSpec{Name: t.Name, Description: t.Description, Schema: json.RawMessage(t.Schema), Strict: t.Strict})
	}
	p.begun[modelID] = old
	p.listed.Store(modelID, old.tools)
}

// Unlisted reports whether requests to a model have begun without a tool. The prompt may be nil.
func (p *Prompt) Unlisted(modelID, tool string) bool {
	if p == nil {
		return false
	}
	tools, begun := p.listed.Load(modelID)
	return begun && !slices.ContainsFunc(tools.([]msg.ToolSpec), func(t msg.ToolSpec) bool { return t.Name == tool })
}

// Begin returns what the requests of a turn begin with, given the tools that can be called: the same as before, as
// long as it will do.
func (p *Prompt) Begin(modelID string, tools []msg.ToolSpec) Begun {
	v := p.variant(modelID, tools)
	p.mu.Lock()
	defer p.mu.Unlock()
	old, now := p.begun[modelID], p.write(v)
	if old == nil || !p.serves(old, now, tools) {
		next := &beginning{blocks: now.blocks, parts: now.parts, tools: tools}
		p.begun[modelID] = next
		p.listed.Store(modelID, tools)
		p.cfg.Keeper.told.forget(modelID + "/")
		same := old != nil && sameParts(old.parts, next.parts) && slices.EqualFunc(old.tools, tools, sameTool)
		if !same {
			p.cfg.Keeper.begun(modelID, next.record())
		}
		return Begun{next.parts, now.marks, tools, !same}
	}
	v.count(old.tools, p.cfg.Foreign)
	return Begun{System: old.parts, Cache: marks(old.blocks, p.layout(v)), Tools: old.tools}
}

func (b *beginning) record() Beginning {
	r := Beginning{Blocks: b.blocks}
	for _, t := range b.tools {
		r.Tools = append(r.Tools, Listed{t.Name, t.Description, string(t.Schema), t.Strict})
	}
	return r
}

// serves reports whether requests can go on beginning as they did. A tool that can no longer be called does no harm:
// the call is refused. One that is described otherwise takes the same calls, and the model is told. One that was
// added has to be listed, unless the model can do without it.
func (p *Prompt) serves(old *beginning, now written, tools []msg.ToolSpec) bool {
	if old.expired {
		return false
	}
	if len(tools) == 0 || len(old.tools) == 0 || &tools[0] != &old.tools[0] {
		for _, t := range tools {
			at := slices.IndexFunc(old.tools, func(o msg.ToolSpec) bool { return o.Name == t.Name })
			if at < 0 && (p.cfg.Spare == nil || !p.cfg.Spare(t.Name)) || at >= 0 && !sameCalls(old.tools[at], t) {
				return false
			}
		}
	}
	rules := func(blocks []Block) []Piece { return slices.DeleteFunc(pieces(blocks), isFact) }
	return slices.Equal(rules(old.blocks), rules(now.blocks))
}

// pieces returns the sections in blocks.
func pieces(blocks []Block) []Piece {
	var all []Piece
	for _, b := range blocks {
		all = append(all, b.Pieces...)
	}
	return all
}

// News returns what a model has to be told because it is no longer as the beginning says, or as it was told since.
func (p *Prompt) News(modelID string, tools []msg.ToolSpec) []string {
	v := p.variant(modelID, tools)
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.begun[modelID]
	if old == nil {
		return nil
	}
	now := p.write(v)
	if !p.serves(old, now, tools) {
		return nil
	}
	then, today := pieces(old.blocks), pieces(now.blocks)
	var texts []string
	for _, piece := range today {
		if isFact(piece) && piece.Name != "client" && p.cfg.Keeper.told.news(modelID+"/"+piece.Name, text(then, piece.Name), piece.Text) {
			texts = append(texts, piece.Text)
		}
	}
	for _, piece := range then {
		if isFact(piece) && piece.Name != "client" && text(today, piece.Name) == "" && p.cfg.Keeper.told.news(modelID+"/"+piece.Name, piece.Text, "") {
			heading, _, _ := strings.Cut(piece.Text, "\n")
			texts = append(texts, say(v.language, "since.gone", strings.TrimLeft(heading, "# ")))
		}
	}
	for _, t := range tools {
		at := slices.IndexFunc(old.tools, func(o msg.ToolSpec) bool { return o.Name == t.Name })
		if at >= 0 && p.cfg.Keeper.told.news(modelID+"/tool "+t.Name, old.tools[at].Description, t.Description) {
			texts = append(texts, say(v.language, "since.tool", t.Name)+"\n"+otherwise(old.tools[at].Description, t.Description))
		}
	}
	if gone := missing(old.tools, tools); p.cfg.Keeper.told.news(modelID+"/gone", "", gone) {
		if gone == "" {
			texts = append(texts, say(v.language, "since.back"))
		} else {
			texts = append(texts, say(v.language, "since.tools", gone))
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return []string{say(v.language, "since") + "\n\n" + strings.Join(texts, "\n\n")}
}

// otherwise returns the lines of a description that an older one does not have, or all of it if there are none: the
// others need not be paid for again.
func otherwise(old, now string) string {
	known := strings.Split(old, "\n")
	var lines []string
	for line := range strings.SplitSeq(now, "\n") {
		if !slices.Contains(known, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return now
	}
	return strings.Join(lines, "\n")
}

// text returns the section of that name, or "".
func text(all []Piece, name string) string {
	for _, p := range all {
		if p.Name == name {
			return p.Text
		}
	}
	return ""
}

// missing names the tools that are listed and cannot be called.
func missing(listed, callable []msg.ToolSpec) string {
	var names []string
	for _, t := range listed {
		if !slices.ContainsFunc(callable, func(c msg.ToolSpec) bool { return c.Name == t.Name }) {
			names = append(names, t.Name)
		}
	}
	return strings.Join(names, ", ")
}

func sameTool(a, b msg.ToolSpec) bool {
	return a.Name == b.Name && a.Description == b.Description && sameCalls(a, b)
}

// sameCalls reports whether two tools are called alike.
func sameCalls(a, b msg.ToolSpec) bool {
	return a.Strict == b.Strict && bytes.Equal(a.Schema, b.Schema)
}
