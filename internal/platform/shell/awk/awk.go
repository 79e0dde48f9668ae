// Package awk analyzes awk programs: the files they write, the commands they run, and whether
// they only print. It does not run them.
package awk

import (
	"errors"
	"fmt"
	"strings"
)

// A Program lists an awk program's possible effects other than printing.
type Program struct {
	Writes   []string // files that it names
	Computes bool     // writes files whose names are known only at run time
	Reads    bool     // reads files or lines by itself
	Runs     bool     // runs commands
	Commands []string // all of its strings, if it runs commands
	Unknown  bool     // runs commands that are not in Commands
	doubt    error    // reason it may do more than print; nil if it only prints
}

// Parse analyzes a program. Where implementations differ, the result contains the worst case.
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

// Prints returns nil if the program only prints in every awk: it neither opens files itself nor
// runs anything, nor reads the environment.
func (p Program) Prints() error { return p.doubt }

// A parser walks the tokens of a program.
type parser struct {
	Program
	tokens  []token
	depth   int  // bracket depth
	prints  int  // bracket depth of the current print, counted from 1; 0 for none
	above   bool // the print is on a previous line, which ends it in most programs
	getline int  // bracket depth of the current getline
}

func (p *parser) refuse(err error) {
	if p.doubt == nil {
		p.doubt = err
	}
}

// at returns a token, or the zero token before the first and after the last.
func (p *parser) at(i int) token {
	if i < 0 || i >= len(p.tokens) {
		return token{}
	}
	return p.tokens[i]
}

// statements records the effect of every token.
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

// run records that a command runs. It is known if it is a string in the program.
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
	case "@": // a function name in a variable, or an included file
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

// output inspects the destination of a print. Only standard output and error are harmless.
func (p *parser) output(i int) {
	t := p.at(i)
	known := t.kind == quoted && !strings.Contains(t.text, `\`) && p.at(i+1).ends() && !p.at(i+1).is(symbol, ")")
	switch {
	case known && (t.text == "/dev/stdout" || t.text == "/dev/stderr" || t.text == "/dev/null"):
		p.prints = 0
		return
	case p.above: // probably a comparison in another statement
	case known:
		p.Writes = append(p.Writes, t.text)
	default:
		p.Computes = true
	}
	p.refuse(errors.New("the program of awk writes a file"))
}

// strings records the program's strings as commands. Strings with numeric escapes are unknown.
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
