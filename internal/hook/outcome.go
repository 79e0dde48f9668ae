package hook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adze/internal/msg"
	"adze/internal/tool"
)

// An Outcome is the combined result of an event's hooks. The zero value has no effect.
type Outcome struct {
	// Decision is the strictest decision about the call of [PreToolUse] or [PermissionRequest].
	// By names the hook that decided or blocked, and Reason is its reason.
	Decision   tool.Decision
	By, Reason string
	// Blocked means that the event must not happen, or that the model must not stop yet.
	Blocked bool
	// Stop ends the turn, with this reason, if not empty.
	Stop string
	// Context is added for the model.
	Context []msg.Part
	// Messages are for the user.
	Messages []string

	UpdatedInput   json.RawMessage // new input of the call
	UpdatedOutput  json.RawMessage // replaces the call's result
	Answer         Answer          // answer to the permission request
	Retry          bool            // the model may try the call again
	InitialMessage string          // the first prompt of the session
	// Action answers a server: accept, decline or cancel; empty if no hook does. Content is for
	// accept.
	Action  string
	Content json.RawMessage
	// Worktree is the path of a worktree created by a hook; empty if none.
	Worktree string
	// Watch holds the files to watch from now on; nil means no change.
	Watch []string

	told  []string // Context, without reminder tags
	about string   // the call that the hooks are about, or empty
}

// An Answer is the hooks' answer to a permission request.
type Answer struct {
	// Decision is Undecided if no hook answered, and Ask if a hook broke: then the user must
	// answer, and without a user the call is denied.
	Decision    tool.Decision
	By, Message string
	Interrupt   bool // a denial ends the turn
	// UpdatedInput and UpdatedPermissions are for Allow; nil means none.
	UpdatedInput, UpdatedPermissions json.RawMessage
}

// combine combines an event's results, in configuration order regardless of which hook ended
// first. About is the call they are about, or empty.
func combine(k kind, about string, results []result, keep Results) Outcome {
	out := Outcome{about: about}
	for i := range results {
		out.add(k, &results[i], keep)
	}
	out.about = ""
	return out
}

func (out *Outcome) add(k kind, res *result, keep Results) {
	who := res.spec.who()
	if text := res.out.message; text != "" {
		out.say(who + ": " + text)
	}
	switch res.status {
	case failing, broken:
		if !res.userNotified {
			out.say(fmt.Sprintf("%s failed: %s", who, res.reason))
		}
	case blocking:
		out.block(k, who, res)
	}
	if k.reach == refuses {
		out.decide(who, res)
	}
	if res.out.stop && out.Stop == "" {
		out.Stop = firstOf(res.out.stopReason, "stopped by "+who)
	}
	if res.status == broken || res.status == cancelled {
		return // its output is not reliable
	}
	out.collect(who, res)
	if k.name == WorktreeCreate && res.status == succeeded {
		out.Worktree = firstOf(res.out.worktree, strings.TrimSpace(res.plain()), out.Worktree)
	}
	text := res.out.context
	if text == "" && k.plain && res.status == succeeded {
		text = res.plain()
	}
	if text != "" {
		out.tell(who, bounded(text, msg.NewID(), keep))
	}
}

// block applies the effect of a blocking hook.
func (out *Outcome) block(k kind, who string, res *result) {
	switch k.reach {
	case blocks:
		if !out.Blocked {
			out.Blocked, out.By, out.Reason = true, who, res.reason
		} else {
			out.Reason += "\n" + res.reason
		}
	case toModel:
		out.tell(who, "It objects: "+res.reason)
	case shown:
		out.say(who + ": " + res.reason)
	}
}

// decide applies the run's decision about the call.
func (out *Outcome) decide(who string, res *result) {
	d, why := res.refusal()
	if d > out.Decision {
		out.Decision, out.By, out.Reason = d, who, why
		out.Answer = Answer{}
		if a := res.out.answer; a != nil && a.Decision == d && res.status == succeeded {
			out.Answer = *a
		}
		out.Answer.Decision, out.Answer.By, out.Answer.Message = d, who, why
	}
}

// collect applies the hook's other output. If several hooks give an input, a result or a first
// prompt, the last one counts; for answers to a server, the strictest does.
func (out *Outcome) collect(who string, res *result) {
	replace := func(what string, old *json.RawMessage, value json.RawMessage) {
		if value == nil {
			return
		}
		if *old != nil {
			out.say(fmt.Sprintf("several hooks give %s; that of %s is used", what, who))
		}
		*old = value
	}
	o := &res.out
	replace("an input", &out.UpdatedInput, o.input)
	replace("a result", &out.UpdatedOutput, o.result)
	if o.action != "" && rankOfAction(o.action) >= rankOfAction(out.Action) {
		out.Action, out.Content = o.action, o.content
	}
	out.Retry = out.Retry || o.retry
	out.InitialMessage = firstOf(o.initial, out.InitialMessage)
	if o.watch != nil && out.Watch == nil {
		out.Watch = []string{} // an explicit request to watch nothing
	}
	out.Watch = append(out.Watch, o.watch...)
}

// rankOfAction orders answers to a server: the strictest counts.
func rankOfAction(action string) int {
	return slices.Index([]string{"", "accept", "cancel", "decline"}, action)
}

// tell adds context for the model. A hook's text cannot be mistaken for adze's own.
func (out *Outcome) tell(who, text string) {
	if out.about != "" {
		who += ", after " + out.about
	}
	text = msg.Neutralise(who + ": " + text)
	out.Context, out.told = append(out.Context, msg.Reminder(text)), append(out.told, text)
}

func (out *Outcome) say(text string) { out.Messages = append(out.Messages, text) }
