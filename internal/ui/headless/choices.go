package headless

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/ui/ask"
	"adze/internal/ui/streamjson"
)

// askChoices returns the request that sends questions from the model or a hook to the host.
// Hosts receive them as a tool call and answer by allowing it with the answers in its input.
func askChoices(id string, q session.Choices) []byte {
	c := q.Call
	o := &streamjson.Object{}
	o.Str("type", "control_request")
	o.Str("request_id", id)
	o.Object("request", func(o *streamjson.Object) {
		o.Str("subtype", "can_use_tool")
		o.Str("tool_name", c.Tool)
		o.Raw("input", c.Input)
		o.Str("tool_use_id", c.Use)
		if q.From != "" {
			o.Str("title", ask.Asks(q.From)+":")
		}
		o.Bool("requires_user_interaction", true)
	})
	return o.Line()
}

// An answerText is the answer to one question: a text, or the labels of several options.
type answerText []string

// UnmarshalJSON accepts a string or a list of strings.
func (a *answerText) UnmarshalJSON(data []byte) error {
	var all []string
	var one string
	if json.Unmarshal(data, &one) == nil {
		all = []string{one}
	} else if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*a = slices.DeleteFunc(all, func(text string) bool { return strings.TrimSpace(text) == "" })
	return nil
}

// chosenBy returns the host's selection. A host that denies the call, or allows it without
// answers, has not asked the user.
func chosenBy(a permission.Answer, c session.Choices) (reply session.Reply, problem string) {
	if a.Behavior != permission.Allow {
		return session.Selection{Declined: true, Message: a.Message}, ""
	}
	var in struct {
		Answers  map[string]answerText `json:"answers"`
		Response string                `json:"response"`
	}
	if len(a.Input) > 0 {
		if err := json.Unmarshal(a.Input, &in); err != nil {
			return c.Unanswered(), "the host's answers to the model's questions are not valid: answers must be an object with a text for each question"
		}
	}
	s := session.Selection{Message: in.Response}
	answered := false
	for _, item := range c.Items {
		chosen := in.Answers[item.Text]
		delete(in.Answers, item.Text)
		if !item.Multiple && len(chosen) > 1 {
			chosen = answerText{strings.Join(chosen, ", ")}
		}
		answered = answered || len(chosen) > 0
		s.Chosen = append(s.Chosen, chosen)
	}
	if !answered {
		s = session.Selection{Declined: true, Message: in.Response}
	}
	if err := c.Check(s); err != nil {
		return c.Unanswered(), "the host's answers do not fit: " + err.Error()
	}
	return s, unmatched(len(in.Answers))
}

// unmatched describes n answers that match no question. It returns "" if n is 0.
func unmatched(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of the host's answers match no question; use the question's text as the key", n)
}
