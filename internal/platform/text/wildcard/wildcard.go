// Package wildcard matches text against patterns as used in command rules: a star matches any
// text, and \* matches a star.
package wildcard

import "strings"

// Split returns the literal parts between the stars of a pattern.
func Split(pattern string) []string {
	var pieces []string
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern) && pattern[i+1] == '*':
			i++
			b.WriteByte('*')
		case pattern[i] == '*':
			pieces = append(pieces, b.String())
			b.Reset()
		default:
			b.WriteByte(pattern[i])
		}
	}
	return append(pieces, b.String())
}

// Bare reports whether a pattern also matches without its last star and the blank before it:
// "git *" also matches "git".
func Bare(pieces []string) bool {
	last := len(pieces) - 1
	return last > 0 && pieces[last] == "" && strings.HasSuffix(pieces[last-1], " ")
}

// Match reports whether text consists of pieces with any text between them. It takes time
// linear in text. If bare is set, the last star is optional; see [Bare].
func Match(text string, pieces []string, bare bool) bool {
	if last := len(pieces) - 1; bare && match(text, append(pieces[:last-1:last-1], strings.TrimSuffix(pieces[last-1], " "))) {
		return true
	}
	return match(text, pieces)
}

func match(text string, pieces []string) bool {
	last := len(pieces) - 1
	if last == 0 {
		return text == pieces[0]
	}
	text, ok := strings.CutPrefix(text, pieces[0])
	if !ok {
		return false
	}
	for _, piece := range pieces[1:last] {
		i := strings.Index(text, piece)
		if i < 0 {
			return false
		}
		text = text[i+len(piece):]
	}
	return strings.HasSuffix(text, pieces[last])
}
