// Package redact takes secrets out of text that leaves the program: logs, exports, bundles for a bug
// report. It knows what keys of common services look like, private keys, credentials in URLs and
// headers, and values that look random beside a name such as token or password. It takes time linear
// in the text. It cannot know every secret, and what to redact is left to its callers.
package redact

import "strings"

// Mark stands in the place of a secret.
const Mark = "[redacted]"

// String returns s without the secrets that can be told from their form.
func String(s string) string {
	r := redactor{in: s}
	r.run()
	if r.out == nil {
		return s
	}
	return string(append(r.out, s[r.done:]...))
}

// Bytes is [String] for bytes. If there is nothing to redact it returns b itself.
func Bytes(b []byte) []byte {
	r := redactor{in: string(b)}
	r.run()
	if r.out == nil {
		return b
	}
	return append(r.out, r.in[r.done:]...)
}

// HasKey reports whether s contains the key of a known service, a token for a header or a private key. A
// password in a URL and a random value beside a name do not count.
func HasKey(s string) bool {
	r := redactor{in: s}
	for i := range len(s) {
		switch {
		case !trigger[s[i]]:
		case s[i] == '-' && privateKey(s, i) > 0:
			return true
		case i > 0 && wordByte[s[i-1]]:
		case r.knownKey(i) > 0:
			return true
		default:
			if _, end := bearer(s, i); end > 0 {
				return true
			}
		}
	}
	return false
}

// HasURLPassword reports whether s contains a URL with a password.
func HasURLPassword(s string) bool {
	for i := range len(s) {
		if s[i] == ':' {
			if _, end := urlPassword(s, i); end > 0 {
				return true
			}
		}
	}
	return false
}

// Field returns the value of a field without secrets. If the field's name says that it is one, none of
// it is left.
func Field(name, value string) string {
	clean := String(value)
	kind := nameBefore(name, len(name))
	if clean != value || kind == notSecret {
		return clean
	}
	for i := range len(value) {
		if !valueByte[value[i]] && value[i] != '=' {
			return clean // prose
		}
	}
	if secretValue(value, kind, true, "") {
		return Mark
	}
	return clean
}

// A redactor goes once through a text.
type redactor struct {
	in   string
	out  []byte
	done int // how much of in has been copied or replaced
	// tokenEnd is where the bytes of tokens end that were last looked at; they are not looked at again
	// for each key that may begin among them.
	tokenEnd int
}

func (r *redactor) run() {
	for i := 0; i < len(r.in); {
		if !trigger[r.in[i]] {
			i++
			continue
		}
		i = r.at(i)
	}
}

// trigger are the bytes that something to redact can begin with or be told by.
var trigger = func() (t [256]bool) {
	for _, k := range keys {
		t[k.prefix[0]] = true
	}
	for _, c := range "=:-bB" {
		t[c] = true
	}
	return t
}()

// at looks for a secret at i and returns where to go on.
func (r *redactor) at(i int) int {
	switch c := r.in[i]; c {
	case '-':
		if end := privateKey(r.in, i); end > 0 {
			return r.replace(i, end)
		}
	case ':':
		if start, end := urlPassword(r.in, i); end > 0 {
			return r.replace(start, end)
		}
		return r.value(i)
	case '=':
		return r.value(i)
	}
	if i > 0 && wordByte[r.in[i-1]] {
		return i + 1
	}
	if start, end := bearer(r.in, i); end > 0 {
		return r.replace(start, end)
	}
	if end := r.knownKey(i); end > 0 {
		return r.replace(i, end)
	}
	return i + 1
}

// replace puts the mark in the place of a part and returns its end.
func (r *redactor) replace(start, end int) int {
	r.out = append(r.out, r.in[r.done:start]...)
	r.out = append(r.out, Mark...)
	r.done = end
	return end
}

// value looks at what a sign between a name and its value, at i, stands between.
func (r *redactor) value(i int) int {
	n := nameBefore(r.in, i)
	if n == notSecret {
		return i + 1
	}
	start, quoted := valueStart(r.in, i+1)
	end := start
	for end < len(r.in) && (valueByte[r.in[end]] || r.in[end] == '=' && padding(r.in[end:])) {
		end++
	}
	if n == header {
		if rest, ok := cutScheme(r.in[start:end], r.in[end:]); ok {
			n = credentials
			start = end + rest
			for end = start; end < len(r.in) && valueByte[r.in[end]]; {
				end++
			}
		}
	}
	if start >= r.done && secretValue(r.in[start:end], n, quoted, r.in[end:]) {
		return r.replace(start, end)
	}
	return i + 1
}

// padding reports whether s continues with nothing but the padding of base64.
func padding(s string) bool {
	n := len(s) - len(strings.TrimLeft(s[:min(3, len(s))], "=")) - max(0, len(s)-3)
	rest := s[n:]
	return n <= 2 && (rest == "" || !valueByte[rest[0]] && rest[0] != '=')
}
