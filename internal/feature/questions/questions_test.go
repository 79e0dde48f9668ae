package questions

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/hook"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

// TestQuestionsReachTheUser checks that model questions reach the front ends, with the fields
// that hosts need, and that hooks are notified.
//
// Proves X-009.
func TestQuestionsReachTheUser(t *testing.T) {
	const input = `{"questions":[{"question":"Which?","header":"Pick","options":[{"label":"a","description":"first","preview":"[a]"},{"label":"b","description":"second"}],"multiSelect":true}]}`
	var asked session.Question
	var told sync.WaitGroup
	told.Add(1)
	reply := session.Selection{Chosen: [][]string{{"a", "b"}}}
	var failure error
	q := Tool(Config{
		Asks: true,
		Ask: func(_ context.Context, q session.Question) (session.Reply, error) {
			asked = q
			return reply, failure
		},
		Fire: func(_ context.Context, e hook.Event) hook.Outcome {
			if e.Name == hook.Notification {
				told.Done()
			}
			return hook.Outcome{}
		},
	})
	call, err := q.Bind(json.RawMessage(input))
	if err != nil {
		t.Fatal(err)
	}
	r, err := call.Run(tool.WithUse(t.Context(), "toolu_7"), nil)
	if err != nil || msg.PlainText(r.Parts) != "The user answered:\n- Which?\n  a, b" {
		t.Errorf("%q, %v", msg.PlainText(r.Parts), err)
	}
	told.Wait()
	want := session.Choices{
		Items: []session.Choice{{Header: "Pick", Text: "Which?", Multiple: true, Options: []session.Option{
			{Label: "a", Description: "first", Preview: "[a]"}, {Label: "b", Description: "second"}}}},
		Call: session.QuestionCall{Tool: "AskUserQuestion", Use: "toolu_7", Input: asked.(session.Choices).Call.Input},
	}
	if diff := cmp.Diff(session.Question(want), asked); diff != "" {
		t.Error(diff)
	}
	told.Add(1)
	failure = errors.New("withdrawn")
	if _, err := call.Run(t.Context(), nil); !errors.Is(err, failure) {
		t.Errorf("a question without an answer: %v", err)
	}
	told.Wait()
}

// Proves X-009.
func TestNoUser(t *testing.T) {
	if err := Tool(Config{}).Traits().Enabled(); err == nil {
		t.Error("the model can ask where no one answers")
	}
}
