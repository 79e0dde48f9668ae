package chattest

import (
	"adze/internal/model"
	"adze/internal/model/chat"
	"adze/internal/msg"
)

// EncodeError implements [wire.Server]. Kinds that a server cannot send (connection errors and
// Broken) count as ServerFault. A message that would be classified as another kind is prefixed
// with the usual message.
func (Server) EncodeError(kind model.Kind, message string) (status int, body []byte) {
	answer, ok := usual(kind)
	if !ok {
		kind = model.ServerFault
		answer, _ = usual(kind)
	}
	if message != "" {
		standard := answer.message
		answer.message = message
		if (chat.Dialect{}).Error(answer.status, answer.encode()).Kind != kind {
			answer.message = standard + ": " + message
		}
	}
	return answer.status, answer.encode()
}

// An answer is a server's response for a kind of error.
type answer struct {
	status              int
	message, kind, code string
}

func (a answer) encode() []byte {
	body := []byte(`{"error":{"message":`)
	body = msg.AppendString(body, a.message)
	body = append(body, `,"type":`...)
	body = msg.AppendString(body, a.kind)
	body = append(body, `,"param":null,"code":`...)
	if a.code == "" {
		body = append(body, "null"...)
	} else {
		body = msg.AppendString(body, a.code)
	}
	return append(body, "}}"...)
}

// usual returns the server's usual response for a kind of error.
func usual(k model.Kind) (answer, bool) {
	const invalid = "invalid_request_error"
	say := func(status int, kind, code, message string) (answer, bool) {
		return answer{status, message, kind, code}, true
	}
	switch k {
	case model.RateLimited:
		return say(429, "requests", "rate_limit_exceeded", "Rate limit reached on requests per min")
	case model.Overloaded:
		return say(503, "server_error", "", "The engine is currently overloaded, please try again later")
	case model.ServerFault:
		return say(500, "server_error", "", "The server had an error while processing your request")
	case model.TooLong:
		return say(400, invalid, "context_length_exceeded", "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.")
	case model.OverWindow:
		return say(400, invalid, "context_length_exceeded", "This model's maximum context length is 128000 tokens. However, you requested 140000 tokens (120000 in the messages, 20000 in the completion).")
	case model.MediaTooLarge:
		return say(400, invalid, "image_too_large", "The image is too large")
	case model.BadSignature:
		return say(400, invalid, "", "messages[1].reasoning_details: invalid signature")
	case model.Auth:
		return say(401, invalid, "invalid_api_key", "Incorrect API key provided")
	case model.Quota:
		return say(429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details")
	case model.NoModel:
		return say(404, invalid, "model_not_found", "The model does not exist or you do not have access to it")
	case model.Refused:
		return say(400, invalid, "content_policy_violation", "Your request was rejected by our safety system")
	case model.NoTools:
		return say(400, "api_error", "", "the model does not support tools")
	case model.Invalid:
		return say(400, invalid, "", "Invalid value in messages")
	}
	return answer{}, false
}
