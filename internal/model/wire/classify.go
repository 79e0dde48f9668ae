package wire

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"adze/internal/model"
)

// KindOf returns an error's kind by its HTTP status and message, for errors without a specific
// name. Status 0 means an error in a stream.
func KindOf(status int, message string) model.Kind {
	message = strings.ToLower(message)
	switch {
	case status == 401:
		return model.Auth
	case status == 402:
		return model.Quota
	case status == 403 && kindOfMessage(message) == model.Quota:
		return model.Quota
	case status == 403:
		return model.Refused
	case status == 404 && strings.Contains(message, "model"):
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
	return kindOfMessage(message)
}

// kindOfMessage classifies invalid requests by the server's lower-case message.
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
	case has("credit balance", "any credits", "insufficient credits", "quota", "billing", "usage limit"):
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

// NewError returns an error with the server's message, cleaned for display. An error of kind
// [model.TooLong] whose message has the numbers of [model.OverWindow] becomes one; others get
// the input and window sizes.
func NewError(kind model.Kind, status int, message string) *model.Error {
	e := &model.Error{Kind: kind, Status: status, Message: Clean(message)}
	if kind == model.TooLong {
		var ok bool
		if e.Input, e.Output, e.Window, ok = overWindow(message); ok {
			e.Kind = model.OverWindow
		} else if found := tooLong().FindStringSubmatch(message); found != nil {
			e.Input, e.Window = count(found[1]), count(found[2])
		}
	}
	return e
}

// wordings matches messages that input and output together exceed the window. Each expression
// names the groups in, more, out and window.
var wordings = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`(?P<in>\d[\d,]*) *\+ *(?P<out>\d[\d,]*) *> *(?P<window>\d[\d,]*)`),
		regexp.MustCompile(`context length is (?P<window>\d+) tokens.*\((?P<in>\d+) in the messages(?:, (?P<more>\d+) in the functions)?,? (?:and )?(?P<out>\d+) in the completion\)`),
		regexp.MustCompile(`too large: (?P<out>\d+).* context length is (?P<window>\d+) tokens and your request has (?P<in>\d+) input tokens`),
		regexp.MustCompile(`context (?:length|window) (?:is|of) (?P<window>\d+) tokens?.*requested (?P<out>\d+) output tokens.* (?P<in>\d+) input tokens`),
	}
})

// tooLong finds the input's actual and maximum length.
var tooLong = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d[\d,]*) tokens > (\d[\d,]*)`) })

// count parses a token count as servers write it, or returns 0.
func count(digits string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(digits, ",", ""))
	if err != nil || n > 1e12 {
		return 0
	}
	return n
}

// overWindow extracts the numbers from such a message.
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
			return count(found[i])
		}
		in, out, window = number("in")+number("more"), number("out"), number("window")
		if in > 0 && out > 0 && window > 0 {
			return in, out, window, true
		}
	}
	return 0, 0, 0, false
}

// Plain returns a non-JSON error body if it is a line of text, and "" if it is a page.
func Plain(body []byte) string {
	s := strings.TrimSpace(string(body))
	if strings.ContainsAny(s, "<{\n") {
		return ""
	}
	return s
}

// Clean returns a server's message in a form suitable for one line of a terminal or a log.
func Clean(s string) string {
	const most = 1000
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.Is(unicode.C, r): // control characters, and characters that reorder or hide text
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if lower := strings.ToLower(s); strings.Contains(lower, "<html") || strings.Contains(lower, "<!doctype") {
		return ""
	}
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strings.TrimSpace(s)
}
