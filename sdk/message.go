package sdk

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// A Message is something that happened in a session: [*Started], [*Delta], [*Text],
// [*Thinking], [*ToolUse], [*ToolResult], [*Result] or [*Other].
type Message interface {
	// JSON returns the line that adze wrote.
	JSON() json.RawMessage
}

type line struct{ raw json.RawMessage }

func (l line) JSON() json.RawMessage { return l.raw }

// A Started message begins a turn.
type Started struct {
	line
	Session, Dir, Model, PermissionMode string
	Tools                               []string
}

// A Delta is a piece of an answer: text or thinking.
type Delta struct {
	line
	Text, Thinking string
	Agent          string // the call that runs the sub-agent, or ""
}

// A Text is a part of an answer.
type Text struct {
	line
	Text  string
	Agent string
}

// A Thinking is a part of the reasoning before an answer.
type Thinking struct {
	line
	Text  string
	Agent string
}

// A ToolUse is a call of a tool.
type ToolUse struct {
	line
	ID, Name string
	Input    json.RawMessage
	Agent    string
}

// A ToolResult is the result of a call, as the model sees it.
type ToolResult struct {
	line
	ID      string
	Text    string
	IsError bool
	Agent   string
}

// A Result ends a turn.
type Result struct {
	line
	Session string
	Text    string
	Output  json.RawMessage // see Options.Output
	// Reason is why the turn ended, such as completed or max_turns. Errors describes failures.
	Reason   string
	IsError  bool
	Errors   []string
	Turns    int // responses of the model
	CostUSD  float64
	Duration time.Duration
	// Denied are the calls that were refused.
	Denied []Call
}

// A TurnError is a turn that failed.
type TurnError struct{ Result *Result }

func (e *TurnError) Error() string {
	if text := strings.Join(e.Result.Errors, "; "); text != "" {
		return text
	}
	return e.Result.Text
}

// String returns the line that adze wrote.
func (r *Result) String() string { return string(r.raw) }

// Err returns a [*TurnError] if the turn failed.
func (r *Result) Err() error {
	if r.IsError {
		return &TurnError{r}
	}
	return nil
}

// An Other message is any other line, named by Type and Subtype.
type Other struct {
	line
	Type, Subtype string
}

// wireMessage holds the fields of all lines.
type wireMessage struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`
	Parent  string `json:"parent_tool_use_id"`
	Prompt  string `json:"prompt_uuid"`

	Dir   string   `json:"cwd"`
	Model string   `json:"model"`
	Mode  string   `json:"permissionMode"`
	Tools []string `json:"tools"`

	Message json.RawMessage `json:"message"` // its form depends on the type
	Event   struct {
		Delta struct {
			Text     string `json:"text"`
			Thinking string `json:"thinking"`
		} `json:"delta"`
	} `json:"event"`

	Result   string          `json:"result"`
	Output   json.RawMessage `json:"structured_output"`
	Reason   string          `json:"terminal_reason"`
	IsError  bool            `json:"is_error"`
	Errors   []string        `json:"errors"`
	Turns    int             `json:"num_turns"`
	Cost     float64         `json:"total_cost_usd"`
	Duration int64           `json:"duration_ms"`
	Denied   []Call          `json:"permission_denials"`
}

type wireBlock struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	UseID    string          `json:"tool_use_id"`
	Content  json.RawMessage `json:"content"`
	IsError  bool            `json:"is_error"`
}

// decode returns the messages of a line, and the prompt whose result it is.
func decode(data []byte) (all []Message, prompt string, err error) {
	var w wireMessage
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, "", fmt.Errorf("adze wrote a line that is not valid: %w", err)
	}
	l := line{data}
	switch {
	case w.Type == "system" && w.Subtype == "init":
		return []Message{&Started{l, w.Session, w.Dir, w.Model, w.Mode, w.Tools}}, "", nil
	case w.Type == "stream_event" && (w.Event.Delta.Text != "" || w.Event.Delta.Thinking != ""):
		return []Message{&Delta{l, w.Event.Delta.Text, w.Event.Delta.Thinking, w.Parent}}, "", nil
	case w.Type == "assistant" || w.Type == "user":
		all = blocks(l, w)
	case w.Type == "result":
		r := &Result{
			line: l, Session: w.Session, Text: w.Result, Output: w.Output, Reason: w.Reason, IsError: w.IsError, Errors: w.Errors,
			Turns: w.Turns, CostUSD: w.Cost, Duration: time.Duration(w.Duration) * time.Millisecond, Denied: w.Denied,
		}
		return []Message{r}, w.Prompt, nil
	}
	if len(all) == 0 {
		all = []Message{&Other{l, w.Type, w.Subtype}}
	}
	return all, "", nil
}

// blocks returns the parts of a message that have types of their own.
func blocks(l line, w wireMessage) (all []Message) {
	var m struct {
		Content []wireBlock `json:"content"`
	}
	if json.Unmarshal(w.Message, &m) != nil {
		return nil // the content is a plain text, which only users write
	}
	for _, b := range m.Content {
		switch {
		case b.Type == "text" && w.Type == "assistant":
			all = append(all, &Text{l, b.Text, w.Parent})
		case b.Type == "thinking":
			all = append(all, &Thinking{l, b.Thinking, w.Parent})
		case b.Type == "tool_use":
			all = append(all, &ToolUse{l, b.ID, b.Name, b.Input, w.Parent})
		case b.Type == "tool_result":
			all = append(all, &ToolResult{l, b.UseID, plain(b.Content), b.IsError, w.Parent})
		}
	}
	return all
}

// plain returns the text of a tool result, which is a string or a list of blocks.
func plain(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []wireBlock
	json.Unmarshal(content, &parts) // ok: no text
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}
