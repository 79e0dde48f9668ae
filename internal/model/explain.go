package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"adze/internal/platform/text/amount"
)

// Explain returns the user-facing text for a failed request to the named model: the problem,
// the advice, and the request ID if known. It is one paragraph without markup. commands is true
// if the user can type commands such as /rewind; the advice mentions only things available to
// the user.
func Explain(err error, modelName string, commands bool) string {
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
	happened, advice := e.explain(modelName, commands)
	if e.Hint != "" {
		advice = e.Hint
		if e.Kind == NoModel {
			happened = e.says(happened) // the hint refers to it
		}
	}
	s := happened + ". " + advice + "."
	if e.RequestID != "" {
		s += " (request " + e.RequestID + ")"
	}
	return s
}

// Cause returns a short reason for a retry.
func Cause(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return Unknown.String()
	}
	switch e.Kind {
	case Overloaded:
		return "the model is overloaded"
	case RateLimited:
		return "rate limit reached"
	case Network:
		return e.says("no connection")
	case ServerFault:
		return "server error"
	case Broken:
		if e.Lasting {
			return e.says("the answer broke off")
		}
		return "the answer broke off"
	}
	return strings.ReplaceAll(e.Kind.String(), "_", " ")
}

// explain returns two sentences without their full stops.
func (e *Error) explain(name string, commands bool) (happened, advice string) {
	either := func(conversation, run string) string {
		if commands {
			return conversation
		}
		return run
	}
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
		return e.says("The rate limit is reached"), "Wait a moment and try again, or choose another model with " + either("/model", "--model")
	case Overloaded:
		return fmt.Sprintf("%s is overloaded", subject(name)),
			"Try again in a while, or start with --fallback-model to switch to another model when this happens"
	case ServerFault:
		return e.says("The server failed" + e.status()), "It is not your fault; try again in a while"
	case TooLong, OverWindow:
		return e.size(name), either("Shorten the conversation with /compact, go back with /rewind, or start a new one with /clear",
			"Send less, such as the name of a file for the model to read in parts, or start a new session")
	case MediaTooLarge:
		return e.says("An image or document was not accepted" + e.where()),
			"Make it smaller or leave it out" + either("; /rewind goes back to before it was attached", "")
	case BadSignature:
		return "The model's earlier reasoning was not accepted",
			"Send it again; if it keeps happening, " + either("use /compact", "start a new session")
	case Auth:
		return e.says("The credentials were not accepted"), "Check the API key; `adze auth status` shows its source"
	case Quota:
		return e.says("The account has no credit left, or its quota is used up"),
			"Add credit or raise the limit with your provider, or use another key"
	case NoModel:
		return fmt.Sprintf("%s does not exist or is not available to you", subject(name)),
			"Run `adze models` for those that are, and choose one with " + either("/model", "--model")
	case Refused:
		return e.says("The request was refused by policy"), "Rephrase it" + either(", or go back with /rewind to before the message that led to it", "")
	case NoTools:
		return fmt.Sprintf("%s cannot call tools, which adze needs", subject(name)),
			"Choose another model with " + either("/model", "--model") + "; if a custom model writes tool calls as text, set textTools for its provider (docs/models.md)"
	case Invalid:
		return e.says("The server did not accept the request" + e.status()),
			either("Send it again, or go back with /rewind to before the message that led to it", "Send it again, or start a new session") +
				"; if it keeps happening, please report it"
	}
	return e.says("Something went wrong while asking the model"), "Send it again; if it keeps happening, please report it"
}

// says returns its argument with the server's own message appended, if that is readable.
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

// size describes the input that is too long, with the numbers as far as known.
func (e *Error) size(name string) string {
	window := "the context window"
	if name != "" {
		window += " of " + name
	}
	switch {
	case e.Input > 0 && e.Output > 0 && e.Window > 0:
		return fmt.Sprintf("The input of about %s tokens leaves no room for an answer of %s: %s has %s",
			amount.Grouped(e.Input), amount.Grouped(e.Output), window, amount.Grouped(e.Window))
	case e.Input > 0 && e.Window >= e.Input:
		return fmt.Sprintf("The server finds the input of about %s tokens too long, though %s is taken to have %s", amount.Grouped(e.Input), window, amount.Grouped(e.Window))
	case e.Input > 0 && e.Window > 0:
		return fmt.Sprintf("The input is about %s tokens long, and %s has %s", amount.Grouped(e.Input), window, amount.Grouped(e.Window))
	}
	return "The conversation no longer fits " + window
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

// span returns d in human-readable form.
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
