package wire

import (
	"slices"
	"strings"
	"testing"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/tool/tooltest"
)

// Proves CTX-10, CTX-14, CTX-61.
func TestPromptAndSettings(t *testing.T) {
	p := newPlace(t)
	c := p.converse("say Hello.", Spec{})
	look := func() (text string, hour bool) {
		parts, marks := c.told.prompt.Parts("m", make([]msg.ToolSpec, 2))
		return msg.PlainText(parts), slices.ContainsFunc(marks, func(m model.Mark) bool { return m.Hour })
	}
	if text, hour := look(); !strings.Contains(text, "Acting with care") || hour {
		t.Error(text)
	}
	p.Write("home/.adze/settings.json", `{"promptLanguage":"chn","language":"Deutsch","cache1h":["s*"],"communication":"explained"}`)
	c.poll(t)
	text, hour := look()
	if !strings.Contains(text, "谨慎行事") || !strings.Contains(text, "用Deutsch回答") || strings.Contains(text, "没有在旁观看") {
		t.Error("the language counts at once, the way to talk from the next conversation on:", text)
	}
	if hour {
		t.Error("the lifetime changed during a session")
	}
	c = p.converse("say Hello.", Spec{})
	if text, hour := look(); !hour || !strings.Contains(text, "没有在旁观看") {
		t.Error("a new session does not follow the settings:", text)
	}
}

// Proves CTX-10.
func TestToolsAreTranslated(t *testing.T) {
	p := newPlace(t)
	for _, eager := range []string{"eager", "restrained"} {
		p.Write("home/.adze/settings.json", `{"promptLanguage":"chn","snip":{"enabled":true},"contextCollapse":{"enabled":true},"planEagerness":"`+eager+`"}`)
		c := p.following()
		var specs []msg.ToolSpec
		tools := c.tools()
		for _, tl := range tools {
			tooltest.Translated(t, tl)
			specs = append(specs, tl.Spec())
		}
		if len(specs) < 10 {
			t.Errorf("only %d tools", len(specs))
		}
		if got := c.told.describe(specs); got[0].Description == specs[0].Description {
			t.Error("the descriptions are still English")
		}
	}
}
