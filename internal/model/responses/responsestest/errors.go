package responsestest

import (
	"adze/internal/model"
	"adze/internal/model/responses"
	"adze/internal/msg"
)

// EncodeError implements [wire.Server]. Kinds that a server cannot send (connection errors and
// Broken) count as ServerFault. A message that would be classified as another kind is prefixed
// with the usual message.
func (Server) EncodeError(kind model.Kind, message string) (status int, body []byte) {
	status, f := spelled(kind, message)
	return status, f.encode()
}

// A failure is the server's error object.
type failure struct{ kind, code, message string }

func (f failure) encode() []byte {
	body := msg.AppendString([]byte(`{"error":{"message":`), f.message)
	body = msg.AppendString(append(body, `,"type":`...), f.kind)
	body = appendCode(append(body, `,"param":null,"code":`...), f.code)
	return append(body, "}}"...)
}

func appendCode(dst []byte, code string) []byte {
	if code == "" {
		return append(dst, "null"...)
	}
	return msg.AppendString(dst, code)
}

// spelled returns the server's error for a kind.
func spelled(kind model.Kind, message string) (status int, f failure) {
	status, f = usual(kind)
	if f.kind == "" {
		kind = model.ServerFault
		status, f = usual(kind)
	}
	was := f.message
	if message == "" {
		return status, f
	}
	if f.message = message; (responses.Dialect{}).Error(status, f.encode()).Kind != kind {
		f.message = was + ": " + message
	}
	return status, f
}

func usual(k model.Kind) (status int, f failure) {
	const invalid = "invalid_request_error"
	switch k {
	case model.RateLimited:
		return 429, failure{"requests", "rate_limit_exceeded", "Rate limit reached for requests"}
	case model.Overloaded:
		return 503, failure{"server_error", "server_is_overloaded", "Our servers are currently overloaded. Please try again later."}
	case model.ServerFault:
		return 500, failure{"server_error", "server_error", "The server had an error while processing your request"}
	case model.TooLong:
		return 400, failure{invalid, "context_length_exceeded", "Your input exceeds the context window of this model. Please adjust your input and try again."}
	case model.OverWindow:
		return 400, failure{invalid, "context_length_exceeded", "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (7000 in the messages, 2000 in the completion)."}
	case model.MediaTooLarge:
		return 400, failure{invalid, "image_too_large", "The image is too large"}
	case model.BadSignature:
		return 400, failure{invalid, "invalid_encrypted_content", "The encrypted content could not be verified"}
	case model.Auth:
		return 401, failure{invalid, "invalid_api_key", "Incorrect API key provided"}
	case model.Quota:
		return 429, failure{"insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details"}
	case model.NoModel:
		return 404, failure{invalid, "model_not_found", "The requested model does not exist"}
	case model.Refused:
		return 400, failure{invalid, "invalid_prompt", "Invalid prompt: your prompt was flagged as potentially violating our usage policy"}
	case model.Invalid:
		return 400, failure{invalid, "", "Invalid request"}
	}
	return 0, failure{}
}
