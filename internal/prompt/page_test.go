package prompt

import (
	"strings"
	"testing"

	"adze/internal/domain/memdir"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

func TestPage(t *testing.T) {
	p := newProject(t)
	p.write("CLAUDE.md", "Use tabs.")
	prompt := NewPrompt(PromptConfig{
		Choice:   Choice{Append: strings.Repeat("long ", 5000)},
		Layout:   Layout{Client: "adze/1.0"},
		Memory:   Memory{Mode: func() memdir.Mode { return memdir.Off }},
		Model:    func(id string) Model { return Model{ID: id} },
		Language: func() texts.Language { return texts.English },
		Answer:   func() string { return "" },
		Shared:   func() bool { return false },
		Note:     func(text string) { t.Error(text) },
	})
	specs := []msg.ToolSpec{{Name: "Do", Description: "Does it.", Schema: []byte(`{"type":"object"}`)}}
	page, err := NewPage("m", prompt, p.announcer(), specs)
	if err != nil {
		t.Fatal(err)
	}
	var cached []string
	for _, b := range page.System {
		cached = append(cached, b.Sections[0].Name+" "+b.Cache)
	}
	if got := strings.Join(cached, ", "); got != "client , identity , intro 5m" {
		t.Errorf("the blocks are %s", got)
	}
	if len(page.Tools) != 1 || page.Tools[0].Bytes <= len("Does it.") || page.Tools[0].Tokens == 0 {
		t.Errorf("the tools are %+v", page.Tools)
	}
	if len(page.Context) != 1 || !strings.Contains(page.Context[0].Text, "Use tabs.") {
		t.Errorf("the opening is %+v", page.Context)
	}
	if len(page.Problems) != 1 || page.Problems[0] != "the section append has 25000 characters, which are sent with every request" {
		t.Errorf("the problems are %q", page.Problems)
	}
	if s := page.Sizes; s.Request < s.System+s.Tools+s.Context || s.System < 25000 || s.Tools == 0 || s.Context == 0 {
		t.Errorf("the sizes are %+v", s)
	}
	bare, err := NewPage("m", prompt, nil, nil)
	if err != nil || len(bare.Context) != 0 || bare.Sizes.Context == 0 {
		t.Errorf("%+v, %v", bare.Sizes, err)
	}
}
