package responses

import (
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// A failure is the server's error object.
type failure struct{ kind, code, message string }

// parseFailure parses an error object, or the string that some gateways send instead.
func parseFailure(raw []byte) (f failure) {
	if text, ok := jsonscan.String(raw); ok {
		return failure{message: text}
	}
	jsonscan.Object(raw, func(name, value []byte) error { // ok: an unreadable error has no message
		switch string(name) {
		case "type":
			f.kind, _ = jsonscan.String(value)
		case "code":
			f.code, _ = jsonscan.String(value)
		case "message":
			f.message, _ = jsonscan.String(value)
		}
		return nil
	})
	return f
}

// failureOf returns the error that an event reports: in the event itself, in a nested object,
// or in the failed response.
func failureOf(data []byte, e *event) failure {
	if !jsonscan.IsNull(e.failure) {
		return parseFailure(e.failure)
	}
	if jsonscan.IsNull(e.response) {
		f := parseFailure(data)
		f.kind = ""
		return f
	}
	var r reply
	if r.scan(e.response) != nil { // ok: failed in any case
		return failure{}
	}
	return parseFailure(r.failure)
}

// Error implements [wire.Dialect].
func (Dialect) Error(status int, body []byte) *model.Error {
	var f failure
	found := false
	err := jsonscan.Object(body, func(name, value []byte) error {
		if string(name) == "error" {
			f, found = parseFailure(value), true
		}
		return nil
	})
	switch {
	case err != nil: // a proxy's response; the status suffices
		f = failure{message: wire.Plain(body)}
	case !found:
		f = parseFailure(body)
	}
	return f.classify(status)
}

// classify returns the error for f, which came with an HTTP status or, in a stream, without
// one.
func (f failure) classify(status int) *model.Error {
	return wire.NewError(f.kindOf(status), status, f.message)
}

// kindOf classifies by the server's error code, otherwise by status and message.
func (f failure) kindOf(status int) model.Kind {
	switch code := strings.ToLower(f.code); code {
	case "rate_limit_exceeded":
		return model.RateLimited
	case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "usage_limit_reached", "quota_exceeded":
		return model.Quota
	case "invalid_api_key", "account_deactivated", "invalid_authentication", "token_expired":
		return model.Auth
	case "model_not_found", "deploymentnotfound":
		return model.NoModel
	case "context_length_exceeded":
		return model.TooLong
	case "invalid_encrypted_content":
		return model.BadSignature
	case "content_filter", "content_policy_violation", "image_content_policy_violation", "invalid_prompt", "cyber_policy":
		return model.Refused
	case "server_is_overloaded", "slow_down", "overloaded":
		return model.Overloaded
	case "image_too_large", "image_too_small", "image_file_too_large", "image_file_not_found", "invalid_image", "invalid_image_format",
		"invalid_base64_image", "unsupported_image_media_type", "empty_image_file", "image_parse_error", "invalid_image_url":
		return model.MediaTooLarge
	}
	words := strings.ToLower(f.message)
	switch {
	case f.kind == "insufficient_quota":
		return model.Quota
	case (status == 0 || status >= 500) && strings.Contains(words, "overloaded"):
		return model.Overloaded
	case strings.Contains(words, "maximum prompt length"):
		return model.TooLong
	case f.kind == "invalid_request_error" && (status == 0 || status == 403):
		status = 400
	}
	return wire.KindOf(status, f.message)
}

// EncodeError implements [wire.Server]. Kinds that a server cannot send (connection errors and
// Broken) count as ServerFault. A message that would be classified as another kind is prefixed
// with the usual message.
func (Server) EncodeError(kind model.Kind, message string) (status int, body []byte) {
	status, f := spelled(kind, message)
	body = append(body, `{"error":{"message":`...)
	body = msg.AppendString(body, f.message)
	body = append(body, `,"type":`...)
	body = msg.AppendString(body, f.kind)
	body = append(body, `,"param":null,"code":`...)
	return status, append(appendCode(body, f.code), "}}"...)
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
	if f.message = message; f.classify(status).Kind != kind {
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
