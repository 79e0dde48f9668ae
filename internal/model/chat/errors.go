package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"adze/internal/model"
	"adze/internal/model/wire"
)

// A wireError is a server's error description, in any of the formats servers use.
type wireError struct {
	Message string
	Type    string
	Code    string // name or number
	Param   string

	// Prompt and Window are token counts, if the server reports the sizes of an input that is
	// too long.
	Prompt, Window int
}

// Error implements [wire.Dialect].
func (Dialect) Error(status int, body []byte) *model.Error {
	w, id := readError(body)
	e := w.classify(status)
	e.RequestID = wire.Clean(id)
	return e
}

// readError reads an error response.
func readError(body []byte) (w wireError, requestID string) {
	body = bytes.TrimSpace(body)
	if list := []json.RawMessage(nil); json.Unmarshal(body, &list) == nil && len(list) > 0 { // some servers send a list
		body = list[0]
	}
	var top struct {
		Error     json.RawMessage `json:"error"`
		Detail    json.RawMessage `json:"detail"`
		RequestID string          `json:"request_id"`
	}
	if json.Unmarshal(body, &top) != nil { // ok: a proxy's response; the status suffices
		return wireError{Message: wire.Plain(body)}, ""
	}
	switch {
	case len(top.Error) > 0 && top.Error[0] == '{':
		w = readErrorObject(top.Error)
	case len(top.Error) > 0 && top.Error[0] == '"':
		w.Message = unquote(top.Error)
	case len(top.Detail) > 0:
		w.Message = readDetail(top.Detail)
	default: // the error's members are at the top level
		w = readErrorObject(body)
	}
	return w, top.RequestID
}

// readErrorObject reads an error object.
func readErrorObject(raw []byte) wireError {
	ms, err := wire.Members(raw)
	if err != nil {
		return wireError{}
	}
	w := wireError{Message: textOf(ms, "message"), Type: textOf(ms, "type"), Code: textOf(ms, "code"), Param: textOf(ms, "param")}
	w.Prompt, w.Window = number(textOf(ms, "n_prompt_tokens")), number(textOf(ms, "n_ctx"))
	// A gateway puts the upstream server's message elsewhere.
	var behind struct {
		Raw json.RawMessage `json:"raw"`
	}
	json.Unmarshal([]byte(textOf(ms, "metadata")), &behind) // ok: no upstream message then
	if len(behind.Raw) > 0 {
		text := unquote(behind.Raw)
		if inner, _ := readError([]byte(text)); inner.Message != "" {
			text = inner.Message
		}
		if text = strings.TrimSpace(text); text != "" {
			w.Message = strings.TrimRight(w.Message, ". ") + ": " + text
		}
	}
	return w
}

// readDetail reads the errors of validation frameworks: a text, or a list of locations and
// messages.
func readDetail(raw json.RawMessage) string {
	var list []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return unquote(raw)
	}
	var all []string
	for _, d := range list {
		var place []string
		for _, l := range d.Loc {
			place = append(place, fmt.Sprint(l))
		}
		all = append(all, strings.Join(place, ".")+": "+d.Msg)
	}
	return strings.Join(all, "; ")
}

func number(digits string) int {
	n, err := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(digits))
	if err != nil || n < 0 || n > 1e12 {
		return 0
	}
	return n
}

// classify returns the error for w, which came with an HTTP status or, in a stream, without
// one.
func (w wireError) classify(status int) *model.Error {
	if n := number(w.Code); status == 0 && n >= 400 && n < 600 {
		status = n
	}
	kind := w.kind(status)
	e := wire.NewError(kind, status, w.message(kind, status))
	switch m := strings.ToLower(w.Message); {
	case e.Kind == model.TooLong:
		w.size(e)
	case status == 404 && e.Kind == model.Invalid:
		e.Hint = "Check the base URL, which mostly ends in /v1"
	case e.Kind == model.NoTools && strings.Contains(m, "--jinja"):
		e.Hint = "Start the server with --jinja, or choose another model"
	case e.Kind == model.NoTools && strings.Contains(m, "--enable-auto-tool-choice"):
		e.Hint = "Start the server with --enable-auto-tool-choice and the --tool-call-parser of the model, or choose another model"
	}
	return e
}

