package messages

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"adze/internal/model"
	"adze/internal/msg"
)

// A wireError is the server's own description of an error.
type wireError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// ErrorFrom classifies an HTTP error response.
func ErrorFrom(status int, header http.Header, body []byte) *model.Error {
	var w struct {
		Error     wireError `json:"error"`
		RequestID string    `json:"request_id"`
	}
	if json.Unmarshal(body, &w) != nil { // ok: not the server's but a proxy's, and the status says enough
		w.Error = wireError{Message: plain(body)}
	}
	e := w.Error.classify(status)
	e.RequestID = header.Get("request-id")
	if e.RequestID == "" {
		e.RequestID = clean(w.RequestID)
	}
	e.RetryAfter, e.HasRetryAfter = retryAfter(header)
	switch header.Get("x-should-retry") {
	case "true":
		e.ShouldRetry = +1
	case "false":
		e.ShouldRetry = -1
	}
	return e
}

// plain returns a body that is not JSON if a person can read it.
func plain(body []byte) string {
	s := strings.TrimSpace(string(body))
	if strings.ContainsAny(s, "<{\n") {
		return ""
	}
	return s
}

// clean makes a server's words fit for one line of a terminal or a log.
func clean(s string) string {
	const most = 1000
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.Is(unicode.C, r): // control, and what reorders or hides text
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if lower := strings.ToLower(s); strings.Contains(lower, "<html") || strings.Contains(lower, "<!doctype") {
		return ""
	}
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strings.TrimSpace(s)
}

// retryAfter returns how long the server asks to wait, in milliseconds, seconds or as a date. What
// makes no sense was not asked.
func retryAfter(h http.Header) (time.Duration, bool) {
	var wait float64
	if ms, err := strconv.ParseFloat(h.Get("retry-after-ms"), 64); err == nil {
		wait = ms / 1000
	} else if s := h.Get("retry-after"); s == "" {
		return 0, false
	} else if secs, err := strconv.ParseFloat(s, 64); err == nil {
		wait = secs
	} else if at, err := http.ParseTime(s); err == nil {
		wait = max(0, time.Until(at).Seconds())
	} else {
		return 0, false
	}
	if !(wait >= 0 && wait <= (24*time.Hour).Seconds()) { // also when it is not a number
		return 0, false
	}
	return time.Duration(wait * float64(time.Second)), true
}

// ErrorBody is the inverse of [ErrorFrom], for servers in tests and scripts: the status and body a
// server sends for an error of the given kind. Kinds that are no answer of a server (the connection's,
// and Broken) count as ServerFault. An empty message stands for the usual one; a message that would be
// taken for another kind gets the usual one before it.
func ErrorBody(kind model.Kind, message string) (status int, body []byte) {
	answer, ok := usual(kind)
	if !ok {
		kind = model.ServerFault
		answer, _ = usual(kind)
	}
	w := wireError{answer.kind, message}
	switch {
	case message == "":
		w.Message = answer.message
	case w.classify(answer.status).Kind != kind:
		w.Message = answer.message + ": " + message
	}
	body = append(body, `{"type":"error","error":{"type":`...)
	body = msg.AppendString(body, w.Type)
	body = append(body, `,"message":`...)
	body = msg.AppendString(body, w.Message)
	return answer.status, append(body, "}}"...)
}

// An answer is how a server words a kind of error.
type answer struct {
	status        int
	kind, message string
}

func usual(k model.Kind) (answer, bool) {
	const invalid = "invalid_request_error"
	switch k {
	case model.RateLimited:
		return answer{429, "rate_limit_error", "This request would exceed your rate limit"}, true
	case model.Overloaded:
		return answer{529, "overloaded_error", "Overloaded"}, true
	case model.ServerFault:
		return answer{500, "api_error", "Internal server error"}, true
	case model.TooLong:
		return answer{400, invalid, "prompt is too long: 210000 tokens > 200000 maximum"}, true
	case model.OverWindow:
		return answer{400, invalid, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}, true
	case model.MediaTooLarge:
		return answer{400, invalid, "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum"}, true
	case model.BadSignature:
		return answer{400, invalid, "messages.1.content.0: Invalid `signature` in `thinking` block"}, true
	case model.Auth:
		return answer{401, "authentication_error", "invalid x-api-key"}, true
	case model.Quota:
		return answer{400, invalid, "Your credit balance is too low"}, true
	case model.NoModel:
		return answer{404, "not_found_error", "model: not found"}, true
	case model.Refused:
		return answer{400, invalid, "Output blocked by content filtering policy"}, true
	case model.Invalid:
		return answer{400, invalid, "messages: invalid"}, true
	}
	return answer{}, false
}
