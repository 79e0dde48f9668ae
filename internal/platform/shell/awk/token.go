package awk

import (
	"errors"
	"fmt"
	"strings"
)

type kind uint8

const (
	end    kind = iota
	name        // variable or function name
	word        // keyword
	number      //
	quoted      // string, without quotes and unprocessed
	regex       //
	symbol      // operator or bracket
	line        // line end
)

// A token is a lexical element of a program.
type token struct {
	kind kind
	text string
}

func (t token) is(k kind, text string) bool { return t.kind == k && t.text == text }

// ends reports whether a token ends a statement or an expression.
func (t token) ends() bool {
	return t.kind == end || t.kind == line || t.kind == symbol && strings.Contains(";})", t.text)
}

// begins reports whether an expression begins after a token.
func (t token) begins() bool {
	if t.kind == symbol {
		switch t.text {
		case ";", "{", "}", "(", "!", "||", "&&":
			return true
		}
	}
	return t.kind == end || t.kind == line
}

// goesOn reports whether a statement may continue on the line after a token.
func (t token) goesOn() bool {
	if t.kind == symbol {
		switch t.text {
		case ",", "&&", "||", "?", ":":
			return true
		}
	}
	return t.kind == line
}

func keyword(s string) bool {
	switch s {
	case "BEGIN", "END", "BEGINFILE", "ENDFILE", "if", "else", "while", "for", "do", "break", "continue", "next", "nextfile", "exit", "return", "delete", "in",
		"function", "func", "getline", "print", "printf", "switch", "case", "default":
		return true
	}
	return false
}

