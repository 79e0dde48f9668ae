package geminitest

import (
	"strconv"

	"adze/internal/model"
	"adze/internal/model/gemini"
	"adze/internal/msg"
)

// EncodeError implements [wire.Server]. Kinds that a server cannot send (connection errors and
// Broken) count as ServerFault. A message that would be classified as another kind is prefixed
// with the usual message.
func (Server) EncodeError(kind model.Kind, message string) (status int, body []byte) {
	w, ok := usual(kind)
	if !ok {
		kind = model.ServerFault
		w, _ = usual(kind)
	}
	if message != "" {
		standard := w.Message
		w.Message = message
		if (gemini.Dialect{}).Error(w.Code, w.encode()).Kind != kind {
			w.Message = standard + ": " + message
		}
	}
	return w.Code, w.encode()
}

// A wireError is the service's error object.
type wireError struct {
	Code    int
	Message string
	Status  string
	Detail  string // a detail, as JSON
}

func (w wireError) encode() []byte {
	body := strconv.AppendInt([]byte(`{"error":{"code":`), int64(w.Code), 10)
	body = append(body, `,"message":`...)
	body = msg.AppendString(body, w.Message)
	body = append(body, `,"status":`...)
	body = msg.AppendString(body, w.Status)
	if w.Detail != "" {
		body = append(append(append(body, `,"details":[`...), w.Detail...), ']')
	}
	return append(body, "}}"...)
}

// usual returns the service's usual error for a kind.
func usual(k model.Kind) (wireError, bool) {
	const invalid = "INVALID_ARGUMENT"
	switch k {
	case model.RateLimited:
		return wireError{429, "You exceeded your current quota, please check your plan and billing details.", "RESOURCE_EXHAUSTED",
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7s"}`}, true
	case model.Overloaded:
		return wireError{503, "The model is overloaded. Please try again later.", "UNAVAILABLE", ""}, true
	case model.ServerFault:
		return wireError{500, "An internal error has occurred. Please retry.", "INTERNAL", ""}, true
	case model.TooLong:
		return wireError{400, "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).", invalid, ""}, true
	case model.MediaTooLarge:
		return wireError{400, "Unable to process input image. Please retry with another one.", invalid, ""}, true
	case model.BadSignature:
		return wireError{400, "Function call is missing a thought_signature in functionCall parts.", invalid, ""}, true
	case model.Auth:
		return wireError{400, "API key not valid. Please pass a valid API key.", invalid,
			`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}`}, true
	case model.Quota:
		return wireError{429, "You exceeded your current quota, please check your plan and billing details.", "RESOURCE_EXHAUSTED",
			`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel"}]}`}, true
	case model.NoModel:
		return wireError{404, "models/none is not found for API version v1beta, or is not supported for generateContent.", "NOT_FOUND", ""}, true
	case model.Refused:
		return wireError{400, "User location is not supported for the API use.", "FAILED_PRECONDITION", ""}, true
	case model.Invalid:
		return wireError{400, "Request contains an invalid argument.", invalid, ""}, true
	}
	return wireError{}, false
}
