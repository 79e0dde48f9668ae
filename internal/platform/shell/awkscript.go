package shell

import (
	"errors"
	"fmt"
	"strings"
)

// checkAwkProgram returns nil if a program of awk only prints: if it neither opens files of its own nor
// runs anything, nor looks at the environment. What is not certain in every awk is refused.
func checkAwkProgram(program string) error {
	p := awkParser{text: program}
	for {
		t, err := p.next()
		if err != nil {
			return err
		}
		if t.kind == awkEnd {
			if len(p.open) > 0 {
				return errors.New("the program of awk is not complete")
			}
			return nil
		}
		if err := p.take(t); err != nil {
			return err
		}
	}
}

type awkKind uint8

const (
	awkEnd    awkKind = iota
	awkName           // of a variable or function
	awkWord           // a keyword
	awkValue          // a number or string
	awkRegex          //
	awkSymbol         // an operator or bracket
	awkLine           // the end of a line
)

type awkToken struct {
	kind awkKind
	text string
}

// An awkParser goes through the tokens of a program of awk.
type awkParser struct {
	text    string
	at      int
	last    awkToken // before the current one
	open    []string // brackets that are not closed: "(", "[", "{", or "if" for the ( of a condition
	prints  int      // brackets around the print that is being read, from 1 on; 0 for none
	getline int      // the same of a getline
	output  bool     // the last token is the > of a print
	closed  bool     // the last token is a ) that ended a condition
}

var (
	awkKeywords = setOf(`BEGIN END BEGINFILE ENDFILE if else while for do break continue next nextfile exit return delete in function func
		getline print printf switch case default`)
	awkRefused = setOf(`system ENVIRON SYMTAB FUNCTAB ARGV ARGC ARGIND extension`)
)

