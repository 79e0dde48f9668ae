// Package sed analyzes sed scripts: the files they read and write, the commands they run, and
// whether they only print. It does not run them.
package sed

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Script lists a sed script's possible effects other than printing.
type Script struct {
	Reads    []string // files
	Writes   []string // files
	Commands []string // commands that it names and runs
	Runs     bool     // runs commands
	Input    bool     // runs its input
}

// errInvalid means that a script is invalid: sed would reject it before doing anything.
var errInvalid = errors.New("the script of sed is not understood")

// Parse analyzes a script. Implementations differ in how they read brackets, so the result
// contains the effects in any of them. An error means that some implementation does not
// understand the script, and that there may be further effects.
func Parse(script string) (Script, error) {
	var s Script
	var err error
	for p := range readings(script) {
		for _, file := range p.found.Reads {
			if !slices.Contains(s.Reads, file) {
				s.Reads = append(s.Reads, file)
			}
		}
		for _, file := range p.found.Writes {
			if !slices.Contains(s.Writes, file) {
				s.Writes = append(s.Writes, file)
			}
		}
		for _, command := range p.found.Commands {
			if !slices.Contains(s.Commands, command) {
				s.Commands = append(s.Commands, command)
			}
		}
		s.Runs, s.Input = s.Runs || p.found.Runs, s.Input || p.found.Input
		if err == nil {
			err = p.err
		}
	}
	return s, err
}

// Prints returns nil if a script only prints in every sed: it neither reads nor writes files
// itself and runs nothing.
func Prints(script string) error {
	for p := range readings(script) {
		switch {
		case p.doubt != nil:
			return p.doubt
		case p.err != nil && (p.reading == posix || !errors.Is(p.err, errInvalid)):
			return p.err
		}
	}
	return nil
}

// readings yields a finished parser for each way to read a script.
func readings(script string) func(yield func(*parser) bool) {
	return func(yield func(*parser) bool) {
		for r := posix; r <= plain; r++ {
			p := parser{text: script, reading: r}
			p.err = p.script()
			if !yield(&p) || !strings.Contains(script, "[") {
				return
			}
		}
	}
}

// A reading is a way to parse brackets in a regular expression.
type reading uint8

const (
	posix   reading = iota // brackets hide delimiters, and classes in them hide brackets
	escapes                // like posix, and a backslash hides a bracket
	simple                 // brackets hide delimiters and line breaks, up to the next bracket
	plain                  // brackets hide nothing
)

// A parser goes through a script.
type parser struct {
	text    string
	at      int
	depth   int // brace depth
	reading reading
	found   Script
	doubt   error // reason it may do more than print; nil if it only prints
	err     error
}

func (p *parser) refuse(why string) {
	if p.doubt == nil {
		p.doubt = errors.New(why)
	}
}

func (p *parser) more() bool { return p.at < len(p.text) }

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) skip(letters string) {
	for p.more() && strings.IndexByte(letters, p.peek()) >= 0 {
		p.at++
	}
}

func (p *parser) blanks() { p.skip(" \t") }

// script parses commands to the end.
func (p *parser) script() error {
	for {
		p.skip(" \t\n;")
		if !p.more() {
			if p.depth != 0 {
				return errInvalid
			}
			return nil
		}
		if err := p.addresses(); err != nil {
			return err
		}
		if err := p.command(); err != nil {
			return err
		}
	}
}

// addresses parses the addresses before a command.
func (p *parser) addresses() error {
	found, err := p.address(true)
	if err != nil {
		return err
	}
	p.blanks()
	if found && p.peek() == ',' {
		p.at++
		p.blanks()
		if found, err = p.address(false); err != nil {
			return err
		}
		if !found {
			return errInvalid
		}
		p.blanks()
	}
	p.skip("! \t")
	return nil
}

// command parses one command without its addresses.
func (p *parser) command() error {
	if !p.more() {
		return errInvalid
	}
	c := p.peek()
	p.at++
	switch c {
	case '{':
		p.depth++
		return nil
	case '}':
		if p.depth--; p.depth < 0 {
			return errInvalid
		}
	case '#':
		p.line()
		return nil
	case ':', 'b', 't', 'T':
		return p.label()
	case 'v':
		p.refuse("the command 'v' of sed is not known to only print")
		return p.label()
	case 'p', 'P', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'x', '=', 'F', 'z':
	case 'q', 'Q', 'l', 'L':
		p.blanks()
		p.number()
	case 'a', 'i', 'c':
		p.lines()
		return nil
	case 's':
		return p.substitute()
	case 'y':
		if _, err := p.delimited(false); err != nil {
			return err
		}
	case 'w', 'W':
		return p.write()
	case 'r', 'R':
		p.refuse("the script of sed reads a file of its own")
		name, err := p.file()
		p.found.Reads = append(p.found.Reads, name)
		return err
	case 'e':
		p.refuse("the script of sed runs a program")
		p.run(strings.TrimSpace(p.lines()))
		return nil
	default:
		return fmt.Errorf("the command %q of sed is not known to only print", c)
	}
	return p.end()
}

