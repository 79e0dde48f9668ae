package archive

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"adze/internal/msg"
)

// patterns returns the patterns to search for in the raw log and in its decoded text. In JSON a
// character may be escaped or not; no writer escapes ASCII letters and digits.
func patterns(query string) (raw, text string) {
	var r, t strings.Builder
	space := false
	for _, c := range query {
		if unicode.IsSpace(c) {
			space = true
			continue
		}
		if space {
			r.WriteString(`(?:[\s\x{a0}]|\\+[nrtfbv]|\\+u[0-9a-fA-F]{4})+`)
			t.WriteString(`[\s\x{a0}]+`)
			space = false
		}
		r.WriteString(rawPattern(c))
		t.WriteString(quote(c))
	}
	return r.String(), t.String()
}

// rawPattern matches the JSON encodings of c. Tool input is JSON within JSON, so there may be
// several backslashes.
func rawPattern(c rune) string {
	switch {
	case c < utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c)):
		return string(c)
	case c == '"', c == '\\', c == '/':
		return `\\*` + quote(c)
	}
	ways := []string{quote(c)}
	// Case folding does not apply to \uXXXX escapes, so all cases are listed.
	for fold := c; ; {
		ways = append(ways, escapes(fold))
		if fold = unicode.SimpleFold(fold); fold == c {
			break
		}
	}
	return "(?:" + strings.Join(ways, "|") + ")"
}

// escapes returns a pattern for c written as \uXXXX.
func escapes(c rune) string {
	if c > 0xffff {
		high, low := utf16.EncodeRune(c)
		return escapes1(high) + escapes1(low)
	}
	return escapes1(c)
}

func escapes1(c rune) string {
	var b strings.Builder
	b.WriteString(`\\+u`)
	for _, d := range fmt.Sprintf("%04x", c) {
		if unicode.IsLetter(d) {
			fmt.Fprintf(&b, "[%c%c]", d, unicode.ToUpper(d))
		} else {
			b.WriteRune(d)
		}
	}
	return b.String()
}

func quote(c rune) string {
	if strings.ContainsRune(`\.+*?()|[]{}^$#&-~/"<>`, c) {
		return fmt.Sprintf(`\x{%x}`, c)
	}
	return string(c)
}

// inputText returns a call's input as readable, searchable text.
func inputText(u *msg.ToolUse) string {
	if u.Malformed != "" {
		return u.Malformed
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(u.Input, &fields) != nil {
		return string(u.Input)
	}
	var b strings.Builder
	for i, name := range keysInOrder(u.Input) {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(name + ": ")
		var text string
		if json.Unmarshal(fields[name], &text) == nil {
			b.WriteString(text)
		} else {
			b.Write(fields[name])
		}
	}
	return b.String()
}

// snippetReach is the length of the text that a snippet shows on each side of a match, in
// bytes.
const snippetReach = 60

// snippet returns the text around a match on one line, and the position of the match in it.
func snippet(text string, start, end int) (s string, from, to int) {
	first, last := max(0, start-snippetReach), min(len(text), min(end, start+4*snippetReach)+snippetReach)
	for first > 0 && !utf8.RuneStart(text[first]) {
		first--
	}
	for last < len(text) && !utf8.RuneStart(text[last]) {
		last++
	}
	end = min(end, last)
	before, match, after := flat(text[first:start]), flat(text[start:end]), flat(text[end:last])
	if first > 0 {
		before = "…" + before
	} else {
		before = strings.TrimLeft(before, " ")
	}
	if last < len(text) {
		after += "…"
	} else {
		after = strings.TrimRight(after, " ")
	}
	return before + match + after, len(before), len(before) + len(match)
}

// flat replaces each run of whitespace and control characters with a single space.
func flat(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		space = false
		b.WriteRune(r)
	}
	return b.String()
}

// Seen returns a message with its calls rewritten by seen.
func Seen(m msg.Message, seen func(*msg.ToolUse) *msg.ToolUse) msg.Message {
	if seen == nil || len(m.Uses()) == 0 {
		return m
	}
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		if u, ok := p.(*msg.ToolUse); ok {
			m.Parts[i] = seen(u)
		}
	}
	return m
}

// Gist summarizes a message in one line of at most n characters: its text, or else its call or
// result.
func Gist(m msg.Message, n int) string {
	parts := slices.DeleteFunc(slices.Clone(m.Parts), func(p msg.Part) bool {
		_, reminder := msg.ReminderText(p)
		return reminder
	})
	if text := strings.TrimSpace(strings.Join(msg.TypedTexts(m), "")); text != "" {
		return shorten(flat(text), n)
	}
	for _, p := range parts {
		switch p := p.(type) {
		case *msg.ToolUse:
			return shorten(flat(p.Name+" "+summary(inputFields(p))), n)
		case *msg.ToolResult:
			return shorten("→ "+flat(strings.TrimSpace(msg.PlainText(p.Parts))), n)
		case *msg.Image:
			return "[picture]"
		}
	}
	return ""
}
