package signin

import (
	"net/http"
	"strings"
)

// maxChallenge is how much of a header is read.
const maxChallenge = 8 << 10

// A challenge is what a server says about the token that it wants.
type challenge struct {
	metadata string // where the server describes itself; may be empty
	scope    string
	code     string // such as insufficient_scope
	text     string // what else it says
}

// challengeOf reads the header WWW-Authenticate. What other schemes than Bearer say is left out.
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
		if *field == "" { // of several, the first
			*field = value
		}
	}
	return c
}

// token cuts the word off that text begins with.
func token(text string) (word, rest string) {
	n := strings.IndexFunc(text, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
	if n < 0 {
		n = len(text)
	}
	return text[:n], text[n:]
}

// parameter cuts the value off that text begins with, quoted or not.
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
