package messages

import (
	"encoding/json"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// A wireError is the server's error object.
type wireError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// Error implements [wire.Dialect].
func (Dialect) Error(status int, body []byte) *model.Error {
	var w struct {
		Error     wireError `json:"error"`
		RequestID string    `json:"request_id"`
	}
	if json.Unmarshal(body, &w) != nil { // ok: a proxy's response; the status suffices
		w.Error = wireError{Message: wire.Plain(body)}
	}
	e := w.Error.classify(status)
	e.RequestID = wire.Clean(w.RequestID)
	return e
}

// EncodeError implements [wire.Server]. Kinds that a server cannot send (connection errors and
// Broken) count as ServerFault. A message that would be classified as another kind is prefixed
// with the usual message.
func (Server) EncodeError(kind model.Kind, message string) (status int, body []byte) {
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

// An answer is a server's usual response for a kind of error.
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
