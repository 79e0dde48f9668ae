package client

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/term"
	"adze/internal/platform/text/jsonscan"
)

// Limits in characters on a server's texts.
const (
	nameLimit  = 128
	titleLimit = 200
	textLimit  = 2048 // descriptions, instructions and errors
	uriLimit   = 4096
	logLimit   = 1000
	pushLimit  = 4000 // messages for the conversation
)

// cutMark ends a truncated text.
const cutMark = "… [cut]"

// line returns s on one line, without invisible characters, truncated to limit characters.
func line(s string, limit int) string {
	return cut(strings.Join(strings.Fields(visible(s)), " "), limit)
}

// text returns s, which may have several lines, without invisible characters, truncated to
// limit characters.
func text(s string, limit int) string { return cut(strings.TrimSpace(visible(s)), limit) }

// cut truncates s to limit characters and adds a mark if it is longer.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	last, n := 0, 0
	keep := limit - utf8.RuneCountInString(cutMark)
	for i := range s {
		if n == keep {
			last = i
		}
		if n++; n > limit {
			return strings.TrimRight(s[:last], " \n\t") + cutMark
		}
	}
	return s
}

// visible returns s without control sequences and without characters that are invisible,
// reorder others, or are for private use.
func visible(s string) string {
	if ordinary(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u2028' || r == '\u2029':
			return '\n'
		case hidden(r):
			return -1
		}
		return r
	}, term.Strip(strings.ReplaceAll(s, "\r\n", "\n")))
}

// ordinary reports whether s is printable ASCII.
func ordinary(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// hidden reports whether r is invisible, reorders text, or has no meaning of its own.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == utf8.RuneError:
		return false
	case r == 0x00ad, r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0,
		r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp) || r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef
}

// untagged returns s without tag characters, which encode invisible text.
func untagged(s string) string {
	if !strings.ContainsFunc(s, tag) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if tag(r) {
			return -1
		}
		return r
	}, s)
}

func tag(r rune) bool { return r >= 0xe0000 && r <= 0xe0fff }

// cleanSchema returns a compact schema with its texts cleaned, or false if raw is not a schema.
func cleanSchema(raw json.RawMessage) (json.RawMessage, bool) {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil || b.Len() == 0 || b.Bytes()[0] != '{' {
		return nil, false
	}
	return rewrite(b.Bytes(), visible, textLimit), true
}

// cleanValue returns a compact JSON value without tag characters.
func cleanValue(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.Grow(len(raw))
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return nil
	}
	return rewrite(b.Bytes(), untagged, 0)
}

// rewrite returns compact JSON with every string cleaned. If limit is set, descriptions are
// truncated to that many characters.
func rewrite(raw []byte, clean func(string) string, limit int) []byte {
	var out []byte
	key, start := "", 0
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		end, plain := i+1, true
		for end < len(raw) && raw[end] != '"' {
			if raw[end] == '\\' {
				end++
				plain = false
			} else if raw[end] >= 0x7f {
				plain = false
			}
			end++
		}
		end = min(end+1, len(raw))
		isKey := end < len(raw) && raw[end] == ':'
		described := limit > 0 && !isKey && (key == "description" || key == "title" || key == "$comment")
		if !plain || isKey || described {
			s, _ := jsonscan.String(raw[i:end]) // ok: it was compacted, so it is a string
			cleaned := clean(s)
			if described {
				cleaned = cut(cleaned, limit)
			}
			if cleaned != s {
				out = appendText(append(out, raw[start:i]...), cleaned)
				start = end
			}
			if isKey {
				key = s
			}
		}
		i = end - 1
	}
	if start == 0 {
		return raw
	}
	return append(out, raw[start:]...)
}

func appendText(b []byte, s string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // ok: a string can always be encoded
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}
