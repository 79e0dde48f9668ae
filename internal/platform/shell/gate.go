package shell

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// A textCheck is the result of checking a line's text before parsing.
type textCheck struct {
	opaque  bool
	problem string
}

// checkText looks for characters that make a line look different from its effect.
func checkText(src string) textCheck {
	if !utf8.ValidString(src) {
		return textCheck{true, "it is not valid UTF-8"}
	}
	for _, r := range src {
		if hidden(r) {
			return textCheck{true, fmt.Sprintf("it holds a character that cannot be seen (U+%04X)", r)}
		}
	}
	if utf8.RuneCountInString(src) > maxChars {
		return textCheck{false, "it is longer than 10,000 characters"}
	}
	return textCheck{}
}

// hidden reports whether r is a control character, an unusual blank, or a character that has no
// width or reorders its surroundings.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
		return false
	case r < 0xa0:
		return true // C0, DEL, C1
	case r >= 0x2028 && r <= 0x202f, r >= 0x2060 && r <= 0x206f, r >= 0xe0000 && r <= 0xe007f, r == unicode.ReplacementChar:
		return true
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0:
		return true // letters rendered as blanks
	}
	return unicode.In(r, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Variation_Selector)
}

// parse parses src in the dialect. It rejects excessive nesting without parsing: the parser is
// recursive, and no real line looks like that.
func parse(d Dialect, src string) (*syntax.File, error) {
	if nesting(src) > 4*maxDepth {
		return nil, errors.New("it nests too deep")
	}
	return syntax.NewParser(syntax.Variant(d.variant()), syntax.KeepComments(true)).Parse(strings.NewReader(src), "")
}

// nesting returns a cheap upper bound of the nesting depth of src: unclosed brackets and words
// that open a construct.
func nesting(src string) int {
	depth, deepest, words := 0, 0, 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '(', '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', ']', '}':
			depth = max(0, depth-1)
		case ' ', '\n', '\t', ';':
			if opens(src[i+1:]) {
				words++
			}
		}
	}
	words += strings.Count(src, "()")
	return max(deepest, words/8)
}

func opens(rest string) bool {
	for _, word := range []string{"if", "while", "until", "for", "case", "select", "coproc", "function", "time", "!"} {
		if strings.HasPrefix(rest, word) {
			return true
		}
	}
	return false
}

func parseError(d Dialect, err error) string {
	var p syntax.ParseError
	if errors.As(err, &p) {
		return p.Text
	}
	var l syntax.LangError
	if errors.As(err, &l) {
		if d == POSIX {
			return l.Feature + " is not part of sh, and there is no bash"
		}
		return l.Feature + " is not part of bash"
	}
	return err.Error()
}
