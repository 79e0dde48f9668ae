package messages

import (
	"regexp"
	"strings"
	"sync"

	"adze/internal/model"
	"adze/internal/model/wire"
)

// classify returns the error for w, which came with an HTTP status or, in a stream, without
// one.
func (w wireError) classify(status int) *model.Error {
	e := wire.NewError(w.kind(status), status, w.Message)
	if e.Kind == model.MediaTooLarge {
		e.Media = mediaPath().FindString(w.Message)
	}
	return e
}

// kind classifies by the server's error name, otherwise by status and message.
func (w wireError) kind(status int) model.Kind {
	switch w.Type {
	case "overloaded_error":
		return model.Overloaded
	case "rate_limit_error":
		return model.RateLimited
	case "authentication_error", "permission_error":
		return model.Auth
	case "billing_error":
		return model.Quota
	case "request_too_large":
		return model.TooLong
	case "api_error", "timeout_error":
		if strings.Contains(strings.ToLower(w.Message), "overloaded") {
			return model.Overloaded
		}
		return model.ServerFault
	case "not_found_error":
		status = 404
	case "invalid_request_error":
		status = 400
	}
	return wire.KindOf(status, w.Message)
}

var mediaPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`messages\.\d+\.content\.\d+(\.content\.\d+)?`)
})
