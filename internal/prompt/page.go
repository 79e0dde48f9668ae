package prompt

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// A Page shows a conversation's first request, without the user's message.
type Page struct {
	System   []PageBlock `json:"system"`
	Tools    []PageItem  `json:"tools"`
	Context  []PageItem  `json:"context"`
	Sizes    PageSizes   `json:"sizes"`
	Problems []string    `json:"problems"`
}

// A PageBlock is one block of the system prompt. Cache is empty, "5m" or "1h". Shared is true
// if others may use the cached block.
type PageBlock struct {
	Cache    string     `json:"cache"`
	Shared   bool       `json:"shared"`
	Sections []PageItem `json:"sections"`
}

// A PageItem is a section, a tool or a message. Bytes of a tool include its whole definition.
type PageItem struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"tokens"`
	Text   string `json:"text"`
}

// PageSizes are the bytes sent, with an empty user message.
type PageSizes struct {
	System  int `json:"system"`
	Tools   int `json:"tools"`
	Context int `json:"context"`
	Request int `json:"request"`
}

// NewPage shows a conversation's prompt and opening, and its tool specs as sent. The announcer
// may be nil.
func NewPage(modelID string, p *Prompt, a *Announcer, specs []msg.ToolSpec) (*Page, error) {
	g := tokens.New(modelID)
	item := func(name, text string) PageItem { return PageItem{name, len(text), g.Text(text), text} }
	page := &Page{Context: []PageItem{}, Problems: []string{}}
	req := &model.Request{Model: modelID, Tools: specs, MaxTokens: 1, Messages: []msg.Message{msg.UserText("")}}
	req.System, req.Cache = p.Parts(modelID, specs)
	blocks, hour := p.Blocks(modelID, specs)
	for _, b := range blocks {
		shown := PageBlock{Cache: b.lifetime(hour), Shared: b.Global}
		for _, piece := range b.Pieces {
			shown.Sections = append(shown.Sections, item(piece.Name, piece.Text))
		}
		page.System = append(page.System, shown)
	}
	page.Problems = append(page.Problems, LargeSections(blocks)...)
	for _, t := range specs {
		definition, _ := json.Marshal(map[string]any{"name": t.Name, "description": t.Description, "input_schema": t.Schema}) // ok: the schema is valid
		page.Tools = append(page.Tools, PageItem{t.Name, len(definition), g.Request(nil, []msg.ToolSpec{t}, nil), t.Description})
	}
	if a != nil {
		parts := a.Preview()
		for _, problem := range a.Problems() {
			page.Problems = append(page.Problems, problem.Path+" "+problem.Text)
		}
		page.Context = append(page.Context, item("first message", msg.PlainText(parts)))
		req.Messages = []msg.Message{{Role: msg.User, Parts: parts}}
	}
	return page, page.measure(req)
}

// lifetime returns a block's cache lifetime, or "".
func (b *Block) lifetime(hour bool) string {
	switch {
	case b.Marked && hour:
		return "1h"
	case b.Marked:
		return "5m"
	}
	return ""
}

// measure fills in the sizes of a request as sent.
func (p *Page) measure(req *model.Request) error {
	body, err := new(messages.Encoder).Encode(req, nil)
	if err != nil {
		return err
	}
	var sent struct{ System, Tools, Messages json.RawMessage }
	if err := json.Unmarshal(body, &sent); err != nil {
		return err
	}
	p.Sizes = PageSizes{len(sent.System), len(sent.Tools), len(sent.Messages), len(body)}
	return nil
}

// largeSection is the size in characters from which a section is reported.
const largeSection = 20_000

// LargeSections returns warnings about large sections of the system prompt.
func LargeSections(blocks []Block) []string {
	var problems []string
	for _, b := range blocks {
		for _, p := range b.Pieces {
			if n := utf8.RuneCountInString(p.Text); n > largeSection {
				problems = append(problems, fmt.Sprintf("the section %s has %d characters, which are sent with every request", p.Name, n))
			}
		}
	}
	return problems
}
