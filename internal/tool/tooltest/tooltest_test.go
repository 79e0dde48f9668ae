package tooltest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"adze/internal/platform/shell"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

type echoInput struct {
	Text string `json:"text"`
}

func echo(change func(*tool.Def)) tool.Tool {
	def := tool.Def{
		Name:   "Echo",
		Doc:    "Repeats a text.",
		Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","description":"The text."}},"required":["text"],"additionalProperties":false}`),
		Traits: tool.Traits{Hint: "repeat a short text", Translate: tool.InChinese("-- doc --\n重复文本。\n-- text --\n文本。"), Output: json.RawMessage(`{"type":"object","required":["said"],"additionalProperties":false,"properties":{"said":{"type":"string"}}}`)},
	}
	change(&def)
	return tool.New(def, func(_ context.Context, in echoInput, _ func(tool.Progress)) (tool.Result, error) {
		res := tool.Text(in.Text)
		res.Structured = map[string]string{"said": in.Text}
		return res, nil
	})
}

func TestAGoodToolPasses(t *testing.T) {
	Run(t, echo(func(*tool.Def) {}), Cases{
		Input: echoInput{},
		Good:  map[string]string{"plain": `{"text":"hello"}`},
		Slow:  `{"text":"hello"}`,
		Dir:   t.TempDir(),
	})
}

// Proves TOOL-13.
func TestDeclares(t *testing.T) {
	tests := []struct {
		name   string
		change func(*tool.Def)
		want   string
	}{
		{"short hint", func(d *tool.Def) { d.Hint = "repeat text" }, "has 2 words"},
		{"long hint", func(d *tool.Def) { d.Hint = strings.Repeat("word ", 11) }, "has 11 words"},
		{"no description", func(d *tool.Def) { d.Doc = "" }, "description has 0 bytes"},
		{"long description", func(d *tool.Def) { d.Doc = strings.Repeat("x", maxDoc+1) }, "description has 10001 bytes"},
		{"illegal alias", func(d *tool.Def) { d.Aliases = []string{"a b"} }, `"a b"`},
		{"negative cap", func(d *tool.Def) { d.MaxChars = -1 }, "capped at -1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(declares(echo(tt.change)), "\n")
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
		})
	}
	if got := declares(echo(func(d *tool.Def) { d.Hint, d.Origin = "", "mcp:db" })); len(got) > 0 {
		t.Errorf("a server's tool without a hint: %v", got)
	}
}

// Proves CTX-10.
func TestTranslated(t *testing.T) {
	for chinese, want := range map[string]string{
		"-- doc --\n一\n二\n-- text --\n三":             "Echo: the Chinese description has 1 line breaks, the English one 0",
		"-- doc --\n一\n-- text --\n{}\n":             "Echo: the Chinese text of text is empty or has a gap",
		"-- doc --\n一\n-- text --\n二\n-- more --\n三": "Echo: Chinese text for an unknown parameter more",
	} {
		problems, missing := translated(echo(func(d *tool.Def) { d.Translate = tool.InChinese(chinese) }))
		if got := strings.Join(problems, "\n"); got != want || len(missing) > 0 {
			t.Errorf("%q: %s", chinese, got)
		}
	}
	for _, f := range []func(texts.Language) map[string]string{nil, tool.InChinese("-- doc --\n一"), tool.InChinese("-- text --\n一")} {
		if problems, missing := translated(echo(func(d *tool.Def) { d.Translate = f })); len(problems) > 0 || len(missing) != 1 {
			t.Errorf("a missing text is reported as %q, %q", problems, missing)
		}
	}
}

// Proves TOOL-05.
func TestConforms(t *testing.T) {
	schema := echo(func(*tool.Def) {}).Traits().Output
	if err := conforms(schema, map[string]string{"said": "x"}); err != nil {
		t.Error(err)
	}
	if err := conforms(nil, nil); err != nil {
		t.Error(err)
	}
	for name, shape := range map[string]any{
		"undeclared": map[string]string{"said": "x", "more": "y"}, "missing": map[string]string{}, "other type": map[string]int{"said": 1}, "none": nil,
	} {
		if err := conforms(schema, shape); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := conforms(nil, "x"); err == nil {
		t.Error("without a schema: no error")
	}
}

// A fickle call breaks one rule for capabilities at a time.
type fickle struct {
	echoInput
	break_ string
	asked  int
}

func (f *fickle) Input() any { return &f.echoInput }
func (f *fickle) Run(context.Context, func(tool.Progress)) (tool.Result, error) {
	return tool.Text("ok"), nil
}

func (f *fickle) ReadOnly() bool {
	f.asked++
	return f.break_ == "answer" && f.asked > 1
}

func (f *fickle) Title() string {
	if f.break_ == "input" {
		f.Text = "other"
	}
	if f.break_ == "title" {
		return ""
	}
	return "Echo"
}

func (f *fickle) Command() *tool.Command {
	c := &tool.Command{Line: f.Text, Script: shell.Parse(f.Text, shell.Vars{})}
	if f.break_ == "command" {
		c.Script = nil
	}
	return c
}

func TestImpure(t *testing.T) {
	for broken, want := range map[string]string{
		"answer": "ReadOnly answers false, then true", "input": "a capability changed the input", "title": "Title answers nothing",
		"command": "either a script or a foreign one",
	} {
		got := strings.Join(impure(&fickle{echoInput: echoInput{"hello"}, break_: broken}), "\n")
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q", broken, got)
		}
	}
}
