package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"adze/internal/app/models"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/settings"
)

// TestTwoConversations checks that two conversations open on one workspace have separate
// models, modes, prompts, file states, transcripts and costs.
func TestTwoConversations(t *testing.T) {
	p := newPlace(t)
	p.Write("work/notes.txt", "one\n")
	p.Write("first.replay", "use Read {\"file_path\":\"notes.txt\"}\n---\nsay First read it.\nusage input=10 output=3\n---\n"+
		"use Edit {\"file_path\":\"notes.txt\",\"old_string\":\"one\",\"new_string\":\"two\"}\n---\nsay First edited it.")
	p.Write("second.replay", "use Edit {\"file_path\":\"notes.txt\",\"old_string\":\"one\",\"new_string\":\"three\"}\n---\nsay Second could not.")
	w := p.open(settings.Source{Trust: true})
	open := func(spec Spec) *Conversation {
		c, err := w.Converse(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	system := "You are the second."
	first := open(Spec{
		Model: ModelSpec{Name: models.ReplayPrefix + p.Path("first.replay"), Record: p.Path("sent-first")}, Access: AccessSpec{Mode: "acceptEdits"},
	})
	second := open(Spec{
		Model: ModelSpec{Name: models.ReplayPrefix + p.Path("second.replay"), Record: p.Path("sent-second")}, Access: AccessSpec{Mode: "dontAsk"},
		Prompt: PromptSpec{System: &system}, Limits: Limits{MaxTurns: 5},
	})
	if first.Session.ID() == second.Session.ID() || first.record.Path() == second.record.Path() {
		t.Error("they share a transcript")
	}
	if first.Facts().Mode != "acceptEdits" || second.Facts().Mode != "dontAsk" {
		t.Errorf("the modes are %s and %s", first.Facts().Mode, second.Facts().Mode)
	}

	// Turns run at the same time.
	for _, c := range []*Conversation{first, second} {
		if err := c.Session.Submit(t.Context(), session.Prompt{Parts: []msg.Part{&msg.Text{Text: "Go."}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []*Conversation{first, second} {
		if err := c.Session.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	said := func(c *Conversation) string {
		var b strings.Builder
		for _, e := range c.Session.Conversation() {
			b.WriteString(msg.PlainText(e.Message.Parts) + "\n")
			for _, part := range e.Message.Parts {
				if r, ok := part.(*msg.ToolResult); ok {
					b.WriteString(msg.PlainText(r.Parts) + "\n")
				}
			}
		}
		return b.String()
	}
	if text := said(first); !strings.Contains(text, "First read it.") || strings.Contains(text, "Second") {
		t.Errorf("the first conversation is\n%s", text)
	}
	// The second has not read the file even though the first has.
	if text := said(second); !strings.Contains(text, "Second could not.") || len(second.files.seen()) != 0 {
		t.Errorf("the second conversation is\n%s", text)
	}
	if len(first.files.seen()) != 1 {
		t.Errorf("the first has seen %v", first.files.seen())
	}
	if got := second.Session.Totals(); got.Models[ScriptedModel] == first.Session.Totals().Models[ScriptedModel] {
		t.Errorf("the costs are the same: %+v", got)
	}

	// Session rules are separate; settings changes apply to both.
	second.Allow("Bash")
	if len(first.Gate.Policy().Rules()) != 0 || len(second.Gate.Policy().Rules()) != 1 {
		t.Error("they share their rules")
	}
	p.Write("home/.adze/settings.json", `{"permissions":{"deny":["Write"]}}`)
	change, ok := w.Project.Poll()
	if !ok {
		t.Fatal("no change was noticed")
	}
	w.tell(change)
	if !first.denies("Write") || !second.denies("Write") {
		t.Error("not both follow the settings")
	}

	second.Close()
	say(t, first.Session, "Now edit it.")
	if text := said(first); !strings.Contains(text, "First edited it.") {
		t.Errorf("after the second was closed the first is\n%s", text)
	}
}

// TestConversationsShareSchemas checks that conversations in one workspace share a compiled
// output schema, independent of its formatting.
//
// Proves SOUT-04.
func TestConversationsShareSchemas(t *testing.T) {
	w := newPlace(t).open(settings.Source{Trust: true})
	var first *byte
	for _, schema := range []string{`{"type":"object","required":["a"]}`, ` {"required":["a"], "type":"object"}`, `{"type":"object","required":["a"]}`} {
		c, err := w.Converse(t.Context(), Spec{Calls: Single, Schema: json.RawMessage(schema)})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if at := &c.output.Spec().Schema[0]; first == nil {
			first = at
		} else if at != first {
			t.Errorf("%s is compiled again", schema)
		}
	}
}
