package fit

import (
	"strings"
	"testing"

	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/msg"
)

// TestMedia checks that a model without image support gets a description instead of media its
// server would reject, with the same parts in each request.
//
// Proves PROV-10, PROV-12.
func TestMedia(t *testing.T) {
	image, document := &msg.Image{MediaType: "image/png", Data: []byte("x")}, &msg.Document{MediaType: "application/pdf", Data: []byte("x")}
	text := &msg.Text{Text: "look"}
	messages := []msg.Message{
		{Role: msg.User, Parts: []msg.Part{text, image, document}},
		{Role: msg.Assistant, Parts: []msg.Part{&msg.ToolUse{ID: "1", Name: "Read"}}},
		{Role: msg.User, Parts: []msg.Part{&msg.ToolResult{ID: "1", IsError: true, Parts: []msg.Part{image, text}}}},
	}
	s := &spy{}
	p := New(s, Config{Note: func(string) {}})
	ask := func(name string) []msg.Message {
		p.Stream(t.Context(), &model.Request{Model: name, Messages: messages})
		return s.got.Messages
	}
	if got := ask("claude-opus-5-5"); &got[0] != &messages[0] {
		t.Error("a model that sees gets other messages")
	}
	first := ask("mine")
	if first[0].Parts[0] != text || first[1].Parts[0] != messages[1].Parts[0] || messages[0].Parts[1] != image {
		t.Error("text or the history changed")
	}
	for i, want := range map[int]string{1: "mine cannot see images", 2: "mine cannot read documents"} {
		if got, ok := first[0].Parts[i].(*msg.Text); !ok || !strings.Contains(got.Text, want) {
			t.Errorf("part %d is %+v", i, first[0].Parts[i])
		}
	}
	result, ok := first[2].Parts[0].(*msg.ToolResult)
	if !ok || result.ID != "1" || !result.IsError || len(result.Parts) != 2 || result.Parts[0] != first[0].Parts[1] || result.Parts[1] != text {
		t.Errorf("the result is %+v", first[2].Parts[0])
	}
	p.Stream(t.Context(), &model.Request{Model: "mine", Messages: []msg.Message{msg.UserText("beside")}})
	messages = append(messages, msg.UserText("more"))
	for i, m := range ask("mine")[:3] {
		for j, part := range m.Parts {
			if part != first[i].Parts[j] {
				t.Errorf("message %d, part %d is another one in the next request", i, j)
			}
		}
	}
	if got := ask("grok-4.7"); got[0].Parts[1] != image || got[0].Parts[2] == document {
		t.Errorf("a model with vision but without documents gets %+v", got[0].Parts)
	}
}

// TestNoTools checks that a model without tools yields an actionable error before anything is
// sent.
func TestNoTools(t *testing.T) {
	table, err := catalog.Table{}.With(map[string]catalog.Override{"old": {Tools: new(false)}})
	if err != nil {
		t.Fatal(err)
	}
	s := &spy{}
	p := New(s, Config{Table: table, Note: func(string) {}})
	for range p.Stream(t.Context(), &model.Request{Model: "old"}) {
	}
	if s.got == nil {
		t.Error("a question without tools was not sent")
	}
	s.got = nil
	for _, err := range p.Stream(t.Context(), &model.Request{Model: "old", Tools: []msg.ToolSpec{{Name: "Read"}}}) {
		if text := model.Explain(err, "old", true); model.KindOf(err) != model.NoTools || !strings.Contains(text, "old cannot call tools") || !strings.Contains(text, "/model") {
			t.Errorf("error %v: %s", err, text)
		}
	}
	if s.got != nil {
		t.Error("the request was sent")
	}
}

// TestCacheKey checks that providers with automatic caching get a key that identifies requests
// with the same prefix.
//
// Proves PROV-30.
func TestCacheKey(t *testing.T) {
	for name, want := range map[string]string{"gpt-6-sol": "key", "grok/grok-4.7": "key", "mine": "key", "claude-opus-5-5": ""} {
		s := &spy{}
		New(s, Config{CacheKey: "key", Note: func(string) {}}).Stream(t.Context(), &model.Request{Model: name})
		if s.got.CacheKey != want {
			t.Errorf("%s: %q", name, s.got.CacheKey)
		}
	}
}
