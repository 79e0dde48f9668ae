package messages

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"adze/internal/model"
)

// classify returns the error for w, which came with an HTTP status or, in a stream, without one.
func (w wireError) classify(status int) *model.Error {
	e := &model.Error{Kind: w.kind(status), Status: status, Message: clean(w.Message)}
	if e.Kind == model.Invalid {
		e.Kind = kindOfMessage(strings.ToLower(w.Message))
	}
	switch e.Kind {
	case model.TooLong:
		if in, out, window, ok := overWindow(w.Message); ok {
			e.Kind, e.Input, e.Output, e.Window = model.OverWindow, in, out, window
		}
	case model.MediaTooLarge:
		e.Media = mediaPath().FindString(w.Message)
	}
	return e
}

// kind goes by what the server names the error, else by the status.
func (w wireError) kind(status int) model.Kind {
	mentions := func(s string) bool { return strings.Contains(strings.ToLower(w.Message), s) }
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
		if mentions("overloaded") {
			return model.Overloaded
		}
		return model.ServerFault
	case "not_found_error":
		status = 404
	case "invalid_request_error":
		status = 400
	}
	switch {
	case status == 401:
		return model.Auth
	case status == 402:
		return model.Quota
	case status == 403:
		return model.Refused
	case status == 404 && mentions("model"):
		return model.NoModel
	case status == 413:
		return model.TooLong
	case status == 429:
		return model.RateLimited
	case status == 529:
		return model.Overloaded
	case status == 408 || status == 409 || status >= 500 || status == 0:
		return model.ServerFault
	}
	return model.Invalid
}

// kindOfMessage tells apart the many things that are wrong with a request, by the server's words in
// lower case.
func kindOfMessage(s string) model.Kind {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(s, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("prompt is too long", "input is too long", "context limit", "context length", "context window",
		"maximum number of tokens allowed", "token count exceeds"):
		return model.TooLong
	case has("thinking") && has("signature", "cannot be modified"):
		return model.BadSignature
	case has("image", "pdf", "document", "media") &&
		has("exceed", "too large", "too many", "too much", "maximum", "could not process", "dimension", "password protected"):
		return model.MediaTooLarge
	case has("credit balance", "quota", "billing", "usage limit"):
		return model.Quota
	case has("content filtering", "usage polic", "violate"):
		return model.Refused
	case has("organization has been disabled", "api key"):
		return model.Auth
	case has("model") && has("not found", "does not exist", "not available", "invalid model"):
		return model.NoModel
	}
	return model.Invalid
}

// A wording is one way to say that input and output together exceed the window. Its expression names
// the groups in, more, out and window.
var wordings = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`(?P<in>\d[\d,]*) *\+ *(?P<out>\d[\d,]*) *> *(?P<window>\d[\d,]*)`),
		regexp.MustCompile(`context length is (?P<window>\d+) tokens.*\((?P<in>\d+) in the messages(?:, (?P<more>\d+) in the functions)?,? (?:and )?(?P<out>\d+) in the completion\)`),
		regexp.MustCompile(`too large: (?P<out>\d+).* context length is (?P<window>\d+) tokens and your request has (?P<in>\d+) input tokens`),
		regexp.MustCompile(`context (?:length|window) (?:is|of) (?P<window>\d+) tokens?.*requested (?P<out>\d+) output tokens.* (?P<in>\d+) input tokens`),
	}
})

// overWindow finds the numbers of such a sentence.
func overWindow(message string) (in, out, window int, ok bool) {
	for _, re := range wordings() {
		found := re.FindStringSubmatch(message)
		if found == nil {
			continue
		}
		number := func(group string) int {
			i := re.SubexpIndex(group)
			if i < 0 {
				return 0
			}
			n, err := strconv.Atoi(strings.ReplaceAll(found[i], ",", ""))
			if err != nil || n > 1e12 {
				return 0
			}
			return n
		}
		in, out, window = number("in")+number("more"), number("out"), number("window")
		if in > 0 && out > 0 && window > 0 {
			return in, out, window, true
		}
	}
	return 0, 0, 0, false
}

var mediaPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`messages\.\d+\.content\.\d+(\.content\.\d+)?`)
})
