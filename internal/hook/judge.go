package hook

import (
	"fmt"
	"strings"
	"time"

	"adze/internal/tool"
)

// An ending is how one run of a hook ended, whatever its type.
type ending struct {
	stdout, stderr capture
	code           int
	exited         bool   // code is the exit code of a process
	broken         string // why it gave no verdict, if that is known already
	late           bool   // its time was up, which broken says
	cancelled      bool   // the event no longer waits for it
	told           bool   // the user knows already
}

// A status is what a run of a hook amounts to.
type status uint8

const (
	succeeded status = iota
	blocking         // it blocks, with a reason
	failing          // it failed in a way that blocks nothing
	broken           // it gave no verdict
	cancelled
	background // it goes on on its own
)

// A result is a run of a hook as it counts.
type result struct {
	spec           *spec
	status         status
	reason         string // of blocking, failing and broken
	out            output
	stdout, stderr string
	json           bool // stdout was JSON
	late, told     bool // as in ending
	code           *int
	duration       time.Duration
}

// judge decides what the end of a run means. Only a hook that spoke clearly counts as one that spoke.
func judge(j *job, end ending, keep Results) result {
	res := result{spec: j.spec, late: end.late, told: end.told}
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

// exitBlock is the exit code of a hook that blocks.
const exitBlock = 2

// unheard says why a shell's exit code means that the hook never ran, or nothing.
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

// applyOnFailure turns a failure into what the hook's definition wants it to be.
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

// plain returns standard output that is no JSON.
func (res *result) plain() string {
	if res.json {
		return ""
	}
	return res.stdout
}

// said returns the reason that the hook's JSON gives.
func (res *result) said() string {
	return firstOf(res.out.reason, res.out.permissionReason)
}

// refusal returns what the run decides about a call.
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
		// Whatever it still managed to say can only make things stricter.
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
