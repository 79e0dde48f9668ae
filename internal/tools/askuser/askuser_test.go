package askuser

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/tool"
	"adze/internal/tool/tooltest"
)

const two = `{"questions":[
	{"question":"Which colour?","header":"Colour","options":[{"label":"red","description":"like a rose"},{"label":"blue","description":"like the sky"}]},
	{"question":"Which sizes?","header":"Size","multiSelect":true,"options":[{"label":"S","description":"small","preview":"[ ]"},{"label":"L","description":"large"}]}]}`

func answering(a Answer, err error) tool.Tool {
	return New(Config{Ask: func(context.Context, []Question) (Answer, error) { return a, err }})
}

func TestContract(t *testing.T) {
	tooltest.Run(t, answering(Answer{Chosen: [][]string{{"red"}, {"S"}}}, nil), tooltest.Cases{Good: map[string]string{"two": two}, Input: Input{}})
}

// TestAnswers checks that answers are returned with their questions, as text for the model and
// as an object for hosts.
//
// Proves X-009.
func TestAnswers(t *testing.T) {
	tests := []struct {
		answer  Answer
		text    string
		answers map[string]string
	}{
		{Answer{Chosen: [][]string{{"blue"}, {"S", "L"}}}, "The user answered:\n- Which colour?\n  blue\n- Which sizes?\n  S, L",
			map[string]string{"Which colour?": "blue", "Which sizes?": "S, L"}},
		{Answer{Chosen: [][]string{nil, {"XXL"}}, Message: "see you"},
			"The user answered:\n- Which colour?\n  (skipped: decide this yourself and state your assumptions)\n- Which sizes?\n  XXL\nThey added: see you",
			map[string]string{"Which sizes?": "XXL"}},
		{Answer{Declined: true}, "The user did not answer. Do not repeat the question: decide yourself where possible and state your assumptions.", map[string]string{}},
		{Answer{Declined: true, Message: "ask me tomorrow"}, "No option was chosen. The reply was: ask me tomorrow", map[string]string{}},
	}
	for _, tt := range tests {
		call, err := answering(tt.answer, nil).Bind(json.RawMessage(two))
		if err != nil {
			t.Fatal(err)
		}
		r, err := call.Run(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.text, msg.PlainText(r.Parts)); diff != "" {
			t.Error(diff)
		}
		out := r.Structured.(Output)
		if diff := cmp.Diff(tt.answers, out.Answers); diff != "" || len(out.Questions) != 2 || out.Response != tt.answer.Message {
			t.Errorf("%+v %s", out, diff)
		}
	}
	call, err := answering(Answer{}, errors.New("withdrawn")).Bind(json.RawMessage(two))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call.Run(t.Context(), nil); err == nil {
		t.Error("a result for an unknown question")
	}
}

// TestBadQuestions checks that the input must have one to four questions with two to four
// options each, and no answers.
//
// Proves X-009.
func TestBadQuestions(t *testing.T) {
	question := func(text string, labels ...string) string {
		var options []string
		for _, l := range labels {
			options = append(options, `{"label":"`+l+`","description":"d"}`)
		}
		return `{"question":"` + text + `","header":"h","options":[` + strings.Join(options, ",") + `]}`
	}
	for name, input := range map[string]string{
		"none":         `{"questions":[]}`,
		"five":         `{"questions":[` + strings.Join([]string{question("a?", "1", "2"), question("b?", "1", "2"), question("c?", "1", "2"), question("d?", "1", "2"), question("e?", "1", "2")}, ",") + `]}`,
		"one option":   `{"questions":[` + question("a?", "1") + `]}`,
		"five options": `{"questions":[` + question("a?", "1", "2", "3", "4", "5") + `]}`,
		"twice":        `{"questions":[` + question("a?", "1", "2") + `,` + question("a?", "1", "2") + `]}`,
		"same options": `{"questions":[` + question("a?", "1", "1") + `]}`,
		"no text":      `{"questions":[` + question("", "1", "2") + `]}`,
		"its answers":  `{"questions":[` + question("a?", "1", "2") + `],"answers":{"a?":"1"}}`,
	} {
		if _, err := answering(Answer{}, nil).Bind(json.RawMessage(input)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
