package exec

import (
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/msg"
	"adze/internal/tool"
)

// Results that no tool wrote. Each says what happened and what the model should do about it.

func errorOutcome(use *msg.ToolUse, err error) Outcome {
	o := Outcome{Result: errorResult(use, words(err))}
	if tool.IsFatal(err) {
		o.Fatal = err
	}
	return o
}

// maxError bounds the text of a result that no tool wrote, in characters.
const maxError = 10_000

func errorResult(use *msg.ToolUse, text string) *msg.ToolResult {
	if cut := cutHead(text, maxError); len(cut) < len(text) {
		text = cut + "[...]"
	}
	return &msg.ToolResult{ID: use.ID, Parts: []msg.Part{&msg.Text{Text: msg.Neutralise(text)}}, IsError: true}
}

// words returns the text of err, or a default if it is empty: a result may not be empty.
func words(err error) string {
	if s := err.Error(); strings.TrimSpace(s) != "" {
		return s
	}
	return "The call failed and did not say why."
}

// Interrupted is the outcome of a use that was stopped, or never started, because of why.
func Interrupted(use *msg.ToolUse, why tool.Abort) Outcome {
	return Outcome{Result: errorResult(use, interruption(why))}
}

func interruption(why tool.Abort) string {
	switch why {
	case tool.AbortNewMessage:
		return "Stopped because the user sent a new message. Read it before deciding how to continue."
	case tool.AbortFallback:
		return "Discarded: the model was replaced by a fallback before this call finished."
	case tool.AbortTimeout:
		return "Stopped: the time limit was reached before this call finished."
	case tool.AbortShutdown:
		return "Stopped: the program was shut down before this call finished."
	case tool.AbortBroken:
		return "Discarded: the response that asked for this call broke off."
	}
	return "Interrupted by the user before it finished."
}

// Cancelled is the outcome of a use that was not run because another one failed.
func Cancelled(use, because *msg.ToolUse, title string) Outcome {
	return Outcome{Result: errorResult(use, fmt.Sprintf(
		"Not run: the call before it failed (%s, %s). Look at that result first.", tool.OneLine(title, 80), because.ID))}
}

// Skipped is the outcome of a use that was not run because the user rejected another one.
func Skipped(use, because *msg.ToolUse) Outcome {
	return Outcome{Result: errorResult(use, fmt.Sprintf(
		"Not run: the user rejected an earlier call of this message (%s). Ask what they want instead.", because.ID))}
}

// denied is the outcome of a use that the gates did not let through.
func denied(use *msg.ToolUse, v tool.Verdict) Outcome {
	var text string
	switch {
	case v.Rejected:
		text = "The user rejected this call."
	case v.By != "":
		text = fmt.Sprintf("Not allowed: refused by %s.", v.By)
	default:
		text = "Not allowed: nothing permits this call."
	}
	if v.Reason != "" {
		text += " " + v.Reason
	}
	text += " Do not repeat the identical call."
	return Outcome{
		Result:   errorResult(use, text),
		Context:  v.Context,
		Stop:     v.Stop,
		Denied:   true,
		Rejected: v.Rejected,
		Remedy:   v.Remedy,
	}
}

// malformed returns the error for an input that is not a JSON object, with the beginning of it.
func malformed(use *msg.ToolUse) error {
	var v map[string]json.RawMessage
	why := "it is not a JSON object"
	if err := json.Unmarshal([]byte(use.Malformed), &v); err != nil {
		why = err.Error()
	}
	return fmt.Errorf("the input of %s is not valid: %s. Received: %s. Send the call again with complete JSON", use.Name, why, tool.OneLine(use.Malformed, 200))
}
