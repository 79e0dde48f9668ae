package about

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/platform/text/redact"
)

func debugToolCallCommand() commands.Command {
	return commands.Command{Name: "debug-tool-call", Rare: true, Args: "[N]", Doc: "show the last tool call, or the Nth last: the model's input and the result",
		Run: func(_ context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
			return showCall(r, arg)
		}}
}

// maxCall is the maximum number of bytes shown of an input or a result.
const maxCall = 4000

// showCall shows a call of the conversation as the model sees it, without apparent secrets.
func showCall(r *commands.Registry, which string) (commands.Answer, error) {
	n := 1
	if which != "" {
		var err error
		if n, err = strconv.Atoi(which); err != nil || n < 1 {
			return nil, errors.New("usage: /debug-tool-call, or /debug-tool-call N for the Nth last call")
		}
	}
	var uses []*msg.ToolUse
	results := map[string]*msg.ToolResult{}
	for _, e := range r.Session.Conversation() {
		uses = append(uses, e.Message.Uses()...)
		for _, p := range e.Message.Parts {
			if res, ok := p.(*msg.ToolResult); ok {
				results[res.ID] = res
			}
		}
	}
	if len(uses) == 0 {
		return nil, errors.New("no tool was called in this conversation")
	}
	if n > len(uses) {
		return nil, errors.New("there are fewer calls in this conversation: " + strconv.Itoa(len(uses)))
	}
	slices.Reverse(uses)
	u := uses[n-1]
	state, result := "has no result yet", ""
	if res := results[u.ID]; res != nil {
		state, result = "succeeded", msg.PlainText(res.Parts)
		if res.IsError {
			state = "failed"
		}
	}
	shown := func(text string) commands.Items {
		if text = redact.String(text); len(text) > maxCall {
			text = strings.ToValidUTF8(text[:maxCall], "") + "..."
		}
		return commands.Items(strings.Split(text, "\n"))
	}
	var p commands.Page
	p.Add(commands.Fields{{Name: "Tool", Value: u.Name}, {Name: "Call", Value: u.ID}, {Name: "State", Value: state}}, commands.Text("Input:"), shown(string(u.Input)))
	if result != "" {
		p.Add(commands.Text("Result:"), shown(result))
	}
	return p, nil
}
