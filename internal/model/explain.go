package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Explain returns what the user reads when a request to the named model failed: what happened, what to
// do, and the request id if there is one. It is one paragraph without markup.
func Explain(err error, modelName string) string {
	if err == nil {
		return ""
	}
	var e *Error
	switch {
	case errors.As(err, &e):
	case errors.Is(err, context.Canceled):
		return "Interrupted."
	default:
		e = &Error{Message: err.Error()}
	}
	happened, advice := e.explain(modelName)
	s := happened + ". " + advice + "."
	if e.RequestID != "" {
		s += " (request " + e.RequestID + ")"
	}
	return s
}

// explain returns two sentences without their full stops.
func (e *Error) explain(name string) (happened, advice string) {
	switch e.Kind {
	case Network:
		return e.says("The connection to the model failed"),
			"Check that you are online and that HTTPS_PROXY, if you need a proxy, is right; then send it again"
	case TLS:
		return e.says("The connection to the model is not trusted"),
			"If a corporate proxy inspects traffic, put its certificate into a file and set ADZE_EXTRA_CA_CERTS to it"
	case Broken:
		return e.says("The answer did not arrive whole"),
			"Send it again; if it keeps happening, check the base URL and the proxy"
	case RateLimited:
		if e.HasRetryAfter && e.RetryAfter > 0 {
			return e.says("The rate limit is reached"), "Try again in " + span(e.RetryAfter)
		}
		return e.says("The rate limit is reached"), "Wait a moment and try again, or choose another model with /model"
	case Overloaded:
		return fmt.Sprintf("%s is overloaded", subject(name)),
			"Try again in a while, or start with --fallback-model to switch to another model when this happens"
	case ServerFault:
		return e.says("The server failed" + e.status()), "It is not your fault; try again in a while"
	case TooLong:
		return "The conversation no longer fits the context window" + e.size(),
			"Shorten it with /compact, go back with /rewind, or start over with /clear"
	case OverWindow:
		return "The conversation leaves no room for an answer in the context window" + e.size(),
			"Shorten it with /compact, go back with /rewind, or start over with /clear"
	case MediaTooLarge:
		return e.says("An image or document was not accepted" + e.where()),
			"Make it smaller or leave it out; /rewind takes you back to before it was attached"
	case BadSignature:
		return "The model's earlier reasoning was not accepted", "Send it again; if it keeps happening, use /compact"
	case Auth:
		return e.says("The credentials were not accepted"), "Check ANTHROPIC_API_KEY, or the key helper, or log in again"
	case Quota:
		return e.says("The account has no credit left, or its quota is used up"),
			"Add credit or raise the limit with your provider, or use another key"
	case NoModel:
		return fmt.Sprintf("%s does not exist or is not available to you", subject(name)),
			"Run `adze models` for those that are, and choose one with --model or /model"
	case Refused:
		return e.says("The request was refused by policy"), "Rephrase it, or take back what led to it with /rewind"
	case Invalid:
		return e.says("The server did not accept the request" + e.status()),
			"/rewind takes you back to a point where it worked; if it keeps happening, please report it"
	}
	return e.says("Something went wrong while asking the model"), "Send it again; if it keeps happening, please report it"
}

// says adds the server's own words, if there are any fit to be read.
func (e *Error) says(what string) string {
	words := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if unicode.Is(unicode.C, r) {
			return -1
		}
		return r
	}, e.Message)), " ")
	const most = 300
	switch r := []rune(words); {
	case words == "" || strings.ContainsAny(words, "<>") || strings.Contains(words, "goroutine "):
		return what
	case len(r) > most:
		words = string(r[:most]) + "…"
	}
	return what + ": " + strings.TrimRight(words, ".")
}

func (e *Error) status() string {
	if e.Status == 0 {
		return ""
	}
	return fmt.Sprintf(" (HTTP %d)", e.Status)
}

func (e *Error) size() string {
	switch {
	case e.Input > 0 && e.Output > 0 && e.Window > 0:
		return fmt.Sprintf(" (%d tokens, and %d for the answer, of %d)", e.Input, e.Output, e.Window)
	case e.Input > 0 && e.Window > 0:
		return fmt.Sprintf(" (%d tokens of %d)", e.Input, e.Window)
	}
	return ""
}

func (e *Error) where() string {
	if e.Media == "" {
		return ""
	}
	return " (" + e.Media + ")"
}

func subject(name string) string {
	if name == "" {
		return "The model"
	}
	return "The model " + name
}

// span returns d in words.
func span(d time.Duration) string {
	unit := func(n int, name string) string {
		if n == 1 {
			return "1 " + name
		}
		return fmt.Sprintf("%d %ss", n, name)
	}
	secs := int((d + time.Second - 1) / time.Second)
	switch {
	case secs < 60:
		return unit(secs, "second")
	case secs < 3600:
		return unit((secs+59)/60, "minute")
	case secs%3600 < 60:
		return unit(secs/3600, "hour")
	}
	return unit(secs/3600, "hour") + " " + unit(secs%3600/60, "minute")
}