// message returns the server's message, or a better one if it would not help the user.
func (w wireError) message(kind model.Kind, status int) string {
	switch {
	case loading(w.Message):
		return "the server is still loading the model"
	case status == 404 && kind == model.Invalid:
		return strings.TrimRight("not a chat completions endpoint: "+w.Message, ": ")
	case w.Param != "" && !strings.Contains(w.Message, w.Param):
		return w.Message + " (" + w.Param + ")"
	}
	return w.Message
}

// loading reports whether the message means that the model is not ready yet.
func loading(message string) bool {
	m := strings.ToLower(message)
	return strings.Contains(m, "loading model") || strings.Contains(m, "model is loading") || strings.Contains(m, "model is still loading") ||
		strings.Contains(m, "model is currently loading")
}

// kind classifies by the error's name, otherwise by status and message.
func (w wireError) kind(status int) model.Kind {
	m := strings.ToLower(w.Message)
	has := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(m, word) {
				return true
			}
		}
		return false
	}
	if k, ok := w.named(); ok {
		return k
	}
	switch {
	case loading(w.Message):
		return model.ServerFault
	case has("does not support tools", "not support tool", "support tool use", "tool calling is not supported", "tools is not supported",
		"requires --jinja", "--enable-auto-tool-choice", "does not support function"):
		return model.NoTools
	case has("insufficient_quota", "exceeded your current quota", "insufficient balance", "insufficient credits", "requires more credits", "out of credits"):
		return model.Quota
	case tooLong(m):
		return model.TooLong
	case has("overloaded", "no capacity", "at capacity", "server is busy") && (status >= 500 || status == 429 || status == 0):
		return model.Overloaded
	case has("incorrect api key", "invalid api key", "api key not valid", "no auth credentials", "invalid authentication"):
		return model.Auth
	case has("safety system", "content management policy", "content policy", "usage polic", "flagged"):
		return model.Refused
	case has("thought_signature", "thought signature", "encrypted_content", "reasoning_details") && has("invalid", "missing", "not valid"):
		return model.BadSignature
	case has("image", "file", "pdf") && has("too large", "too big", "exceeds", "maximum size", "size limit", "could not process"):
		return model.MediaTooLarge
	case has("model") && has("not found", "does not exist", "not available", "no such model", "is not a valid model", "unknown model", "no models loaded", "not loaded", "not a chat model", "decommissioned") && status != 403:
		return model.NoModel
	case status == 403 && has("country", "region", "permission", "not have access", "forbidden", "not allowed"):
		return model.Auth
	}
	return wire.KindOf(status, w.Message)
}

// named returns the kind of an error that can be identified by its name alone.
func (w wireError) named() (model.Kind, bool) {
	for _, name := range []string{w.Code, w.Type} {
		switch name {
		case "context_length_exceeded", "exceed_context_size_error", "context_window_exceeded":
			return model.TooLong, true
		case "insufficient_quota", "billing_hard_limit_reached", "quota_exceeded", "billing_not_active", "insufficient_credits":
			return model.Quota, true
		case "rate_limit_exceeded", "rate_limit_error", "rate_limited":
			if strings.Contains(strings.ToLower(w.Message), "request too large") { // exceeds the per-minute limit, so waiting does not help
				return model.TooLong, true
			}
			return model.RateLimited, true
		case "invalid_api_key", "authentication_error", "invalid_authentication", "permission_error", "unauthorized":
			return model.Auth, true
		case "model_not_found", "model_not_available":
			return model.NoModel, true
		case "content_filter", "content_policy_violation", "moderation_blocked":
			return model.Refused, true
		case "overloaded_error", "server_overloaded", "engine_overloaded":
			return model.Overloaded, true
		case "image_too_large", "invalid_image", "image_parse_error", "file_too_large":
			return model.MediaTooLarge, true
		}
	}
	return model.Unknown, false
}

