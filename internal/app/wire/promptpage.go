package wire

import (
	"cmp"
	"encoding/json"

	"adze/internal/agent"
	"adze/internal/app/setup"
	"adze/internal/brief"
	"adze/internal/desk"
	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// A PromptPage is what the first request of a session would say before the user does.
type PromptPage struct {
	System   []PromptBlock `json:"system"`
	Tools    []PromptItem  `json:"tools"`
	Context  []PromptItem  `json:"context"`
	Sizes    PromptSizes   `json:"sizes"`
	Problems []string      `json:"problems"`
}

// A PromptBlock is one block of the system prompt. Cache is empty, "5m" or "1h"; Shared says that others
// may use what is cached.
type PromptBlock struct {
	Cache    string       `json:"cache"`
	Shared   bool         `json:"shared"`
	Sections []PromptItem `json:"sections"`
}

// A PromptItem is a section, a tool or a message. A tool's bytes are those of its whole definition.
type PromptItem struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"tokens"`
	Text   string `json:"text"`
}

// PromptSizes are bytes as they are sent, with an empty message of the user.
type PromptSizes struct {
	System  int `json:"system"`
	Tools   int `json:"tools"`
	Context int `json:"context"`
	Request int `json:"request"`
}

func newItem(g *tokens.Gauge, name, text string) PromptItem {
	return PromptItem{name, len(text), g.Text(text), text}
}

// PromptPage returns what the first request of a conversation would say. Nothing is opened.
func (w *Workspace) PromptPage(spec Spec) (*PromptPage, error) {
	b, err := w.Bench(spec.Access)
	if err != nil {
		return nil, err
	}
	c := &Conversation{ws: w, spec: spec, memory: w.openMemory(spec.Bare), model: &modelChoice{ws: w}}
	defer c.Close()
	m, err := c.model.resolve(cmp.Or(spec.Model.Name, w.values().Model.Name, "default"))
	if err != nil {
		return nil, setup.Errorf("%v", err)
	}
	c.toolTexts = brief.NewToolTexts(b.Tools)
	prompt := c.newPrompt()
	req := &model.Request{Model: m.ID, Tools: c.describe(b.pool.Specs()), MaxTokens: 1, Messages: []msg.Message{msg.UserText("")}}
	req.System, req.Cache = prompt.Parts(m.ID, req.Tools)
	gauge := tokens.New(m.ID)
	page := newPage(gauge, prompt, m, req.Tools)
	if !w.values().Simple {
		page.addContext(brief.NewAnnouncer(c.announcements()), gauge, req)
	}
	return page, page.measure(req)
}

// newPage returns the page of what every request says before the conversation.
func newPage(g *tokens.Gauge, p *brief.Prompt, m agent.Model, specs []msg.ToolSpec) *PromptPage {
	page := &PromptPage{Context: []PromptItem{}, Problems: []string{}}
	blocks, hour := p.Blocks(m.ID, specs)
	for _, block := range blocks {
		page.System = append(page.System, newBlock(g, block, hour))
	}
	page.Problems = append(page.Problems, desk.LargeSections(blocks)...)
	for _, t := range specs {
		definition, _ := json.Marshal(map[string]any{"name": t.Name, "description": t.Description, "input_schema": t.Schema}) // ok: the schema is valid
		page.Tools = append(page.Tools, PromptItem{t.Name, len(definition), g.Request(nil, []msg.ToolSpec{t}, nil), t.Description})
	}
	return page
}

func newBlock(g *tokens.Gauge, b brief.Block, hour bool) PromptBlock {
	shown := PromptBlock{Shared: b.Global}
	switch {
	case b.Marked && hour:
		shown.Cache = "1h"
	case b.Marked:
		shown.Cache = "5m"
	}
	for _, p := range b.Pieces {
		shown.Sections = append(shown.Sections, newItem(g, p.Name, p.Text))
	}
	return shown
}

// addContext adds what goes before the first message.
func (p *PromptPage) addContext(told *brief.Announcer, g *tokens.Gauge, req *model.Request) {
	parts := told.Preview()
	for _, problem := range told.Problems() {
		p.Problems = append(p.Problems, problem.Path+" "+problem.Text)
	}
	p.Context = append(p.Context, newItem(g, "first message", msg.PlainText(parts)))
	req.Messages = []msg.Message{{Role: msg.User, Parts: parts}}
}

// measure fills in the sizes as they are sent.
func (p *PromptPage) measure(req *model.Request) error {
	body, err := new(messages.Encoder).Encode(req, nil)
	if err != nil {
		return err
	}
	var sent struct{ System, Tools, Messages json.RawMessage }
	if err := json.Unmarshal(body, &sent); err != nil {
		return err
	}
	p.Sizes = PromptSizes{len(sent.System), len(sent.Tools), len(sent.Messages), len(body)}
	return nil
}
