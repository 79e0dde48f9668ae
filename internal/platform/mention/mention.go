// Package mention finds the files that a text names with an at sign: @path, @"path with blanks", @path#L10-20. Whether
// there is such a file, and what is done with it, is left to others.
package mention

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Mention names a file or a directory.
type Mention struct {
	// Path is as it was written, without quotes. Text is the whole mention.
	Path, Text string
	// First and Last are the lines that are meant, from 1; 0 means all, or as far as the file goes.
	First, Last int
}

// Most is how many mentions [Find] returns.
const Most = 100

// Find returns the mentions in a text, each once. An at sign inside a word, as in an address of mail, is none.
func Find(text string) []Mention {
	var found []Mention
	seen := map[Mention]bool{}
	for i := 0; i < len(text) && len(found) < Most; {
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

// parse returns the mention that text begins with, and its length. Without one the path is empty.
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

// blank returns where the first white space is, or the length.
func blank(text string) int {
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return i
	}
	return len(text)
}

// closes reports whether r at the end of a word belongs to the sentence.
func closes(r rune) bool {
	return strings.ContainsRune(".,;:!?)]}>'\"`…，。；：！？）】》」", r)
}

// span reads #L10, #L10-20 or #L10-L20 at the beginning of text, and returns its length, 0 if there is none.
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

// number reads a number from 1 at the beginning of text, and returns what follows; 0 if there is none.
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

// Write returns how a path is mentioned.
func Write(path string) string {
	if strings.ContainsFunc(path, unicode.IsSpace) || strings.TrimRightFunc(path, closes) != path {
		return `@"` + path + `"`
	}
	return "@" + path
}

// Typed returns the path that is being typed at the end of text, and where its mention begins. It reports false if
// there is none.
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
