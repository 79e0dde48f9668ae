package hook

import (
	"fmt"
	"strings"
	"time"

	"adze/internal/tool"
)

// An ending describes how a run of a hook of any type ended.
type ending struct {
	stdout, stderr capture
	code           int
	exited         bool   // code is a process's exit code
	broken         string // why it gave no verdict, if already known
	late           bool   // timed out; broken has the message
	cancelled      bool   // the event no longer waits for it
	userNotified   bool   // the user already knows
}

// A status is the result of a hook's run.
type status uint8

const (
	succeeded status = iota
	blocking         // blocks, with a reason
	failing          // failed without blocking
	broken           // gave no verdict
	cancelled
	background // continues in the background
)

// A result is the evaluated run of a hook.
type result struct {
	spec               *spec
	status             status
	reason             string // reason for blocking, failing or broken
	out                output
	stdout, stderr     string
	json               bool // stdout was JSON
	late, userNotified bool // copied from ending
	code               *int
	duration           time.Duration
}

// judge evaluates a run's ending. Only unambiguous output counts as a verdict.
func judge(j *job, end ending, keep Results) result {
	res := result{spec: j.spec, late: end.late, userNotified: end.userNotified}
	defer end.stdout.Close()
	defer end.stderr.Close()
	if end.exited {
		res.code = &end.code
	}
	if end.cancelled {
		res.status, res.reason = cancelled, "cancelled"
		return res
	}
	if text, ok := end.stdout.json(); ok {
		var err error
		if res.out, err = decode(j.kind, text); err != nil && end.broken == "" {
			end.broken = err.Error()
		}
		res.json = err == nil
	}
	res.stdout = end.stdout.text(j.run.ID+"-stdout", keep)
	res.stderr = end.stderr.text(j.run.ID+"-stderr", keep)
	if end.broken == "" {
		end.broken = unheard(end.code, res.stderr)
	}
	switch {
	case end.broken != "":
		res.status, res.reason = broken, end.broken
	case end.exited && end.code == exitBlock:
		res.status, res.reason = blocking, firstOf(res.stderr, res.said(), res.plain(), "no reason was given")
	case res.out.decision == "block":
		res.status, res.reason = blocking, firstOf(res.said(), res.stderr, "no reason was given")
	case end.code != 0:
		res.status, res.reason = failing, fmt.Sprintf("exit code %d: %s", end.code, firstOf(res.stderr, res.plain(), "it said nothing"))
	}
	res.applyOnFailure()
	return res
}

// exitBlock is the exit code of a blocking hook.
const exitBlock = 2

// unheard returns the reason a shell's exit code means that the hook never ran, or "".
func unheard(code int, stderr string) string {
	var why string
	switch code {
	case 126:
		why = "exit code 126: the command is not executable"
	case 127:
		why = "exit code 127: the command was not found"
	default:
		return ""
	}
	if stderr != "" {
		why += " (" + tool.OneLine(stderr, 200) + ")"
	}
	return why
}

// applyOnFailure converts a failure to the result that the hook's definition requests.
func (res *result) applyOnFailure() {
	if res.status != broken && res.status != failing {
		return
	}
	switch res.spec.onFailure {
	case failBlocks:
		res.status = blocking
	case failContinues:
		res.status = failing
	}
}

// plain returns non-JSON standard output.
func (res *result) plain() string {
	if res.json {
		return ""
	}
	return res.stdout
}

// said returns the reason in the hook's JSON.
func (res *result) said() string {
	return firstOf(res.out.reason, res.out.permissionReason)
}

// refusal returns the run's decision about a call.
func (res *result) refusal() (tool.Decision, string) {
	d, why := res.out.permission, firstOf(res.out.permissionReason, res.out.reason)
	if a := res.out.answer; a != nil {
		d, why = a.Decision, a.Message
	}
	if d == tool.Undecided && res.out.decision == "approve" {
		d = tool.Allow
	}
	switch res.status {
	case blocking:
		return tool.Deny, res.reason
	case broken:
		// Its remaining output can only make the decision stricter.
		if d == tool.Deny {
			return d, why
		}
		return tool.Ask, "The hook gave no verdict: " + res.reason
	case cancelled:
		return tool.Ask, "The hook was cancelled before it gave a verdict."
	case background:
		return tool.Undecided, ""
	}
	if res.out.stop {
		return tool.Deny, firstOf(res.out.stopReason, why, "The hook stopped the turn.")
	}
	return d, why
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}
