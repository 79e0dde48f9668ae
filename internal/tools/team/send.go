package team

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/tool"
)

var (
	//go:embed send.md
	sendDoc string
	//go:embed send.zh.md
	sendChinese string
	//go:embed send.schema.json
	sendSchema string
	//go:embed send.output.json
	sendOutput string
)

// A Messenger delivers messages to other agents. Carries returns an error if no agent can receive
// messages now.
type Messenger interface {
	Carries() error
	Carry(ctx context.Context, l Message) (Receipt, error)
}

// A Message is a message to other agents.
type Message struct {
	To, Summary string
	// Text is the message text; empty if it is an order.
	Text  string
	Order *ControlMessage
}

// A ControlMessage is a message that the recipient's program handles.
type ControlMessage struct {
	Type    string `json:"type"`
	Request string `json:"request_id,omitempty"`
	Approve *bool  `json:"approve,omitempty"`
	// Reason applies to a shutdown, Feedback to a plan.
	Reason   string `json:"reason,omitempty"`
	Feedback string `json:"feedback,omitempty"`
}

// The types of orders.
const (
	ShutdownRequest  = "shutdown_request"
	ShutdownResponse = "shutdown_response"
	PlanResponse     = "plan_approval_response"
)

// A Receipt is the outcome of sending a letter.
type Receipt struct {
	To     []string `json:"to"`
	Status string   `json:"status"` // a sentence for the model
	// Request is the ID of the request made by the letter; may be empty.
	Request string `json:"requestId,omitempty"`
}

// Send returns the tool that sends messages to other agents.
func Send(c Messenger) tool.Tool {
	return send(c, tool.Traits{Late: true})
}

// Always returns the same tool for an agent that depends on it: it is in every request.
func Always(c Messenger) tool.Tool {
	return send(c, tool.Traits{Core: true})
}

func send(c Messenger, t tool.Traits) tool.Tool {
	t.Translate, t.Hint = tool.InChinese(sendChinese), "write to a teammate or continue a sub-agent"
	t.Params = tool.Params{Texts: []string{"to", "summary", "message"}}
	t.Output, t.Enabled = json.RawMessage(strings.TrimSpace(sendOutput)), c.Carries
	return tool.New(tool.Def{
		Name: "SendMessage", Doc: strings.TrimSpace(sendDoc), Schema: json.RawMessage(strings.TrimSpace(sendSchema)), Traits: t,
	}, func(ctx context.Context, in Input, _ func(tool.Progress)) (tool.Result, error) {
		l, err := in.letter()
		if err != nil {
			return tool.Result{}, err
		}
		receipt, err := c.Carry(ctx, l)
		if err != nil {
			return tool.Result{}, err
		}
		r := tool.Text(receipt.Status)
		r.Structured = receipt
		return r, nil
	})
}

// Input is the input of SendMessage.
type Input struct {
	To      string `json:"to"`
	Summary string `json:"summary,omitempty"`
	Message any    `json:"message"` // text or an [ControlMessage] object
}

// Validate checks the constraints that the schema cannot express.
func (in Input) Validate() error {
	_, err := in.letter()
	return err
}

// letter converts the input to a message, which is text or an order.
func (in Input) letter() (Message, error) {
	l := Message{To: strings.TrimSpace(in.To), Summary: in.Summary}
	if l.To == "" {
		return l, errors.New("to is empty: name the recipient")
	}
	if text, ok := in.Message.(string); ok {
		if l.Text = text; strings.TrimSpace(text) == "" {
			return l, errors.New("the message is empty")
		}
		return l, nil
	}
	object, err := json.Marshal(in.Message)
	if err != nil {
		return l, err
	}
	d := json.NewDecoder(bytes.NewReader(object))
	d.DisallowUnknownFields()
	l.Order = &ControlMessage{}
	if err := d.Decode(l.Order); err != nil {
		return l, fmt.Errorf("the message is neither text nor a known object: %w", err)
	}
	return l, l.Order.check()
}

// check returns an error if an order is incomplete.
func (o *ControlMessage) check() error {
	if !slices.Contains([]string{ShutdownRequest, ShutdownResponse, PlanResponse}, o.Type) {
		return fmt.Errorf("unknown message type %q; send text, or %s, %s or %s", tool.OneLine(o.Type, 40), ShutdownRequest, ShutdownResponse, PlanResponse)
	}
	if o.Type == ShutdownRequest {
		return nil
	}
	switch refuses := o.Approve != nil && !*o.Approve; {
	case o.Request == "":
		return fmt.Errorf("%s needs the request_id of the request that it answers", o.Type)
	case o.Approve == nil:
		return fmt.Errorf("%s needs approve: true or false", o.Type)
	case refuses && o.Type == ShutdownResponse && o.Reason == "":
		return errors.New("say in reason why you do not end")
	case refuses && o.Type == PlanResponse && o.Feedback == "":
		return errors.New("feedback is empty: describe the changes the plan needs")
	}
	return nil
}

// OpenWorld returns false: the call reaches nothing outside.
func (in Input) OpenWorld() bool { return false }

// Planning returns true: the call changes only adze's own messages.
func (in Input) Planning() bool { return true }

// Title returns a line for dialogs and logs.
func (in Input) Title() string {
	about := in.Summary
	if l, err := in.letter(); err == nil && about == "" {
		about = l.Text
		if l.Order != nil {
			about = l.Order.Type
		}
	}
	return fmt.Sprintf("Message to %s: %s", tool.OneLine(in.To, 40), tool.OneLine(about, 80))
}

// Activity returns the spinner text.
func (in Input) Activity() string { return "Writing to " + tool.OneLine(in.To, 40) }