// tooLong reports whether a lower-case message means that the input does not fit.
func tooLong(m string) bool {
	for _, words := range [...]string{
		"maximum context length", "context length", "context window", "context size", "prompt is too long", "prompt too long", "input is too long",
		"too many tokens", "maximum prompt length", "longer than the maximum model length", "reduce the length of the messages", "tokens to keep from the initial prompt",
		"token count exceeds", "maximum number of tokens allowed", "request too large", "must be <=",
	} {
		if strings.Contains(m, words) {
			return true
		}
	}
	return false
}

// wordings matches messages about the maximum input length, with the groups in, out and window.
// All numbers are tokens.
var wordings = sync.OnceValue(func() []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, w := range []string{
		// These include the requested output.
		`maximum context length is (?P<window>\d+) tokens.*requested (?:about )?\d+ tokens \((?P<in>\d+) (?:of text|in the) [a-z]+(?: input)?(?:, (?P<more>\d+) (?:of tool input|in the functions))?,? (?:and )?(?P<out>\d+) in the (?:completion|output)`,
		"must be <= (?P<window>\\d+)\\. Given: (?P<in>\\d+) `?inputs`? tokens and (?P<out>\\d+)",
		`maximum context length is (?P<window>\d+) tokens.*requested (?P<out>\d+) output tokens.* (?P<in>\d+) input tokens`,
		// These do not.
		`maximum context length is (?P<window>\d+) tokens.*resulted in (?P<in>\d+) tokens`,
		`maximum context length is (?P<window>\d+) tokens.*(?:has|contains)(?: at least)? (?P<in>\d+) (?:input )?tokens`,
		`requested (?P<in>\d+) tokens`,
		`prompt contains (?P<in>\d+) tokens.* (?P<window>\d+) maximum context length`,
		`request \((?P<in>\d+) tokens\) exceeds the available context size \((?P<window>\d+) tokens\)`,
		`prompt is too long: (?P<in>\d+),? .*maximum context length: (?P<window>\d+)`,
		`maximum prompt length is (?P<window>\d+) but the request contains (?P<in>\d+) tokens`,
		`current length is (?P<in>\d+) while limit is (?P<window>\d+)`,
		`prompt \(length (?P<in>\d+)\) is longer than the maximum model length of (?P<window>\d+)`,
		`input token count \((?P<in>\d+)\) exceeds the maximum number of tokens allowed \((?P<window>\d+)\)`,
		`first (?P<in>\d+) tokens .*context length of only (?P<window>\d+) tokens`,
		`limit:? (?P<window>\d+), requested:? (?P<in>\d+)`,
		`maximum context length is (?P<window>\d+)`,
		`context (?:length|window|size)[^0-9]*(?P<window>\d+)`,
	} {
		all = append(all, regexp.MustCompile(`(?is)`+w))
	}
	return all
})

// size fills in the numbers of an error for input that does not fit. If the output size is
// known and the input alone fits, the kind becomes OverWindow.
func (w wireError) size(e *model.Error) {
	if e.Input, e.Window = max(e.Input, w.Prompt), max(e.Window, w.Window); e.Input > 0 && e.Window > 0 {
		return
	}
	for _, re := range wordings() {
		found := re.FindStringSubmatch(w.Message)
		if found == nil {
			continue
		}
		group := func(name string) int {
			if i := re.SubexpIndex(name); i >= 0 {
				return number(found[i])
			}
			return 0
		}
		in, out, window := group("in")+group("more"), group("out"), group("window")
		if in > 0 && out > 0 && window > 0 && in < window {
			e.Kind, e.Output = model.OverWindow, out
		}
		if e.Input == 0 {
			e.Input = in
		}
		if e.Window == 0 {
			e.Window = window
		}
		return
	}
}
