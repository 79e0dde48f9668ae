package responses

import (
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
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
