package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/tool"
)

// An output is a hook's JSON output. The zero value has no effect.
type output struct {
	stop       bool // continue: false
	stopReason string
	suppress   bool
	decision   string // approve or block
	reason     string
	message    string // message for the user

	permission       tool.Decision
	permissionReason string
	input            json.RawMessage
	context          string
	answer           *Answer
	retry            bool
	result           json.RawMessage
	initial          string
	action           string          // answer to a server: accept, decline or cancel
	content          json.RawMessage // content of an accept
	worktree         string          // path of a worktree the hook created
	watch            []string        // files to watch from now on; nil means not set
}

const commonFields = `continue?: boolean, stopReason?: string, suppressOutput?: boolean, decision?: "approve"|"block", reason?: string, systemMessage?: string`

// decode decodes a hook's output for an event. The error names the invalid part and the
// expected form.
func decode(k kind, text []byte) (output, error) {
	var out output
	fields, err := fieldsOf(text)
	if err != nil {
		return out, fmt.Errorf("its output is not valid JSON: %w", err)
	}
	r := &reader{fields: fields}
	out.stop = !r.boolean("continue", true)
	out.stopReason = r.text("stopReason")
	out.suppress = r.boolean("suppressOutput", false)
	out.decision = r.choice("decision", "approve", "block")
	out.reason = r.text("reason")
	out.message = r.text("systemMessage")
	specific := r.object("hookSpecificOutput")
	if r.err == nil && specific != nil {
		specific.event(k.name)
		out.specific(k, specific)
		r.err = specific.err
	}
	if r.err != nil {
		return output{}, fmt.Errorf("its output does not fit: %w. Expected {%s}", r.err, shape(k))
	}
	return out, nil
}

// shape describes the output that an event accepts.
func shape(k kind) string {
	specific := fmt.Sprintf("hookEventName: %q", k.name)
	if k.fields != "" {
		specific += ", " + k.fields
	}
	return fmt.Sprintf("%s, hookSpecificOutput?: {%s}", commonFields, specific)
}

// specific reads the members specific to this kind; other kinds' members are ignored.
func (out *output) specific(k kind, r *reader) {
	switch k.name {
	case PreToolUse:
		switch r.choice("permissionDecision", "allow", "deny", "ask") {
		case "allow":
			out.permission = tool.Allow
		case "deny":
			out.permission = tool.Deny
		case "ask":
			out.permission = tool.Ask
		}
		out.permissionReason = r.text("permissionDecisionReason")
		out.input = r.rawObject("updatedInput")
	case PermissionRequest:
		out.answer = r.answer()
	case PermissionDenied:
		out.retry = r.boolean("retry", false)
	case PostToolUse:
		if out.result = r.raw("updatedToolOutput"); out.result == nil {
			out.result = r.raw("updatedMCPToolOutput")
		}
	case SessionStart:
		out.initial, out.watch = r.text("initialUserMessage"), r.texts("watchPaths")
	case CwdChanged, FileChanged:
		out.watch = r.texts("watchPaths")
	case WorktreeCreate:
		out.worktree = r.text("worktreePath")
	case Elicitation, ElicitationResult:
		out.action = r.choice("action", "accept", "decline", "cancel")
		out.content = r.rawObject("content")
	}
	if strings.Contains(k.fields, contextField) {
		out.context = r.text("additionalContext")
	}
}

// A reader reads an object's members and keeps the first error. A null member counts as absent.
type reader struct {
	path   string
	fields map[string]json.RawMessage
	err    error
}

func fieldsOf(text []byte) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	if fields == nil {
		return nil, errors.New("it is null")
	}
	return fields, nil
}

func (r *reader) raw(name string) json.RawMessage {
	if v := r.fields[name]; !absent(v) {
		return v
	}
	return nil
}

func (r *reader) wrong(name, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s%s: expected %s, found %s", r.path, name, want, glimpse(r.fields[name]))
	}
}

// into decodes a member and reports whether it was present.
func (r *reader) into(name, want string, v any) bool {
	data := r.raw(name)
	if data == nil {
		return false
	}
	if err := json.Unmarshal(data, v); err != nil {
		r.wrong(name, want)
		return false
	}
	return true
}

func (r *reader) text(name string) string {
	var s string
	r.into(name, "a string", &s)
	return s
}

// texts returns a list, or nil if absent.
func (r *reader) texts(name string) []string {
	var list []string
	r.into(name, "an array of strings", &list)
	return list
}

func (r *reader) boolean(name string, absent bool) bool {
	v := absent
	r.into(name, "true or false", &v)
	return v
}

func (r *reader) milliseconds(name string, absent time.Duration) time.Duration {
	var n float64
	switch {
	case !r.into(name, "a number of milliseconds", &n):
		return absent
	case n <= 0 || n > float64(24*time.Hour/time.Millisecond):
		r.wrong(name, "a number of milliseconds above 0")
		return absent
	}
	return time.Duration(n * float64(time.Millisecond))
}

func (r *reader) choice(name string, choices ...string) string {
	want := fmt.Sprintf("one of %q", choices)
	var s string
	if r.into(name, want, &s) && !slices.Contains(choices, s) {
		r.wrong(name, want)
		return ""
	}
	return s
}

func (r *reader) object(name string) *reader {
	data := r.raw(name)
	if data == nil {
		return nil
	}
	fields, err := fieldsOf(data)
	if err != nil {
		r.wrong(name, "an object")
		return nil
	}
	return &reader{path: r.path + name + ".", fields: fields}
}

func (r *reader) rawObject(name string) json.RawMessage {
	if r.object(name) == nil {
		return nil
	}
	return r.raw(name)
}

// event checks that the output is for the event it answers.
func (r *reader) event(n Name) {
	if name := r.text("hookEventName"); r.err == nil && name != string(n) {
		r.wrong("hookEventName", fmt.Sprintf("%q", n))
	}
}

// answer reads a hook's answer to a permission request.
func (r *reader) answer() *Answer {
	d := r.object("decision")
	if d == nil {
		return nil
	}
	a := &Answer{}
	switch d.choice("behavior", "allow", "deny") {
	case "allow":
		a.Decision = tool.Allow
		a.UpdatedInput = d.rawObject("updatedInput")
		if a.UpdatedPermissions = d.raw("updatedPermissions"); a.UpdatedPermissions != nil && !bytes.HasPrefix(a.UpdatedPermissions, []byte("[")) {
			d.wrong("updatedPermissions", "a list")
		}
	case "deny":
		a.Decision = tool.Deny
		a.Message = d.text("message")
		a.Interrupt = d.boolean("interrupt", false)
	default:
		d.wrong("behavior", `"allow" or "deny"`)
	}
	r.err = d.err
	return a
}

// asyncLine parses a first line that sends the hook to the background, and returns its time
// limit there.
func asyncLine(line []byte) (time.Duration, bool) {
	line = bytes.TrimSpace(line)
	if !bytes.HasPrefix(line, []byte("{")) {
		return 0, false
	}
	fields, err := fieldsOf(line)
	if err != nil {
		return 0, false
	}
	r := &reader{fields: fields}
	async, wait := r.boolean("async", false), r.milliseconds("asyncTimeout", AsyncTimeout)
	return wait, async && r.err == nil
}
