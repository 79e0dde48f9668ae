package prompt

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"adze/internal/model"
	"adze/internal/msg"
)

// A RequestPrefix is the prefix of a conversation's requests to one model, as stored with the
// session: the system prompt blocks and the tools. Requests keep this prefix, in later
// processes too, so that the provider finds it in its cache and accepts the model's reasoning
// again; changes are announced in a message.
type RequestPrefix struct {
	Version string       `json:"version"`
	Blocks  []Block      `json:"blocks"`
	Tools   []ListedTool `json:"tools"`
}

// valid reports whether a provider would accept it. A damaged prefix would fail every request.
func (b *RequestPrefix) valid() bool {
	empty := func(b Block) bool { return b.Text() == "" }
	broken := func(t ListedTool) bool { return t.Name == "" || !json.Valid([]byte(t.Schema)) }
	return len(b.Blocks) > 0 && !slices.ContainsFunc(b.Blocks, empty) && !slices.ContainsFunc(b.Tools, broken)
}

// ListedTool is a tool as listed in a request. The schema is a string because its exact bytes
// matter.
type ListedTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Schema      string `json:"schema"`
	Strict      bool   `json:"strict,omitempty"`
}

// TurnPrefix is the prefix of a turn's requests.
type TurnPrefix struct {
	System []msg.Part
	Cache  []model.Mark
	Tools  []msg.ToolSpec
	// Renewed reports whether earlier requests to the model are known to have had another
	// prefix.
	Renewed bool
}

// An activePrefix is a [RequestPrefix] in use.
type activePrefix struct {
	blocks  []Block
	parts   []msg.Part
	tools   []msg.ToolSpec
	expired bool // the next turn starts with a current prefix
}

// facts lists the sections that state facts. Changes to them are announced to the model. All
// other sections are instructions or knowledge, which change only at the user's request.
var facts = [...]string{
	"client", "simple", "tools", "guidance", "environment", "language", "servers", "clearing",
	"notedown", "budget", "brief",
}

func isFact(p Piece) bool { return slices.Contains(facts[:], p.Name) }

// restore sets the prefix that requests to a model had in an earlier process.
func (p *Prompt) restore(modelID string, b RequestPrefix) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := &activePrefix{blocks: b.Blocks}
	for _, block := range b.Blocks {
		old.parts = append(old.parts, &msg.Text{Text: block.Text()})
	}
	for _, t := range b.Tools {
		old.tools = append(old.tools, msg.ToolSpec{Name: t.Name, Description: t.Description, Schema: json.RawMessage(t.Schema), Strict: t.Strict})
	}
	p.begun[modelID] = old
	p.listed.Store(modelID, old.tools)
}

// Unlisted reports whether earlier requests to a model lacked a tool. p may be nil.
func (p *Prompt) Unlisted(modelID, tool string) bool {
	if p == nil {
		return false
	}
	tools, begun := p.listed.Load(modelID)
	return begun && !slices.ContainsFunc(tools.([]msg.ToolSpec), func(t msg.ToolSpec) bool { return t.Name == tool })
}

// Begin returns the prefix for a turn's requests, given the callable tools. It returns the
// previous prefix while that is still usable.
func (p *Prompt) Begin(modelID string, tools []msg.ToolSpec) TurnPrefix {
	v := p.variant(modelID, tools)
	p.mu.Lock()
	defer p.mu.Unlock()
	old, now := p.begun[modelID], p.write(v)
	if old == nil || !p.serves(old, now, tools) {
		next := &activePrefix{blocks: now.blocks, parts: now.parts, tools: tools}
		p.begun[modelID] = next
		p.listed.Store(modelID, tools)
		p.cfg.Keeper.told.forget(modelID + "/")
		same := old != nil && sameParts(old.parts, next.parts) && slices.EqualFunc(old.tools, tools, sameTool)
		if !same {
			p.cfg.Keeper.begun(modelID, next.record())
		}
		return TurnPrefix{next.parts, now.marks, tools, !same}
	}
	v.count(old.tools, p.cfg.Foreign)
	return TurnPrefix{System: old.parts, Cache: marks(old.blocks, p.layout(v)), Tools: old.tools}
}

func (b *activePrefix) record() RequestPrefix {
	r := RequestPrefix{Blocks: b.blocks}
	for _, t := range b.tools {
		r.Tools = append(r.Tools, ListedTool{t.Name, t.Description, string(t.Schema), t.Strict})
	}
	return r
}

// serves reports whether the old prefix is still usable. A listed tool that can't be called
// anymore is harmless: the call is refused. A tool with a new description takes the same calls,
// and the change is announced. An added tool must be listed, unless the model can do without
// it.
func (p *Prompt) serves(old *activePrefix, now renderedPrompt, tools []msg.ToolSpec) bool {
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

// News returns announcements for facts that differ from the prefix or the last announcement.
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
			texts = append(texts, catalogText(v.language, "since.gone", strings.TrimLeft(heading, "# ")))
		}
	}
	for _, t := range tools {
		at := slices.IndexFunc(old.tools, func(o msg.ToolSpec) bool { return o.Name == t.Name })
		if at >= 0 && p.cfg.Keeper.told.news(modelID+"/tool "+t.Name, old.tools[at].Description, t.Description) {
			texts = append(texts, catalogText(v.language, "since.tool", t.Name)+"\n"+changedLines(old.tools[at].Description, t.Description))
		}
	}
	if gone := missing(old.tools, tools); p.cfg.Keeper.told.news(modelID+"/gone", "", gone) {
		if gone == "" {
			texts = append(texts, catalogText(v.language, "since.back"))
		} else {
			texts = append(texts, catalogText(v.language, "since.tools", gone))
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return []string{catalogText(v.language, "since") + "\n\n" + strings.Join(texts, "\n\n")}
}

// changedLines returns the lines of a description that an older one lacks, or all of it if it
// lacks nothing. Unchanged lines need not be paid for again.
func changedLines(old, now string) string {
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

// text returns the section with the given name, or "".
func text(all []Piece, name string) string {
	for _, p := range all {
		if p.Name == name {
			return p.Text
		}
	}
	return ""
}

// missing lists the tools that are listed but not callable.
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

// sameCalls reports whether two tools have the same call signature.
func sameCalls(a, b msg.ToolSpec) bool {
	return a.Strict == b.Strict && bytes.Equal(a.Schema, b.Schema)
}
