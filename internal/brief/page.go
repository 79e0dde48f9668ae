package brief

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// A Page shows what the first request of a conversation says before the user does.
type Page struct {
	System   []PageBlock `json:"system"`
	Tools    []PageItem  `json:"tools"`
	Context  []PageItem  `json:"context"`
	Sizes    PageSizes   `json:"sizes"`
	Problems []string    `json:"problems"`
}

// A PageBlock is one block of the system prompt. Cache is empty, "5m" or "1h"; Shared says that others may use
// what is cached.
type PageBlock struct {
	Cache    string     `json:"cache"`
	Shared   bool       `json:"shared"`
	Sections []PageItem `json:"sections"`
}

// A PageItem is a section, a tool or a message. The bytes of a tool are those of its whole definition.
type PageItem struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"tokens"`
	Text   string `json:"text"`
}

// PageSizes are bytes as they are sent, with an empty message of the user.
type PageSizes struct {
	System  int `json:"system"`
	Tools   int `json:"tools"`
	Context int `json:"context"`
	Request int `json:"request"`
}

// NewPage shows the prompt and the opening of a conversation, and the specs of its tools as they are sent. The
// announcer may be nil.
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

// lifetime returns how long a block is cached, or "".
func (b *Block) lifetime(hour bool) string {
	switch {
	case b.Marked && hour:
		return "1h"
	case b.Marked:
		return "5m"
	}
	return ""
}

// measure fills in the sizes of a request as it is sent.
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

// largeSection is the size from which a section is pointed out, in characters.
const largeSection = 20_000

// LargeSections points out large sections of the system prompt.
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
