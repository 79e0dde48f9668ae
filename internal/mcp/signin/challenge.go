package signin

import (
	"net/http"
	"strings"
)

// maxChallenge limits the bytes parsed of a header.
const maxChallenge = 8 << 10

// A challenge is a server's description of the token it requires.
type challenge struct {
	metadata string // URL of the server's metadata; may be empty
	scope    string
	code     string // such as insufficient_scope
	text     string // error description
}

// challengeOf parses the WWW-Authenticate header. It ignores schemes other than Bearer.
func challengeOf(h http.Header) (c challenge) {
	text := strings.Join(h.Values("Www-Authenticate"), ", ")
	if len(text) > maxChallenge {
		text = text[:maxChallenge]
	}
	scheme := ""
	for text != "" {
		word, rest := token(strings.TrimLeft(text, " \t,"))
		if word == "" {
			return c
		}
		after := strings.TrimLeft(rest, " \t")
		if !strings.HasPrefix(after, "=") {
			scheme, text = strings.ToLower(word), rest
			continue
		}
		var value string
		value, text = parameter(strings.TrimLeft(after[1:], " \t"))
		if scheme != "bearer" {
			continue
		}
		var field *string
		switch strings.ToLower(word) {
		case "resource_metadata":
			field = &c.metadata
		case "scope":
			field = &c.scope
		case "error":
			field = &c.code
		case "error_description":
			field = &c.text
		default:
			continue
		}
		if *field == "" { // the first value counts
			*field = value
		}
	}
	return c
}

// token splits off the leading word of text.
func token(text string) (word, rest string) {
	n := strings.IndexFunc(text, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
	if n < 0 {
		n = len(text)
	}
	return text[:n], text[n:]
}

// parameter splits off the leading value of text, quoted or not.
func parameter(text string) (value, rest string) {
	if !strings.HasPrefix(text, `"`) {
		n := strings.IndexAny(text, ", \t")
		if n < 0 {
			n = len(text)
		}
		return text[:n], text[n:]
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:]
		case '\\':
			if i++; i == len(text) {
				return b.String(), ""
			}
		}
		b.WriteByte(text[i])
	}
	return b.String(), ""
}