// next returns the next token.
func (p *awkParser) next() (awkToken, error) {
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == ' ' || c == '\t':
			p.at++
		case c == '#':
			end := strings.IndexByte(p.text[p.at:], '\n')
			if end < 0 {
				end = len(p.text) - p.at
			}
			if strings.HasSuffix(p.text[p.at:p.at+end], `\`) {
				return awkToken{}, errors.New("the program of awk has an unusual comment")
			}
			p.at += end
		case c == '\n':
			p.at++
			return awkToken{awkLine, "\n"}, nil
		case c == '"':
			return p.quoted()
		case c == '/' && awkUnsure(p.last.text):
			return awkToken{}, errors.New("the program of awk may be read in two ways")
		case c == '/' && p.startsRegex():
			return p.regex()
		case awkLetter(c):
			from := p.at
			for p.at < len(p.text) && (awkLetter(p.text[p.at]) || p.text[p.at] >= '0' && p.text[p.at] <= '9') {
				p.at++
			}
			word := p.text[from:p.at]
			if awkKeywords(word) {
				return awkToken{awkWord, word}, nil
			}
			return awkToken{awkName, word}, nil
		case c >= '0' && c <= '9' || c == '.':
			return p.number()
		default:
			return p.symbol()
		}
	}
	return awkToken{kind: awkEnd}, nil
}

// number reads a number. What a letter behind it belongs to depends on the awk.
func (p *awkParser) number() (awkToken, error) {
	from := p.at
	digits := func() {
		for p.at < len(p.text) && (p.text[p.at] >= '0' && p.text[p.at] <= '9' || p.text[p.at] == '.') {
			p.at++
		}
	}
	digits()
	if p.at < len(p.text) && (p.text[p.at] == 'e' || p.text[p.at] == 'E') {
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			p.at++
		}
		digits()
	}
	if p.at < len(p.text) && awkLetter(p.text[p.at]) {
		return awkToken{}, errors.New("the program of awk has an unusual number")
	}
	return awkToken{awkValue, p.text[from:p.at]}, nil
}

// awkUnsure holds what a slash may follow as an operator in one awk and as the start of a regular
// expression in another.
var awkUnsure = setOf(`++ -- $ getline in case default switch func BEGINFILE ENDFILE nextfile next break continue`)

func awkLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// startsRegex reports whether a slash here starts a regular expression: it does where an operand is due.
func (p *awkParser) startsRegex() bool {
	switch p.last.kind {
	case awkName, awkValue, awkRegex:
		return false
	case awkSymbol:
		switch p.last.text {
		case ")":
			return p.closed
		case "]":
			return false
		}
	}
	return true
}

func (p *awkParser) quoted() (awkToken, error) {
	from := p.at
	for p.at++; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '\\':
			if p.at++; p.at < len(p.text) && p.text[p.at] == '\n' {
				return awkToken{}, errors.New("the program of awk breaks a line in a string")
			}
		case '\n':
			return awkToken{}, errors.New("the program of awk breaks a line in a string")
		case '"':
			p.at++
			return awkToken{awkValue, p.text[from:p.at]}, nil
		}
	}
	return awkToken{}, errors.New("the program of awk has a string without an end")
}

// regex reads a regular expression. Whether a slash in brackets ends it depends on the awk.
func (p *awkParser) regex() (awkToken, error) {
	from, bracket := p.at, -1
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '\\':
			p.at++
		case c == '\n':
			return awkToken{}, errors.New("the program of awk breaks a line in a regular expression")
		case c == '[' && bracket < 0:
			bracket = p.at
			if strings.HasPrefix(p.text[p.at+1:], "^") {
				p.at++
			}
			if strings.HasPrefix(p.text[p.at+1:], "]") {
				p.at++
			}
		case c == '[' && strings.HasPrefix(p.text[p.at+1:], ":"):
			if end := strings.Index(p.text[p.at:], ":]"); end > 0 {
				p.at += end + 1
			}
		case c == ']':
			bracket = -1
		case c == '/' && bracket >= 0:
			return awkToken{}, errors.New("the program of awk has a slash in brackets: write \\/")
		case c == '/':
			p.at++
			return awkToken{awkRegex, p.text[from:p.at]}, nil
		}
	}
	return awkToken{}, errors.New("the program of awk has a regular expression without an end")
}

func (p *awkParser) symbol() (awkToken, error) {
	rest := p.text[p.at:]
	for _, s := range []string{"**=", "&&", "||", "|&", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "==", "!=", "<=", ">=", ">>", "!~", "**", "::"} {
		if strings.HasPrefix(rest, s) {
			p.at += len(s)
			return awkToken{awkSymbol, s}, nil
		}
	}
	if strings.IndexByte("{}()[];,<>!~?:$=+-*/%^|&", rest[0]) < 0 {
		return awkToken{}, fmt.Errorf("the program of awk uses %q", rest[0])
	}
	p.at++
	return awkToken{awkSymbol, rest[:1]}, nil
}

// take judges a token by those before it.
func (p *awkParser) take(t awkToken) error {
	if p.output {
		// Only what goes to the standard output or error stays harmless.
		p.output = false
		switch t.text {
		case `"/dev/stderr"`, `"/dev/stdout"`, `"/dev/null"`:
			return p.endOfOutput()
		}
		return errors.New("the program of awk writes a file")
	}
	closed := p.closed
	p.closed = false
	switch t.kind {
	case awkName:
		if awkRefused(t.text) {
			return fmt.Errorf("the program of awk uses %s", t.text)
		}
	case awkWord:
		switch t.text {
		case "print", "printf":
			p.prints = len(p.open) + 1
		case "getline":
			p.getline = len(p.open) + 1
		}
	case awkLine:
		p.closed = closed
		return nil // it may or may not end a statement
	case awkSymbol:
		if err := p.operator(t); err != nil {
			return err
		}
	}
	p.last = t
	return nil
}

func (p *awkParser) operator(t awkToken) error {
	switch t.text {
	case "|", "|&":
		return errors.New("the program of awk runs a program")
	case "::", "&":
		return fmt.Errorf("the program of awk uses %q", t.text)
	case "(", "[", "{":
		kind := t.text
		if t.text == "(" && p.last.kind == awkWord {
			switch p.last.text {
			case "if", "while", "for", "switch":
				kind = "if"
			}
		}
		p.open = append(p.open, kind)
	case ")", "]", "}":
		want := map[string]string{")": "(", "]": "[", "}": "{"}[t.text]
		n := len(p.open)
		if n == 0 || p.open[n-1] != want && !(t.text == ")" && p.open[n-1] == "if") {
			return errors.New("the program of awk has brackets that do not match")
		}
		p.closed = p.open[n-1] == "if"
		p.open = p.open[:n-1]
		if p.prints > len(p.open)+1 {
			p.prints = 0
		}
		if p.getline > len(p.open)+1 {
			p.getline = 0
		}
	case ";":
		p.prints, p.getline = 0, 0
	case "<":
		if p.getline > 0 {
			return errors.New("the program of awk reads a file of its own")
		}
	case ">", ">>":
		p.output = p.prints == len(p.open)+1
	}
	return nil
}

// endOfOutput checks that a print ends behind what it goes to.
func (p *awkParser) endOfOutput() error {
	t, err := p.next()
	switch {
	case err != nil:
		return err
	case t.kind == awkEnd:
		if len(p.open) > 0 {
			return errors.New("the program of awk is not complete")
		}
		return nil
	case t.kind == awkLine:
		p.prints, p.last = 0, awkToken{awkSymbol, ";"}
		return nil
	case t.text == ";" || t.text == "}":
		p.last = awkToken{awkSymbol, ";"}
		return p.take(t)
	}
	return errors.New("the program of awk writes a file")
}
