// Package redact removes secrets from text that leaves the program: logs, exports and bug
// reports. It recognizes keys of common services, private keys, credentials in URLs and
// headers, and random-looking values next to names such as token or password. It takes linear
// time. It cannot recognize every secret.
package redact

import "strings"

// Mark replaces a secret.
const Mark = "[redacted]"

// String returns s without recognizable secrets.
func String(s string) string {
	r := redactor{in: s}
	r.run()
	if r.out == nil {
		return s
	}
	return string(append(r.out, s[r.done:]...))
}

// Bytes is like [String] for bytes. It returns b itself if there is nothing to redact.
func Bytes(b []byte) []byte {
	r := redactor{in: string(b)}
	r.run()
	if r.out == nil {
		return b
	}
	return append(r.out, r.in[r.done:]...)
}

// HasKey reports whether s contains a key of a known service, a bearer token or a private key.
// Passwords in URLs and random values next to a name do not count.
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

// Field returns a field's value without secrets. If the field's name indicates a secret and the
// value looks like one, the whole value is replaced.
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

// A redactor processes a text in one pass.
type redactor struct {
	in   string
	out  []byte
	done int // length of the processed prefix of in
	// tokenEnd is the end of the last scanned run of token bytes. It avoids rescanning the run
	// for every key that might begin in it.
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

// trigger marks the bytes at which a secret can begin or be recognized.
var trigger = func() (t [256]bool) {
	for _, k := range keys {
		t[k.prefix[0]] = true
	}
	for _, c := range "=:-bB" {
		t[c] = true
	}
	return t
}()

// at checks for a secret at i and returns the position to continue from.
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

// replace replaces a range with Mark and returns its end.
func (r *redactor) replace(start, end int) int {
	r.out = append(r.out, r.in[r.done:start]...)
	r.out = append(r.out, Mark...)
	r.done = end
	return end
}

// value checks the name and value around the separator at i.
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

// padding reports whether s begins with base64 padding that ends the value.
func padding(s string) bool {
	n := len(s) - len(strings.TrimLeft(s[:min(3, len(s))], "=")) - max(0, len(s)-3)
	rest := s[n:]
	return n <= 2 && (rest == "" || !valueByte[rest[0]] && rest[0] != '=')
}
