package model

import (
	"errors"
	"time"
)

// A Kind classifies an error, so that retry, recovery and advice test a value and never text.
type Kind uint8

// The kinds of error.
const (
	Unknown       Kind = iota
	Network            // no connection, or it broke before the answer began
	TLS                // the connection is not trusted
	Broken             // the answer broke off, stalled, or is not an answer
	RateLimited        // too many requests or tokens
	Overloaded         // the server has no capacity for anyone
	ServerFault        // any other 5xx, 408 and 409
	TooLong            // the input does not fit the context window
	OverWindow         // input and output limit together do not fit; see Error.Input and Error.Window
	MediaTooLarge      // an image or document is too large
	BadSignature       // signed thinking was rejected
	Auth               // the credentials are missing, wrong or revoked
	Quota              // no credit left or quota exhausted
	NoModel            // the model does not exist or is not available to this account
	Refused            // refused by policy
	Invalid            // the request is invalid in some other way
	NoTools            // the model cannot call tools
)

var kindNames = [...]string{
	Unknown: "unknown", Network: "network", TLS: "tls", Broken: "broken", RateLimited: "rate_limit",
	Overloaded: "overloaded", ServerFault: "server_error", TooLong: "too_long", OverWindow: "over_window",
	MediaTooLarge: "media_too_large", BadSignature: "bad_signature", Auth: "auth", Quota: "quota",
	NoModel: "model_not_found", Refused: "refused", Invalid: "invalid_request", NoTools: "no_tools",
}

// String returns the kind's name, as used in scripts and logs.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// ParseKind returns the kind with the given name.
func ParseKind(name string) (Kind, bool) {
	for k, n := range kindNames {
		if n == name {
			return Kind(k), true
		}
	}
	return Unknown, false
}

// Error is the error that Stream yields if the provider, not the program, is at fault.
type Error struct {
	Kind   Kind
	Status int // HTTP status, or 0
	// Message is the provider's message, without markup, or empty.
	Message   string
	RequestID string

	// RetryAfter is the delay requested by the server; HasRetryAfter is true if there is one.
	RetryAfter    time.Duration
	HasRetryAfter bool
	// ShouldRetry is the server's explicit retry instruction: +1, -1, or 0 for none.
	ShouldRetry int

	// Lasting is set on a Broken error if waiting is unlikely to help: the server stalled, or
	// ended its answer on purpose.
	Lasting bool

	// Input, Output and Window are the token counts of an OverWindow error.
	Input, Output, Window int

	// Media names the offending attachment of a MediaTooLarge error, if known.
	Media string

	// Hint is advice for the user, as a sentence without a full stop; empty means the usual
	// advice for the kind.
	Hint string

	Err error // the cause, or nil
}

// Error returns a line for logs. The user-facing text comes from [Explain].
func (e *Error) Error() string {
	s := e.Kind.String()
	switch {
	case e.Message != "":
		s += ": " + e.Message
	case e.Err != nil:
		s += ": " + e.Err.Error()
	}
	return s
}

// Within returns e as the error of an answer. Once the answer has begun, e becomes a Broken
// error.
func (e *Error) Within(begun bool) *Error {
	if !begun {
		return e
	}
	return &Error{Kind: Broken, RequestID: e.RequestID, Message: "the server broke off its answer: " + e.Error(), Err: e}
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns err's kind, or Unknown if it is not an [*Error].
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Unknown
}
