package shell

import (
	"errors"
	"fmt"
	"strings"
)

// errSed says that a script of sed is not one: the program would refuse it before it does anything.
var errSed = errors.New("the script of sed is not understood")

// checkSedScript returns nil if a script of sed only prints: if it neither reads nor writes files of its
// own and runs nothing. Not every sed takes a delimiter in brackets for one, so both readings must be
// harmless.
func checkSedScript(script string) error {
	p := sedParser{text: script, brackets: true}
	if err := p.script(); err != nil {
		return err
	}
	if !p.doubtful {
		return nil
	}
	other := sedParser{text: script}
	if err := other.script(); err != nil && !errors.Is(err, errSed) {
		return err
	}
	return nil
}

// A sedParser reads a script of sed.
type sedParser struct {
	text     string
	at       int
	depth    int
	brackets bool // delimiters in brackets are text
	doubtful bool // there was one
}

func (p *sedParser) more() bool { return p.at < len(p.text) }

func (p *sedParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *sedParser) blanks() {
	for p.more() && (p.peek() == ' ' || p.peek() == '\t') {
		p.at++
	}
}

// script reads commands to the end.
func (p *sedParser) script() error {
	for {
		for p.more() && strings.IndexByte(" \t\n;", p.peek()) >= 0 {
			p.at++
		}
		if !p.more() {
			if p.depth != 0 {
				return errSed
			}
			return nil
		}
		if err := p.command(); err != nil {
			return err
		}
	}
}

// command reads one command with its addresses.
func (p *sedParser) command() error {
	found, err := p.address(true)
	if err != nil {
		return err
	}
	p.blanks()
	if found && p.peek() == ',' {
		p.at++
		p.blanks()
		if found, err = p.address(false); err != nil || !found {
			return errSed
		}
		p.blanks()
	}
	for p.peek() == '!' {
		p.at++
		p.blanks()
	}
	if !p.more() {
		return errSed
	}
	c := p.peek()
	p.at++
	switch c {
	case '{':
		p.depth++
		return nil
	case '}':
		if p.depth--; p.depth < 0 {
			return errSed
		}
		return p.end()
	case '#':
		p.line()
		return nil
	case ':', 'b', 't', 'T':
		p.label()
		return p.end()
	case 'p', 'P', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'x', '=', 'F', 'z':
		return p.end()
	case 'q', 'Q', 'l', 'L':
		p.blanks()
		p.number()
		return p.end()
	case 'a', 'i', 'c':
		return p.insert()
	case 's':
		return p.substitute()
	case 'y':
		if err := p.delimited(false); err != nil {
			return err
		}
		return p.end()
	case 'w', 'W':
		return errors.New("the script of sed writes a file")
	case 'r', 'R':
		return errors.New("the script of sed reads a file of its own")
	case 'e':
		return errors.New("the script of sed runs a program")
	}
	return fmt.Errorf("the command %q of sed is not known to only print", c)
}

// address reads an address, if there is one.
func (p *sedParser) address(first bool) (bool, error) {
	switch c := p.peek(); {
	case c >= '0' && c <= '9':
		p.number()
		if p.peek() == '~' {
			p.at++
			p.number()
		}
		return true, nil
	case c == '$':
		p.at++
		return true, nil
	case !first && (c == '+' || c == '~'):
		p.at++
		if !p.number() {
			return false, errSed
		}
		return true, nil
	case c == '/' || c == '\\':
		if c == '\\' {
			p.at++
		}
		if err := p.until(true); err != nil {
			return false, err
		}
		for p.peek() == 'I' || p.peek() == 'M' {
			p.at++
		}
		return true, nil
	}
	return false, nil
}

func (p *sedParser) number() bool {
	from := p.at
	for p.peek() >= '0' && p.peek() <= '9' {
		p.at++
	}
	return p.at > from
}

// label reads the name of a label. Some take all of the line for it, which leaves less to be done.
func (p *sedParser) label() {
	p.blanks()
	for p.more() && strings.IndexByte(" \t\n;}", p.peek()) < 0 {
		p.at++
	}
}

func (p *sedParser) line() {
	for p.more() && p.peek() != '\n' {
		p.at++
	}
}

// insert reads the text of a, i and c: the rest of the line, and those that a backslash adds to it.
func (p *sedParser) insert() error {
	for {
		from := p.at
		p.line()
		line := p.text[from:p.at]
		if !p.more() {
			return nil
		}
		p.at++
		if slashes := len(line) - len(strings.TrimRight(line, `\`)); slashes%2 == 0 {
			return nil
		}
	}
}

// substitute reads what follows s.
func (p *sedParser) substitute() error {
	if err := p.delimited(true); err != nil {
		return err
	}
	for p.more() {
		switch c := p.peek(); {
		case c == 'w':
			return errors.New("the script of sed writes a file")
		case c == 'e':
			return errors.New("the script of sed runs a program")
		case strings.IndexByte("gpiImM0123456789", c) < 0:
			return p.end()
		}
		p.at++
	}
	return nil
}

// delimited reads two texts between three delimiters, the first of which may be a regular expression.
func (p *sedParser) delimited(regex bool) error {
	if err := p.until(regex); err != nil {
		return err
	}
	p.at-- // what ends the first starts the second
	return p.until(false)
}

// until reads from a delimiter to behind the next of its kind.
func (p *sedParser) until(regex bool) error {
	delimiter := p.peek()
	if !p.more() || delimiter == '\\' || delimiter == '\n' || delimiter >= 0x80 || delimiter == ' ' || delimiter == ';' || delimiter == '[' {
		return errors.New("the script of sed has an unusual delimiter")
	}
	for p.at++; p.more(); p.at++ {
		switch c := p.peek(); {
		case c == delimiter:
			p.at++
			return nil
		case c == '\\':
			if p.at++; p.peek() == '\n' && regex {
				return errSed
			}
		case c == '\n':
			return errors.New("the script of sed breaks a line")
		case c == '[' && regex:
			p.bracket(delimiter)
		}
	}
	return errSed
}

// bracket goes to the end of a bracket expression, if delimiters in it are text.
func (p *sedParser) bracket(delimiter byte) {
	i := p.at + 1
	if i < len(p.text) && p.text[i] == '^' {
		i++
	}
	if i < len(p.text) && p.text[i] == ']' {
		i++
	}
	for i < len(p.text) && p.text[i] != ']' && p.text[i] != '\n' {
		if p.text[i] == '[' && i+1 < len(p.text) && strings.IndexByte(".:=", p.text[i+1]) >= 0 {
			if end := strings.Index(p.text[i+2:], p.text[i+1:i+2]+"]"); end >= 0 {
				i += end + 4
				continue
			}
		}
		i++
	}
	if i >= len(p.text) || p.text[i] != ']' {
		return
	}
	if strings.IndexByte(p.text[p.at:i], delimiter) < 0 && strings.IndexByte(p.text[p.at:i], '\\') < 0 {
		p.at = i
		return
	}
	p.doubtful = true
	if p.brackets {
		p.at = i
	}
}

// end reads to behind the end of a command.
func (p *sedParser) end() error {
	p.blanks()
	switch {
	case !p.more():
	case p.peek() == ';' || p.peek() == '\n':
		p.at++
	case p.peek() == '}' || p.peek() == '#':
	default:
		return errSed
	}
	return nil
}
