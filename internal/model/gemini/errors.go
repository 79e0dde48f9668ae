package gemini

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"adze/internal/model"
	"adze/internal/model/wire"
)

// A wireError is the service's error object.
type wireError struct {
	Code    int               `json:"code"`
	Message string            `json:"message"`
	Status  string            `json:"status"`
	Details []json.RawMessage `json:"details"`
}

// A detail combines the fields of several detail types.
type detail struct {
	Reason     string `json:"reason"`     // ErrorInfo
	RetryDelay string `json:"retryDelay"` // RetryInfo
	Violations []struct {
		QuotaID string `json:"quotaId"`
	} `json:"violations"` // QuotaFailure
}

// Error implements [wire.Dialect].
func (Dialect) Error(status int, body []byte) *model.Error {
	type response struct {
		Error wireError `json:"error"`
	}
	var all []response // some errors come as a list
	if json.Unmarshal(body, &all) != nil || len(all) == 0 {
		all = make([]response, 1)
		if json.Unmarshal(body, &all[0]) != nil { // ok: a proxy's response; the status suffices
			all[0].Error = wireError{Message: wire.Plain(body)}
		}
	}
	return all[0].Error.classify(status)
}

// streamError returns the error that was sent in place of a response. After any content it is
// reported as a broken answer.
func (d *decoder) streamError(raw []byte) error {
	var w wireError
	if err := json.Unmarshal(raw, &w); err != nil { // ok: unreadable, but still an error
		w.Message = strings.Trim(string(raw), `"`)
	}
	err := w.classify(0)
	err.RequestID = d.requestID
	return err.Within(d.begun)
}

// classify returns the error for w, which came with an HTTP status or, in a stream, without
// one.
func (w wireError) classify(status int) *model.Error {
	var all detail // combined details
	daily := 0
	for _, raw := range w.Details {
		var d detail
		if json.Unmarshal(raw, &d) != nil {
			continue // ok: unknown detail type
		}
		all.Reason += d.Reason
		all.RetryDelay += d.RetryDelay
		for _, v := range d.Violations {
			all.Violations = append(all.Violations, v)
			if strings.Contains(v.QuotaID, "PerDay") {
				daily++
			}
		}
	}
	kind := w.kind(status, all)
	if kind == model.RateLimited && daily > 0 && daily == len(all.Violations) {
		kind = model.Quota
	}
	e := wire.NewError(kind, status, w.Message)
	if wait, err := time.ParseDuration(all.RetryDelay); err == nil && wait >= 0 && wait <= 24*time.Hour {
		e.RetryAfter, e.HasRetryAfter = wait, true
	}
	if found := tokenCount().FindStringSubmatch(w.Message); e.Kind == model.TooLong && found != nil {
		e.Input, _ = strconv.Atoi(found[1]) // ok: 0 if missing
		e.Window, _ = strconv.Atoi(found[2])
	}
	return e
}

var tokenCount = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`token count(?: of)?(?: \(?(\d{1,12})\)?)? exceeds the maximum number of tokens allowed \(?(\d{1,12})`)
})

// kind classifies by the service's error name, otherwise by status and message.
func (w wireError) kind(status int, d detail) model.Kind {
	if status == 0 {
		status = w.Code
	}
	words := strings.ToLower(w.Message)
	has := func(any ...string) bool {
		for _, s := range any {
			if strings.Contains(words, s) {
				return true
			}
		}
		return false
	}
	switch w.Status {
	case "UNAUTHENTICATED", "PERMISSION_DENIED":
		return model.Auth
	case "RESOURCE_EXHAUSTED":
		if d.RetryDelay == "" && len(d.Violations) == 0 && has("billing", "credit", "spend", "prepay") {
			return model.Quota
		}
		return model.RateLimited
	case "UNAVAILABLE":
		return model.Overloaded
	case "INTERNAL", "UNKNOWN", "ABORTED", "CANCELLED", "DEADLINE_EXCEEDED":
		if has("overloaded") {
			return model.Overloaded
		}
		return model.ServerFault
	case "NOT_FOUND":
		status = http.StatusNotFound
	case "INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE":
		status = http.StatusBadRequest
	}
	if status == http.StatusBadRequest {
		switch {
		case strings.Contains(d.Reason, "API_KEY") || has("api key not valid", "api key expired", "api_key"):
			return model.Auth
		case has("thought signature", "thought_signature", "thoughtsignature"):
			return model.BadSignature
		case has("location is not supported"):
			return model.Refused
		case has("request payload size exceeds"):
			return model.TooLong
		case has("unable to process input image", "image is not valid", "document has no pages", "unsupported mime type"):
			return model.MediaTooLarge
		}
	}
	return wire.KindOf(status, w.Message)
}
