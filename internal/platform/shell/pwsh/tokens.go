package pwsh

import (
	"fmt"
	"strings"
	"unicode"
)

// A tokenizer reads the supported part of the language: bare and fully quoted words, separated
// by blanks, line breaks, semicolons and bars. It stops at anything else.
type tokenizer struct {
	rest     string
	commands []cmd
	current  cmd
}

// tokenize returns the commands of src, or the reason why it is not simple.
func tokenize(src string) ([]cmd, string) {
	if len(src) > maxLine {
		return nil, "it is too long to be understood"
	}
	t := &tokenizer{rest: strings.TrimRight(src, " \t\r\n")}
	for t.rest != "" {
		if problem := t.next(); problem != "" {
			return nil, problem
		}
	}
	if problem := t.end(); problem != "" {
		return nil, problem
	}
	if len(t.commands) == 0 {
		return nil, "it holds no command"
	}
	return t.commands, ""
}

// maxLine limits the length of lines that are analyzed precisely.
const maxLine = 10_000

// next reads one token.
func (t *tokenizer) next() string {
	switch c := t.rest[0]; c {
	case ' ', '\t':
		t.rest = t.rest[1:]
		return ""
	case ';', '\n':
		t.rest = t.rest[1:]
		return t.end()
	case '\r':
		if !strings.HasPrefix(t.rest, "\r\n") {
			return "it holds a carriage return"
		}
		t.rest = t.rest[1:]
		return ""
	case '|':
		t.rest = t.rest[1:]
		if len(t.current.words) == 0 {
			return "it has a bar without a command"
		}
		if problem := t.end(); problem != "" {
			return problem
		}
		t.current.piped = true
		return ""
	case '\'', '"':
		return t.quoted(c)
	}
	return t.bare()
}

// end ends the current command.
func (t *tokenizer) end() string {
	c := t.current
	t.current = cmd{}
	if len(c.words) == 0 {
		if c.piped {
			return "it has a bar without a command"
		}
		return ""
	}
	name := c.words[0]
	switch {
	case name.quoted:
		return "it begins with a text instead of a command"
	case strings.Trim(name.value, nameChars) != "" || strings.IndexByte("-+0123456789", name.value[0]) >= 0:
		return fmt.Sprintf("%s is not the name of a command", name.value)
	case name.value == ".":
		return "it reads another script"
	case keywords(strings.ToLower(name.value)):
		return "it uses " + strings.ToLower(name.value)
	}
	t.commands = append(t.commands, c)
	return ""
}

const (
	letters   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	nameChars = letters + `_.\/:-`
	// bareChars are literal inside a word; inner characters are literal except at the start.
	bareChars = letters + `_./\:*?+=-`
	inner     = "@~^"
)

// keywords begin statements that are not commands.
var keywords = setOf(`begin break catch class clean configuration continue data define do dynamicparam else elseif end enum exit
	filter finally for foreach from function hidden if in inlinescript parallel param process return sequence static switch throw
	trap try until using var while workflow`)

// bare reads an unquoted word.
func (t *tokenizer) bare() string {
	n := 0
	for i, r := range t.rest {
		if strings.ContainsRune(bareChars, r) || i > 0 && strings.ContainsRune(inner, r) || r >= 0x80 && letter(r) {
			n = i + len(string(r))
			continue
		}
		if !strings.ContainsRune(" \t\r\n;|", r) {
			return fmt.Sprintf("it uses %q, which is not understood", r)
		}
		break
	}
	value := t.rest[:n]
	t.rest = t.rest[n:]
	if strings.HasPrefix(value, "--%") || value == "" {
		return "it has words that are not understood"
	}
	t.current.words = append(t.current.words, word{value: value})
	return ""
}

// quoted reads a quoted word with literal content. It must be followed by a separator.
func (t *tokenizer) quoted(quote byte) string {
	end := strings.IndexByte(t.rest[1:], quote)
	if end < 0 {
		return "a quote is not closed"
	}
	value := t.rest[1 : 1+end]
	t.rest = t.rest[end+2:]
	if t.rest != "" && !strings.ContainsRune(" \t\r\n;|", rune(t.rest[0])) {
		return "something follows a quote at once"
	}
	for _, r := range value {
		switch {
		case r < ' ' || r == 0x7f:
			return "it breaks a line inside a quote"
		case quote == '"' && strings.ContainsRune("$`", r):
			return "it expands something inside a quote"
		case r >= 0x80 && !letter(r):
			return fmt.Sprintf("it holds %q inside a quote", r) // PowerShell treats some of them as quotes
		}
	}
	t.current.words = append(t.current.words, word{value, true})
	return ""
}

// letter reports whether r is a letter or digit.
func letter(r rune) bool { return unicode.In(r, unicode.L, unicode.Nd) }

// opaque reports whether src contains invisible characters or is not text.
func opaque(src string) bool {
	for _, r := range src {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == unicode.ReplacementChar:
			return true
		case unicode.In(r, unicode.Cf, unicode.Variation_Selector):
			return true
		}
	}
	return false
}

// setOf returns a membership test for the words in list.
func setOf(list string) func(string) bool {
	return func(word string) bool {
		for w := range strings.FieldsSeq(list) {
			if w == word {
				return true
			}
		}
		return false
	}
}
