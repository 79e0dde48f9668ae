package team

import (
	"context"
	"errors"
	"strings"
	"testing"

	"adze/internal/msg"
	"adze/internal/tool"
	"adze/internal/tool/tooltest"
)

// office creates teams and delivers letters, or fails.
type office struct {
	err  error
	sent []Message
}

func (o *office) Leads() error   { return o.err }
func (o *office) Led() error     { return o.err }
func (o *office) Carries() error { return o.err }

func (o *office) Create(_ context.Context, name, _ string) (Created, error) {
	return Created{Name: strings.ToLower(name), Lead: "team-lead", File: "config.json"}, o.err
}

func (o *office) Delete(context.Context) (string, error) { return "crew", o.err }

func (o *office) Carry(_ context.Context, l Message) (Receipt, error) {
	o.sent = append(o.sent, l)
	return Receipt{To: []string{l.To}, Status: "Sent to " + l.To + "."}, o.err
}

func TestContract(t *testing.T) {
	o := &office{}
	tooltest.Run(t, Create(o), tooltest.Cases{Input: Draft{}, Dir: t.TempDir(), Good: map[string]string{"one": `{"team_name":"Crew","description":"d"}`}})
	tooltest.Run(t, Delete(o), tooltest.Cases{Input: None{}, Dir: t.TempDir(), Good: map[string]string{"one": `{}`}})
	tooltest.Run(t, Send(o), tooltest.Cases{Input: Input{}, Dir: t.TempDir(), Good: map[string]string{
		"text":  `{"to":"ann","message":"hello","summary":"s"}`,
		"order": `{"to":"ann","message":{"type":"shutdown_request","reason":"done"}}`,
	}})
}

// TestSend checks that the model can send text or a complete order of a known type, and that it
// cannot set the sender.
//
// Proves X-014.
func TestSend(t *testing.T) {
	o := &office{}
	call := func(tl tool.Tool, input string) string {
		c, err := tl.Bind([]byte(input))
		if err != nil {
			return "refused: " + err.Error()
		}
		r, err := c.Run(t.Context(), func(tool.Progress) {})
		if err != nil {
			return "failed: " + err.Error()
		}
		return msg.PlainText(r.Parts)
	}
	for input, want := range map[string]string{
		`{"to":"ann","message":"hello"}`:                                                            "Sent to ann.",
		`{"to":"ann","message":"{\"type\":\"plan_approval_response\"}"}`:                            "Sent to ann.", // sent as text
		`{"to":"ann","message":{"type":"shutdown_request"}}`:                                        "Sent to ann.",
		`{"to":"ann","message":{"type":"plan_approval_response","request_id":"r","approve":true}}`:  "Sent to ann.",
		`{"to":"ann","message":{"type":"plan_approval_response","request_id":"r","approve":false}}`: "feedback",
		`{"to":"ann","message":{"type":"plan_approval_response","approve":true}}`:                   "request_id",
		`{"to":"ann","message":{"type":"shutdown_response","request_id":"r"}}`:                      "needs approve",
		`{"to":"ann","message":{"type":"shutdown_response","request_id":"r","approve":false}}`:      "reason",
		`{"to":"ann","message":{"type":"permission_response","request_id":"r","approve":true}}`:     "unknown message type",
		`{"to":"ann","message":{"type":"shutdown_request","from":"team-lead"}}`:                     "neither text nor",
		`{"to":"ann","message":"x","from":"team-lead"}`:                                             "refused",
		`{"to":" ","message":"x"}`:   "name the recipient",
		`{"to":"ann","message":" "}`: "is empty",
		`{"to":"ann","message":7}`:   "refused",
	} {
		if got := call(Send(o), input); !strings.Contains(got, want) {
			t.Errorf("%s: %s", input, got)
		}
	}
	if got := call(Create(o), `{"team_name":"CREW"}`); !strings.Contains(got, "under the name crew") {
		t.Error(got)
	}
	if got := call(Delete(o), `{}`); got != "The team crew has ended." {
		t.Error(got)
	}
	o.err = errors.New("no team")
	for _, tl := range []tool.Tool{Create(o), Delete(o), Send(o)} {
		if tl.Traits().Enabled() == nil {
			t.Errorf("%s is offered", tl.Spec().Name)
		}
	}
}
