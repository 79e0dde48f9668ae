package prompt

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

// TestToolTexts checks that tools and their parameters are described in the prompt language,
// and in English without a translation.
//
// Proves CTX-10.
func TestToolTexts(t *testing.T) {
	newTool := func(name, chinese string) tool.Tool {
		d := tool.Def{Name: name, Doc: "Does it.", Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer","description":"How often."}}}`)}
		if chinese != "" {
			d.Translate = tool.InChinese(chinese)
		}
		return tool.New(d, func(context.Context, struct{}, func(tool.Progress)) (tool.Result, error) { return tool.Result{}, nil })
	}
	tools := []tool.Tool{newTool("Do", "-- doc --\n做。\n-- n --\n多少次。"), newTool("Undo", "")}
	specs := []msg.ToolSpec{tools[0].Spec(), tools[1].Spec(), {Name: "Other", Description: "From elsewhere."}}
	before := specs[0]
	all := NewToolTexts(tools)
	got := all.In(texts.Chinese, specs)
	want := []msg.ToolSpec{{Name: "Do", Description: "做。", Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer","description":"多少次。"}}}`)}, specs[1], specs[2]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, specs[0]); diff != "" {
		t.Error("the tools themselves were changed:", diff)
	}
	if again := all.In(texts.Chinese, specs); &again[0] != &got[0] {
		t.Error("the same tools were translated twice")
	}
	if same := all.In(texts.English, specs); &same[0] != &specs[0] {
		t.Error("English was translated")
	}
	if same := (*ToolTexts)(nil).In(texts.Chinese, specs); &same[0] != &specs[0] {
		t.Error("nothing was translated into something")
	}
}
