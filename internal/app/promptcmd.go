package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adze/internal/agent"
	"adze/internal/brief"
	"adze/internal/desk"
	"adze/internal/model"
	wire "adze/internal/model/messages"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/platform/term"
	"adze/internal/tool"
)

func promptFlags() []flag {
	flags := []flag{{name: "json", doc: "print JSON", set: setBool(func(o *options) *bool { return &o.json })}}
	shared := []string{
		"model", "system-prompt", "system-prompt-file", "append-system-prompt", "append-system-prompt-file", "add-dir", "bare",
		"allowed-tools", "disallowed-tools", "tools", "settings", "setting-sources", "trust", "help",
	}
	for _, f := range supportedFlags() {
		if slices.Contains(shared, f.name) {
			flags = append(flags, f)
		}
	}
	return flags
}

// A promptPage is what the first request of a session would say before the person does.
type promptPage struct {
	System   []promptBlock `json:"system"`
	Tools    []promptItem  `json:"tools"`
	Context  []promptItem  `json:"context"`
	Sizes    promptSizes   `json:"sizes"`
	Problems []string      `json:"problems"`
}

// A promptBlock is one block of the system prompt. Cache is empty, "5m" or "1h"; Shared says that others
// may use what is cached.
type promptBlock struct {
	Cache    string       `json:"cache"`
	Shared   bool         `json:"shared"`
	Sections []promptItem `json:"sections"`
}

// A promptItem is a section, a tool or a message. A tool's bytes are those of its whole definition.
type promptItem struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"tokens"`
	Text   string `json:"text"`
}

// promptSizes are bytes as they are sent, with an empty message of the person.
type promptSizes struct {
	System  int `json:"system"`
	Tools   int `json:"tools"`
	Context int `json:"context"`
	Request int `json:"request"`
}

func newItem(g *tokens.Gauge, name, text string) promptItem {
	return promptItem{name, len(text), g.Text(text), text}
}

// runPrompt shows what would be sent.
func runPrompt(_ context.Context, env *Env, o *options) error {
	if !slices.Equal(o.args, []string{"show"}) {
		return setupErrorf("write adze prompt show [--json]")
	}
	if err := o.check(); err != nil {
		return err
	}
	b, err := newBuilder(env, o)
	if err != nil {
		return err
	}
	defer b.close()
	page, err := b.promptPage()
	if err != nil {
		return err
	}
	if o.json {
		return env.print(marshal(page))
	}
	return env.print(env.shownText(page.String()))
}

// shownText makes text fit for where it is printed.
func (env *Env) shownText(text string) string {
	if env.StdoutTerminal {
		return term.Sanitize(text)
	}
	return text
}

func (b *builder) promptPage() (*promptPage, error) {
	prompt, err := b.newPrompt()
	if err != nil {
		return nil, err
	}
	m, err := b.resolve(firstOf(b.o.model, b.settings.Text("model"), "default"))
	if err != nil {
		return nil, setupErrorf("%v", err)
	}
	tools := b.tools()
	b.toolTexts = brief.NewToolTexts(tools)
	pool, _ := tool.Assemble(tools, nil, b.denied(tools))
	req := &model.Request{Model: m.ID, Tools: b.describeTools(pool.Specs()), MaxTokens: 1, Messages: []msg.Message{msg.UserText("")}}
	req.System, req.Cache = prompt.Parts(m.ID, req.Tools)
	gauge := tokens.New(m.ID)
	page := newPage(gauge, prompt, m, req.Tools)
	if !b.settings.Bool("ADZE_SIMPLE") {
		page.addContext(b, gauge, req)
	}
	return page, page.measure(req)
}

// newPage returns the page of what every request says before the conversation.
func newPage(g *tokens.Gauge, p *brief.Prompt, m agent.Model, specs []msg.ToolSpec) *promptPage {
	page := &promptPage{Context: []promptItem{}, Problems: []string{}}
	blocks, hour := p.Blocks(m.ID, specs)
	for _, block := range blocks {
		page.System = append(page.System, newBlock(g, block, hour))
	}
	page.Problems = append(page.Problems, desk.LargeSections(blocks)...)
	for _, t := range specs {
		definition, _ := json.Marshal(map[string]any{"name": t.Name, "description": t.Description, "input_schema": t.Schema}) // ok: the schema is valid
		page.Tools = append(page.Tools, promptItem{t.Name, len(definition), g.Request(nil, []msg.ToolSpec{t}, nil), t.Description})
	}
	return page
}

func newBlock(g *tokens.Gauge, b brief.Block, hour bool) promptBlock {
	shown := promptBlock{Shared: b.Global}
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
func (p *promptPage) addContext(b *builder, g *tokens.Gauge, req *model.Request) {
	told := brief.NewAnnouncer(b.announcements())
	parts := told.Preview()
	for _, problem := range told.Problems() {
		p.Problems = append(p.Problems, problem.Path+" "+problem.Text)
	}
	p.Context = append(p.Context, newItem(g, "first message", msg.PlainText(parts)))
	req.Messages = []msg.Message{{Role: msg.User, Parts: parts}}
}

// measure fills in the sizes as they are sent.
func (p *promptPage) measure(req *model.Request) error {
	body, err := new(wire.Encoder).Encode(req, nil)
	if err != nil {
		return err
	}
	var sent struct{ System, Tools, Messages json.RawMessage }
	if err := json.Unmarshal(body, &sent); err != nil {
		return err
	}
	p.Sizes = promptSizes{len(sent.System), len(sent.Tools), len(sent.Messages), len(body)}
	return nil
}

// String returns the page for a person.
func (p *promptPage) String() string {
	var b strings.Builder
	list := func(kind string, items []promptItem) {
		for _, it := range items {
			fmt.Fprintf(&b, "== %s: %s, %d bytes, about %d tokens\n%s\n\n", kind, it.Name, it.Bytes, it.Tokens, it.Text)
		}
	}
	for _, block := range p.System {
		list("system", block.Sections)
		if block.Cache != "" {
			fmt.Fprintf(&b, "-- cached up to here for %s\n\n", block.Cache)
		}
	}
	list("tool", p.Tools)
	list("context", p.Context)
	for _, problem := range p.Problems {
		b.WriteString("note: " + problem + "\n")
	}
	fmt.Fprintf(&b, "bytes as sent: system %d, tools %d, messages %d, request %d\n", p.Sizes.System, p.Sizes.Tools, p.Sizes.Context, p.Sizes.Request)
	return b.String()
}
