// Package mention finds file mentions in text: @path, @"path with blanks", @path#L10-20.
package mention

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Mention names a file or a directory.
type Mention struct {
	// Path is the path as written, without quotes. Text is the whole mention.
	Path, Text string
	// First and Last are 1-based line numbers. 0 means all lines, or up to the end of the file.
	First, Last int
}

// MaxMentions is the maximum number of mentions that [Find] returns.
const MaxMentions = 100

// Find returns the distinct mentions in a text. An at sign inside a word, as in an email
// address, does not count.
func Find(text string) []Mention {
	var found []Mention
	seen := map[Mention]bool{}
	for i := 0; i < len(text) && len(found) < MaxMentions; {
		at := strings.IndexByte(text[i:], '@')
		if at < 0 {
			break
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		if i > 0 && !opens(before) {
			i++
			continue
		}
		m, n := parse(text[i:])
		i += max(n, 1)
		if m.Path == "" || seen[m] {
			continue
		}
		seen[m] = true
		found = append(found, m)
	}
	return found
}

// opens reports whether a mention may follow r.
func opens(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("([{<,;:'\"`，、；：（【《「", r)
}

// parse returns the mention at the start of text and its length. The path is empty if text does
// not begin with a mention.
func parse(text string) (m Mention, n int) {
	rest := text[1:]
	if quoted, ok := strings.CutPrefix(rest, `"`); ok {
		end := strings.IndexAny(quoted, "\"\n")
		if end < 0 || quoted[end] == '\n' {
			return m, 0
		}
		m.Path, rest = quoted[:end], quoted[end+1:]
		lines := rest[:blank(rest)]
		if first, last, length := span(lines); length > 0 {
			m.First, m.Last, rest = first, last, rest[length:]
		}
	} else {
		word := rest[:blank(rest)]
		word = strings.TrimRightFunc(word, closes)
		rest = rest[len(word):]
		m.Path = word
		if hash := strings.LastIndexByte(word, '#'); hash > 0 {
			if first, last, length := span(word[hash:]); length == len(word)-hash {
				m.Path, m.First, m.Last = word[:hash], first, last
			}
		}
	}
	n = len(text) - len(rest)
	m.Text = text[:n]
	return m, n
}

// blank returns the index of the first whitespace, or len(text).
func blank(text string) int {
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return i
	}
	return len(text)
}

// closes reports whether r at the end of a word is punctuation of the sentence.
func closes(r rune) bool {
	return strings.ContainsRune(".,;:!?)]}>'\"`…，。；：！？）】》」", r)
}

// span parses #L10, #L10-20 or #L10-L20 at the start of text. If text does not match, length is
// 0.
func span(text string) (first, last, length int) {
	rest, ok := strings.CutPrefix(text, "#L")
	if !ok {
		return 0, 0, 0
	}
	first, rest = number(rest)
	if first == 0 {
		return 0, 0, 0
	}
	last = first
	if more, ok := strings.CutPrefix(rest, "-"); ok {
		n, after := number(strings.TrimPrefix(more, "L"))
		if n >= first {
			last, rest = n, after
		}
	}
	return first, last, len(text) - len(rest)
}

// number parses a positive number at the start of text and returns it with the remaining text.
// It returns 0 if it finds none.
func number(text string) (n int, rest string) {
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	n, err := strconv.Atoi(text[:min(end, 9)])
	if err != nil || end > 9 {
		return 0, text
	}
	return n, text[end:]
}

// Write formats a path as a mention.
func Write(path string) string {
	if strings.ContainsFunc(path, unicode.IsSpace) || strings.TrimRightFunc(path, closes) != path {
		return `@"` + path + `"`
	}
	return "@" + path
}

// Typed returns the path being typed at the end of text and the offset of its mention, if any.
func Typed(text string) (path string, at int, ok bool) {
	for at = strings.LastIndexByte(text, '@'); at >= 0; at = strings.LastIndexByte(text[:at], '@') {
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		if at > 0 && !opens(before) {
			continue
		}
		path, quoted := strings.CutPrefix(text[at+1:], `"`)
		if quoted && strings.ContainsAny(path, "\"\n") || !quoted && strings.ContainsFunc(path, unicode.IsSpace) {
			continue
		}
		return path, at, true
	}
	return "", 0, false
}
