package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"adze/internal/msg"
	"adze/internal/tool"
)

// maxSaid is the number of characters shown of the user's reason for rejecting a call.
const maxSaid = 200

// Synthetic results, not written by a tool. Each explains the outcome and tells the model how
// to proceed.

func errorOutcome(use *msg.ToolUse, err error) Outcome {
	o := Outcome{Result: errorResult(use, errorText(err))}
	if coded := (*tool.Error)(nil); errors.As(err, &coded) {
		o.Code = coded.Code
	}
	if tool.IsFatal(err) {
		o.Fatal = err
	}
	return o
}

// maxError limits the text of a synthetic result, in characters.
const maxError = 10_000

func errorResult(use *msg.ToolUse, text string) *msg.ToolResult {
	if cut := cutHead(text, maxError); len(cut) < len(text) {
		text = cut + "[...]"
	}
	return &msg.ToolResult{ID: use.ID, Parts: []msg.Part{&msg.Text{Text: msg.Neutralise(text)}}, IsError: true}
}

// errorText returns err's text, or a default if it is empty, because a result must not be empty.
func errorText(err error) string {
	if s := err.Error(); strings.TrimSpace(s) != "" {
		return s
	}
	return "The call failed without an error message."
}

// Interrupted returns the outcome of a use that was stopped because of why.
func Interrupted(use *msg.ToolUse, why tool.Abort) Outcome {
	return Outcome{Result: errorResult(use, interruption(why))}
}

// Unstarted returns the outcome of a use that never started because of why.
func Unstarted(use *msg.ToolUse, why tool.Abort) Outcome {
	if why == tool.AbortUser {
		return Outcome{Result: errorResult(use, "Not run: the user interrupted the turn before it started.")}
	}
	return Interrupted(use, why)
}

func interruption(why tool.Abort) string {
	switch why {
	case tool.AbortNewMessage:
		return "The wait ended because the user sent a new message; the awaited task continues. Read the message before deciding how to continue."
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

// Cancelled returns the outcome of a use that was not run because an earlier one, with that
// title, failed.
func Cancelled(use *msg.ToolUse, title string) Outcome {
	return Outcome{Result: errorResult(use, fmt.Sprintf("Not run, because it may change something and an earlier call failed: %s.", tool.OneLine(title, 80)))}
}

// Skipped returns the outcome of a use that was not run because another one, with the outcome
// because, was rejected.
func Skipped(use *msg.ToolUse, because *Outcome) Outcome {
	advice := "Ask the user how to proceed."
	if because.By != "" {
		advice = "Look at that result first."
	}
	return Outcome{Result: errorResult(use, fmt.Sprintf(
		"Not run: %s rejected an earlier call of this message. %s", rejecter(because.By), advice))}
}

// rejecter names the decider that rejected a call: the user, or another in the user's place.
func rejecter(by string) string {
	if by == "" {
		return "the user"
	}
	return "the " + by + " of this session"
}

// denied returns the outcome of a use that the gates denied.
func denied(use *msg.ToolUse, bound tool.Use) Outcome {
	v := bound.Verdict
	shown := refusal(v)
	text := "Not allowed: " + shown + ". " + firstOf(v.Advice, "Do not repeat the identical call.")
	if v.Rejected {
		text = rejection(v, plans(bound.Call))
	}
	return Outcome{
		Result:   errorResult(use, text),
		Context:  v.Context,
		Stop:     v.Stop,
		Tripped:  v.Tripped,
		Denied:   true,
		Rejected: v.Rejected,
		By:       v.By,
		Refusal:  shown,
		Remedy:   v.Remedy,
	}
}

// refusal returns the source of a denial and its reason.
func refusal(v tool.Verdict) string {
	reason := strings.TrimRight(v.Reason, ".")
	switch {
	case v.Rejected && v.By == "" && reason != "":
		return "you said no: " + tool.OneLine(reason, maxSaid)
	case v.Rejected && v.By == "":
		return "you said no"
	case v.By == "":
		return firstOf(reason, "nothing permits this call")
	case v.Rejected || reason == "":
		return "refused by " + v.By
	}
	return "refused by " + v.By + ": " + reason
}

// plans reports whether a call presents a plan.
func plans(c tool.Call) bool {
	if c == nil {
		return false
	}
	d := tool.DraftOf(c)
	return d != nil && d.Plan != nil
}

// rejection returns the message that tells the model that the user rejected a call or a plan.
func rejection(v tool.Verdict, plan bool) string {
	who := "T" + strings.TrimPrefix(rejecter(v.By), "t")
	switch {
	case v.Reason != "" && plan:
		return fmt.Sprintf("%s rejected the plan and says: «%s». Revise the plan file, and present it again.", who, strings.TrimSpace(v.Reason))
	case v.Reason != "":
		return fmt.Sprintf("%s rejected this call and says: «%s». Take that into account, and do not repeat the identical call.", who, strings.TrimSpace(v.Reason))
	case v.Stop != "":
		return who + " rejected this call and stopped the turn: it was not run. Wait for their next message, and do not repeat the call unless they ask for it."
	}
	return who + " rejected this call. Do not repeat the identical call."
}

// Rejection returns the user-facing reason of a stored result if the user rejected its call.
func Rejection(r *msg.ToolResult) (refusal string, rejected bool) {
	text, ok := strings.CutPrefix(msg.PlainText(r.Parts), "The user rejected ")
	if !ok || !r.IsError {
		return "", false
	}
	_, said, reason := strings.Cut(text, " and says: «")
	if end := strings.LastIndex(said, "»."); reason && end >= 0 {
		return "you said no: " + tool.OneLine(said[:end], maxSaid), true
	}
	return "you said no", true
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// malformed returns the error for an input that is not a JSON object, quoting its beginning.
func malformed(use *msg.ToolUse, t tool.Tool) error {
	received := tool.OneLine(strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(use.Malformed), 200)
	var v any
	if err := json.Unmarshal([]byte(use.Malformed), &v); err != nil {
		return fmt.Errorf("the input of %s is not valid JSON: %s. Received: %s. Send the call again with complete JSON", use.Name, err, received)
	}
	var fields struct{ Required []string }
	json.Unmarshal(t.Spec().Schema, &fields) // ok: the message then has no example
	example := "{}"
	if len(fields.Required) > 0 {
		example = `{"` + strings.Join(fields.Required, `": "…", "`) + `": "…"}`
	}
	return fmt.Errorf("the input of %s must be an object such as %s. Received: %s", use.Name, example, received)
}
