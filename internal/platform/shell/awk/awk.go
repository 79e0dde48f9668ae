// Package awk reads programs of awk: what they write and run, and whether they only print. It runs none. Which of the
// words of a command line are programs is the caller's to know.
package awk

import (
	"errors"
	"fmt"
	"strings"
)

// A Program is what a program may do besides printing.
type Program struct {
	Writes   []string // files that it names
	Computes bool     // it writes files whose names are known only when it runs
	Reads    bool     // it reads files or lines by itself
	Runs     bool     // it runs commands
	Commands []string // all of its strings, if it runs commands
	Unknown  bool     // it runs commands that are not among them
	doubt    error    // why it may do more than print; nil if it does not
}

// Parse reads a program. Of what not every awk reads in the same way it holds the worst.
func Parse(program string) Program {
	x := lexer{text: program}
	x.all()
	p := parser{tokens: x.tokens}
	p.doubt = x.doubt
	p.statements()
	if x.unsure != nil {
		p.doubt = x.unsure
		p.Computes = p.Computes || strings.Contains(program, "print") && strings.Contains(program, ">")
		if strings.Contains(program, "system") || strings.ContainsAny(program, "|@") {
			p.Runs, p.Unknown = true, true
		}
		p.Reads = p.Reads || strings.Contains(program, "getline")
	}
	if p.Runs {
		p.strings()
	}
	return p.Program
}

// Prints returns nil if the program only prints, in every awk: if it neither opens files of its own nor runs
// anything, nor looks at the environment.
func (p Program) Prints() error { return p.doubt }

// A parser goes through the tokens of a program.
type parser struct {
	Program
	tokens  []token
	depth   int  // of brackets
	prints  int  // brackets around the print that is being read, from 1 on; 0 for none
	above   bool // the print is in a line above, which ends it in most programs
	getline int  // brackets around the getline that is being read
}

func (p *parser) refuse(err error) {
	if p.doubt == nil {
		p.doubt = err
	}
}

// at returns a token, which is none before the first and behind the last.
func (p *parser) at(i int) token {
	if i < 0 || i >= len(p.tokens) {
		return token{}
	}
	return p.tokens[i]
}

// statements looks at what every token does.
func (p *parser) statements() {
	for i, t := range p.tokens {
		switch t.kind {
		case name:
			p.name(i, t.text)
		case word:
			switch t.text {
			case "print", "printf":
				p.prints, p.above = p.depth+1, false
			case "getline":
				p.getline, p.Reads = p.depth+1, true
			}
		case line:
			p.above = p.above || !p.at(i-1).goesOn()
		case symbol:
			p.symbol(i, t.text)
		}
	}
}

func (p *parser) name(i int, text string) {
	switch text {
	case "system":
		p.run(fmt.Errorf("the program of awk uses %s", text), p.at(i+1).is(symbol, "(") && p.at(i+2).kind == quoted && p.at(i+3).is(symbol, ")"))
	case "ENVIRON", "SYMTAB", "FUNCTAB", "ARGV", "ARGC", "ARGIND", "extension":
		p.refuse(fmt.Errorf("the program of awk uses %s", text))
	}
}

// run notes that a command runs, which is known if it is a string of the program.
func (p *parser) run(why error, known bool) {
	p.refuse(why)
	p.Runs, p.Unknown = true, p.Unknown || !known
}

func (p *parser) symbol(i int, text string) {
	switch text {
	case "|", "|&":
		known := p.at(i+1).kind == quoted && p.at(i+2).ends()
		if p.at(i+1).is(word, "getline") {
			known = p.at(i-1).kind == quoted && p.at(i-2).begins()
		}
		p.run(errors.New("the program of awk runs a program"), known)
	case "@": // the name of a function in a variable, or more of the program in a file
		p.run(errors.New("the program of awk uses '@'"), false)
	case "::", "&":
		p.refuse(fmt.Errorf("the program of awk uses %q", text))
	case "(", "[", "{":
		p.depth++
	case ")", "]", "}":
		p.depth--
		if p.prints > p.depth+1 {
			p.prints = 0
		}
		if p.getline > p.depth+1 {
			p.getline = 0
		}
	case ";":
		p.prints, p.getline = 0, 0
	case "<":
		if p.getline > 0 {
			p.refuse(errors.New("the program of awk reads a file of its own"))
		}
	case ">", ">>":
		if p.prints == p.depth+1 {
			p.output(i + 1)
		}
	}
}

// output looks at what a print goes to. Only the standard output and error are harmless.
func (p *parser) output(i int) {
	t := p.at(i)
	known := t.kind == quoted && !strings.Contains(t.text, `\`) && p.at(i+1).ends() && !p.at(i+1).is(symbol, ")")
	switch {
	case known && (t.text == "/dev/stdout" || t.text == "/dev/stderr" || t.text == "/dev/null"):
		p.prints = 0
		return
	case p.above: // rather a comparison in another statement
	case known:
		p.Writes = append(p.Writes, t.text)
	default:
		p.Computes = true
	}
	p.refuse(errors.New("the program of awk writes a file"))
}

// strings notes the strings of the program as commands. What is written with numbers of characters is not known.
func (p *parser) strings() {
	for _, t := range p.tokens {
		if t.kind != quoted {
			continue
		}
		var b strings.Builder
		for i := 0; i < len(t.text); i++ {
			c := t.text[i]
			if c == '\\' && i+1 < len(t.text) {
				i++
				c = t.text[i]
				switch {
				case strings.IndexByte("abfnrtv", c) >= 0:
					c = "\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", c)]
				case digit(c) || letter(c):
					p.Unknown = true
				}
			}
			b.WriteByte(c)
		}
		p.Commands = append(p.Commands, b.String())
	}
}