// run records a command. An empty command means that sed runs its input.
func (p *parser) run(command string) {
	p.found.Runs, p.found.Input = true, p.found.Input || command == ""
	p.found.Commands = append(p.found.Commands, command)
}

// write records the file name that follows.
func (p *parser) write() error {
	p.refuse("the script of sed writes a file")
	name, err := p.file()
	p.found.Writes = append(p.found.Writes, name)
	return err
}

// file parses a file name: the rest of the line. Implementations differ in whether a backslash
// adds the next line to it.
func (p *parser) file() (string, error) {
	p.blanks()
	name := p.line()
	if p.more() && strings.HasSuffix(name, `\`) {
		return name, errors.New("the script of sed has an unusual file name")
	}
	return name, nil
}

// address parses an optional address.
func (p *parser) address(first bool) (bool, error) {
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
			return false, errInvalid
		}
		return true, nil
	case c == '/' || c == '\\':
		if c == '\\' {
			p.at++
		}
		if err := p.until(true); err != nil {
			return false, err
		}
		p.skip("IM")
		return true, nil
	}
	return false, nil
}

func (p *parser) number() bool {
	from := p.at
	p.skip("0123456789")
	return p.at > from
}

// label parses a label to the end of the command. Some implementations use the whole line as
// the label, which leaves fewer commands; some include braces in it, so no comment may follow
// them.
func (p *parser) label() error {
	p.blanks()
	for p.more() && strings.IndexByte(" \t\n;}", p.peek()) < 0 {
		p.at++
	}
	if rest := p.text[p.at:]; strings.HasPrefix(rest, "}") && strings.HasPrefix(strings.TrimLeft(rest, "}"), "#") {
		return errors.New("the script of sed has an unusual label")
	}
	return p.end()
}

// line returns the rest of the line.
func (p *parser) line() string {
	from := p.at
	for p.more() && p.peek() != '\n' {
		p.at++
	}
	return p.text[from:p.at]
}

// lines returns the rest of the line, including lines continued with a backslash.
func (p *parser) lines() string {
	from := p.at
	for {
		line := p.line()
		slashes := len(line) - len(strings.TrimRight(line, `\`))
		if !p.more() || slashes%2 == 0 {
			return p.text[from:p.at]
		}
		p.at++
	}
}

// substitute parses the arguments of s.
func (p *parser) substitute() error {
	with, err := p.delimited(true)
	if err != nil {
		return err
	}
	for {
		p.skip("gpiImM0123456789")
		switch p.peek() {
		case 'w':
			p.at++
			return p.write()
		case 'e':
			p.at++
			p.refuse("the script of sed runs a program")
			p.run(with)
			p.found.Input = true
		default:
			return p.end()
		}
	}
}

// delimited parses two texts between three delimiters, the first of which may be a regular
// expression, and returns the second.
func (p *parser) delimited(regex bool) (string, error) {
	if err := p.until(regex); err != nil {
		return "", err
	}
	from := p.at
	p.at-- // the first text's end delimiter starts the second
	if err := p.until(false); err != nil {
		return "", err
	}
	return p.text[from : p.at-1], nil
}

// until reads from a delimiter to after the next.
func (p *parser) until(regex bool) error {
	delimiter := p.peek()
	switch {
	case !p.more() || delimiter == '\\' || delimiter == '\n':
		return errors.New("the script of sed has an unusual delimiter")
	case delimiter >= 0x80 || delimiter == ' ' || delimiter == ';' || delimiter == '[':
		p.refuse("the script of sed has an unusual delimiter")
	}
	for p.at++; p.more(); p.at++ {
		switch c := p.peek(); {
		case c == delimiter:
			p.at++
			return nil
		case c == '\\':
			if p.at++; p.peek() == '\n' && regex {
				p.refuse("the script of sed breaks a line")
			}
		case c == '\n':
			p.refuse("the script of sed breaks a line")
		case c == '[' && regex:
			p.bracket()
		}
	}
	p.at = len(p.text)
	return errInvalid
}

// bracket skips a bracket expression, if there is one and it hides delimiters.
func (p *parser) bracket() {
	if p.reading == plain {
		return
	}
	text := p.text
	i := p.at + 1
	if i < len(text) && text[i] == '^' {
		i++
	}
	if i < len(text) && text[i] == ']' {
		i++
	}
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == ']':
			p.at = i
			return
		case p.reading == simple:
		case c == '\n':
			return
		case c == '\\' && p.reading == escapes:
			i++
		case c == '[' && i+1 < len(text) && strings.IndexByte(".:=", text[i+1]) >= 0:
			if end := strings.Index(text[i+2:], text[i+1:i+2]+"]"); end >= 0 {
				i += end + 3
			}
		}
	}
}

// end reads past the end of a command.
func (p *parser) end() error {
	p.blanks()
	switch {
	case !p.more():
	case p.peek() == ';' || p.peek() == '\n':
		p.at++
	case p.peek() == '}' || p.peek() == '#':
	default:
		return errInvalid
	}
	return nil
}