// unsure reports whether a following slash may be an operator in one awk and the start of a
// regular expression in another.
func unsure(t token) bool {
	switch t.text {
	case "++", "--", "$":
		return t.kind == symbol
	case "getline", "in", "case", "default", "switch", "if", "while", "for", "function", "func", "delete", "BEGIN", "END", "BEGINFILE", "ENDFILE", "nextfile", "next",
		"break", "continue":
		return t.kind == word
	}
	return false
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

// A lexer splits a program into tokens.
type lexer struct {
	text   string
	at     int
	tokens []token  // so far
	open   []string // unclosed brackets: "(", "[", "{", or "if" for the ( of a condition
	closed bool     // the last token is a ) that ended a condition
	doubt  error    // first construct that implementations read differently
	unsure error    // first construct after which the tokens are uncertain
}

// misread records an ambiguous construct, so that the tokens from here on are a guess.
func (x *lexer) misread(err error) {
	if x.unsure == nil {
		x.unsure = err
	}
}

// last returns the last token, and whether it is on a previous line.
func (x *lexer) last() (t token, above bool) {
	for i := len(x.tokens) - 1; i >= 0; i-- {
		if t := x.tokens[i]; t.kind != line {
			return t, above
		}
		above = true
	}
	return token{}, above
}

// all splits the whole program into tokens.
func (x *lexer) all() {
	for x.at < len(x.text) {
		t := x.next()
		switch t.kind {
		case end:
			continue
		case line:
		case symbol:
			x.brackets(t.text)
		default:
			x.closed = false
		}
		x.tokens = append(x.tokens, t)
	}
	if len(x.open) > 0 {
		x.misread(errors.New("the program of awk is not complete"))
	}
}

// brackets tracks the open brackets.
func (x *lexer) brackets(text string) {
	x.closed = false
	switch text {
	case "(", "[", "{":
		if t, _ := x.last(); text == "(" && t.kind == word {
			switch t.text {
			case "if", "while", "for", "switch":
				text = "if"
			}
		}
		x.open = append(x.open, text)
	case ")", "]", "}":
		opening := map[string]string{")": "(", "]": "[", "}": "{"}[text]
		n := len(x.open)
		if n == 0 {
			x.misread(errors.New("the program of awk has brackets that do not match"))
			return
		}
		x.closed = x.open[n-1] == "if"
		if x.open[n-1] != opening && !(text == ")" && x.closed) {
			x.misread(errors.New("the program of awk has brackets that do not match"))
		}
		x.open = x.open[:n-1]
	}
}

// next returns the next token, or the zero token for skipped text.
func (x *lexer) next() token {
	c := x.text[x.at]
	switch {
	case c == ' ' || c == '\t':
		x.at++
		return token{}
	case c == '\\' && strings.HasPrefix(x.text[x.at:], "\\\n"):
		if x.doubt == nil {
			x.doubt = errors.New("the program of awk breaks a line")
		}
		x.at += 2
		return token{}
	case c == '#':
		n := strings.IndexByte(x.text[x.at:], '\n')
		if n < 0 {
			n = len(x.text) - x.at
		}
		if strings.HasSuffix(x.text[x.at:x.at+n], `\`) {
			x.misread(errors.New("the program of awk has an unusual comment"))
		}
		x.at += n
		return token{}
	case c == '\n':
		x.at++
		return token{line, "\n"}
	case c == '"':
		return x.quoted()
	case c == '/' && x.startsRegex():
		return x.regex()
	case letter(c):
		from := x.at
		for x.at < len(x.text) && (letter(x.text[x.at]) || digit(x.text[x.at])) {
			x.at++
		}
		if s := x.text[from:x.at]; keyword(s) {
			return token{word, s}
		}
		return token{name, x.text[from:x.at]}
	case digit(c) || c == '.':
		return x.number()
	}
	return x.symbol()
}

// number reads a number. Implementations differ in how they read a letter after it.
func (x *lexer) number() token {
	from := x.at
	digits := func() {
		for x.at < len(x.text) && (digit(x.text[x.at]) || x.text[x.at] == '.') {
			x.at++
		}
	}
	digits()
	if x.at < len(x.text) && (x.text[x.at] == 'e' || x.text[x.at] == 'E') {
		x.at++
		if x.at < len(x.text) && (x.text[x.at] == '+' || x.text[x.at] == '-') {
			x.at++
		}
		digits()
	}
	if x.at < len(x.text) && letter(x.text[x.at]) {
		x.misread(errors.New("the program of awk has an unusual number"))
	}
	return token{number, x.text[from:x.at]}
}

// startsRegex reports whether a slash here starts a regular expression, which it does where an
// operand is expected.
func (x *lexer) startsRegex() bool {
	last, above := x.last()
	if unsure(last) {
		x.misread(errors.New("the program of awk may be read in two ways"))
	}
	switch {
	case last.kind == name || last.kind == number || last.kind == quoted || last.kind == regex:
	case last.is(symbol, "]"), last.is(symbol, ")") && !x.closed:
	default:
		return true
	}
	if above && len(x.open) > 0 && x.open[len(x.open)-1] != "{" {
		x.misread(errors.New("the program of awk may be read in two ways"))
	}
	return above
}

func (x *lexer) quoted() token {
	from := x.at + 1
	for x.at++; x.at < len(x.text); x.at++ {
		switch x.text[x.at] {
		case '\\':
			if x.at++; x.at < len(x.text) && x.text[x.at] == '\n' {
				x.misread(errors.New("the program of awk breaks a line in a string"))
			}
		case '\n':
			x.misread(errors.New("the program of awk breaks a line in a string"))
		case '"':
			x.at++
			return token{quoted, x.text[from : x.at-1]}
		}
	}
	x.misread(errors.New("the program of awk has a string without an end"))
	x.at = len(x.text)
	return token{quoted, x.text[from:]}
}

// regex reads a regular expression. Implementations differ in whether a slash in brackets ends
// it.
func (x *lexer) regex() token {
	from, bracket := x.at, false
	for x.at++; x.at < len(x.text); x.at++ {
		switch c := x.text[x.at]; {
		case c == '\\':
			x.at++
		case c == '\n':
			x.misread(errors.New("the program of awk breaks a line in a regular expression"))
			return token{regex, x.text[from:x.at]}
		case c == '[' && !bracket:
			bracket = true
			if strings.HasPrefix(x.text[x.at+1:], "^") {
				x.at++
			}
			if strings.HasPrefix(x.text[x.at+1:], "]") {
				x.at++
			}
		case c == '[' && strings.HasPrefix(x.text[x.at+1:], ":"):
			if n := strings.Index(x.text[x.at:], ":]"); n > 0 {
				x.at += n + 1
			}
		case c == ']':
			bracket = false
		case c == '/':
			if bracket {
				x.misread(errors.New("the program of awk has a slash in brackets: write \\/"))
			}
			x.at++
			return token{regex, x.text[from:x.at]}
		}
	}
	x.misread(errors.New("the program of awk has a regular expression without an end"))
	x.at = len(x.text)
	return token{regex, x.text[from:]}
}

func (x *lexer) symbol() token {
	rest := x.text[x.at:]
	for _, s := range []string{"**=", "&&", "||", "|&", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "==", "!=", "<=", ">=", ">>", "!~", "**", "::"} {
		if strings.HasPrefix(rest, s) {
			x.at += len(s)
			return token{symbol, s}
		}
	}
	if strings.IndexByte("{}()[];,<>!~?:$=+-*/%^|&@", rest[0]) < 0 {
		x.misread(fmt.Errorf("the program of awk uses %q", rest[0]))
	}
	x.at++
	return token{symbol, rest[:1]}
}
