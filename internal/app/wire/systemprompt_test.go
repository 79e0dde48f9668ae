package wire

import (
	"regexp"
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
		parts, marks := c.prompt.prompt.Parts("m", make([]msg.ToolSpec, 2))
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
		if got := c.prompt.describe(specs); got[0].Description == specs[0].Description {
			t.Error("the descriptions are still English")
		}
	}
}

// TestToolDescriptions checks that tool descriptions contain required facts, in any of several
// wordings (model-side 2.2, D4 to D9), and omit outdated ones.
func TestToolDescriptions(t *testing.T) {
	described, schemas := map[string]string{}, map[string]string{}
	for _, tl := range newPlace(t).following().tools() {
		spec := tl.Spec()
		described[spec.Name], schemas[spec.Name] = spec.Description, string(spec.Schema)
	}
	for _, tt := range []struct{ tool, concept, wordings string }{
		{"Edit", "what must be read", `must have been read`},
		{"Edit", "what is refused", `changed after you read it is refused`},
		{"Edit", "numbers of lines are not part", `without the line number`},
		{"Glob", "ignored files", `ignored by \.gitignore.*skipped`}, {"Glob", "hidden files", `hidden files are (included|found)`},
		{"Grep", "ignored files", `ignored by \.gitignore.*skipped`}, {"Grep", "hidden files", `hidden files are (included|searched)`},
		{"Grep", "escapes", `escape literal braces`}, {"Grep", "what there is not", `no look-around.*no back-references`},
		{"Read", "images", `images`}, {"Read", "directories", `director(y|ies).*Glob.*ls`},
		{"Write", "no documents unasked", `documentation.*only when`},
		{"ExitPlanMode", "no plan is needed", `needs no change.*answer`},
	} {
		if !regexp.MustCompile(`(?is)` + tt.wordings).MatchString(described[tt.tool]) {
			t.Errorf("%s does not say: %s\n%s", tt.tool, tt.concept, described[tt.tool])
		}
	}
	for name, text := range described {
		if gone := regexp.MustCompile(`(?i)the user who watches|unless you say otherwise|meant as such|Hidden files are\.|\bpictures\b`).FindString(text); gone != "" {
			t.Errorf("%s says %q", name, gone)
		}
	}
	for _, tt := range [][2]string{
		{"NotebookEdit", `"enum":["code","markdown"]`}, {"NotebookEdit", `"enum":["replace","insert","delete"]`},
		{"ExitPlanMode", `"tool":{"type":"string","enum":["Bash"]}`}, {"ExitPlanMode", `"plan":{`},
	} {
		if !strings.Contains(schemas[tt[0]], tt[1]) {
			t.Errorf("%s has no %s: %s", tt[0], tt[1], schemas[tt[0]])
		}
	}
}
