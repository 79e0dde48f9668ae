package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"adze/internal/model"
	"adze/internal/platform/net/transport"
)

// ErrorFrom returns the error for an HTTP error response.
func ErrorFrom(d Dialect, status int, header http.Header, body []byte) *model.Error {
	e := d.Error(status, body)
	if id := RequestID(header); id != "" {
		e.RequestID = id
	}
	if after, ok := retryAfter(header); ok { // otherwise the body may specify it
		e.RetryAfter, e.HasRetryAfter = after, true
	}
	switch header.Get("X-Should-Retry") {
	case "true":
		e.ShouldRetry = +1
	case "false":
		e.ShouldRetry = -1
	}
	return e
}

// RequestID returns the server's request ID, or "".
func RequestID(header http.Header) string {
	for _, name := range [...]string{"Request-Id", "X-Request-Id", "X-Amzn-Requestid", "Apim-Request-Id"} {
		if id := header.Get(name); id != "" {
			return id
		}
	}
	return ""
}

// retryAfter returns the delay requested by the server, given in milliseconds, in seconds or as
// a date. Implausible values are ignored.
func retryAfter(h http.Header) (time.Duration, bool) {
	var wait float64
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		wait = ms / 1000
	} else if s := h.Get("Retry-After"); s == "" {
		return 0, false
	} else if secs, err := strconv.ParseFloat(s, 64); err == nil {
		wait = secs
	} else if at, err := http.ParseTime(s); err == nil {
		wait = max(0, time.Until(at).Seconds())
	} else {
		return 0, false
	}
	if !(wait >= 0 && wait <= (24*time.Hour).Seconds()) { // also false for NaN
		return 0, false
	}
	return time.Duration(wait * float64(time.Second)), true
}

// connectionError returns the error for a request that got no response. It omits the URL, which
// is known and may contain a password.
func connectionError(err error) *model.Error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	e := &model.Error{Kind: model.Network, Message: err.Error(), Err: err}
	if strings.Contains(e.Message, "malformed") { // the error quotes the response
		e.Message, e.Hint = "the response is not HTTP", "Check the base URL and the proxy"
	}
	var why *transport.Error
	if errors.As(err, &why) {
		e.Hint = why.Advice
		if why.Untrusted {
			e.Kind = model.TLS
		}
	}
	return e
}

func errNoAnswer(limit time.Duration) error {
	return &model.Error{Kind: model.Broken, Lasting: true, Message: fmt.Sprintf("no answer for %d s", int(limit.Seconds()))}
}

// cause returns ctx's cause if it is a [model.Error], otherwise err.
func cause(ctx context.Context, err error) error {
	var known *model.Error
	if err != nil && ctx.Err() != nil && errors.As(context.Cause(ctx), &known) {
		return known
	}
	return err
}
