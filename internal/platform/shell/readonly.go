package shell

import (
	"errors"
	"fmt"
	"strings"
)

// ReadOnly returns nil if the line is proven to change nothing and to run nothing that could,
// otherwise the first reason to doubt it. It does not judge the paths that are read, see
// [Script.Paths]. If the line uses git, package gitrepo must approve as well; see
// [Script.GitUses].
func (s *Script) ReadOnly() error {
	if !s.Simple {
		return errors.New(s.Problem)
	}
	for _, p := range s.Parts {
		if err := p.ReadOnly(); err != nil {
			return err
		}
	}
	return nil
}

// ReadOnly is like [Script.ReadOnly] for one part, in the context of its line.
func (p *Part) ReadOnly() error {
	if err := p.WordsReadOnly(); err != nil {
		return err
	}
	return p.checkRedirects()
}

// WordsReadOnly is like [Part.ReadOnly], but ignores the redirections: if it returns nil, they
// are the part's only possible effect.
func (p *Part) WordsReadOnly() error {
	if !p.script.Simple {
		return errors.New(p.script.Problem)
	}
	for _, a := range p.Assigns {
		if a.Value.expanded || a.Value.brace || !inertAssign(a.Name, a.Value.Value) {
			return fmt.Errorf("it sets %s", a.Name)
		}
	}
	for _, w := range p.Words {
		switch {
		case w.expanded:
			return fmt.Errorf("%s is the result of an expansion", quote(w.Value))
		case w.brace:
			return fmt.Errorf("%s holds a brace", w.Text)
		}
	}
	switch name := p.program(); {
	case name == "":
		return errors.New("it redirects without a command")
	case name == "cd" || name == "pushd":
		if _, ok := p.cdTarget(); !ok || strings.Contains(p.Words[0].Value, "/") {
			return fmt.Errorf("it is not certain where %s goes", name)
		}
		return nil
	case name == "git" && p.dirs == nil:
		return errors.New("it is not certain in which directory git runs")
	}
	return readOnlyCommand(p.Words)
}

// checkRedirects returns the reason why a redirection may write, or nil.
func (p *Part) checkRedirects() error {
	for _, r := range p.Redirects {
		switch {
		case r.Target.expanded || r.Target.brace:
			return errors.New("it redirects to the result of an expansion")
		case r.Verb == WritePath:
			return fmt.Errorf("it writes to %s", r.Target.Text)
		}
	}
	return nil
}

// readOnlyCommand checks one program and its arguments. It returns nil, or the reason why they
// are not known to be read-only. It ignores the origin of the words.
func readOnlyCommand(words []Word) error {
	e, rest := lookup(words)
	if e == nil || e.jail {
		return effect(words, fmt.Errorf("%s is not known to only read", words[0].Text))
	}
	return e.prove(words[0], rest, false)
}

// prove returns the reason why the words after a program are not known to be read-only, in a
// jail or without one, or nil.
func (e *entry) prove(program Word, rest []Word, jail bool) error {
	// git --help shows a manual page, with programs that the repository may configure.
	if len(rest) == 1 && (rest[0].Value == "--help" || rest[0].Value == "--version") && (e.operands != anything || jail) && program.Value != "git" {
		return nil
	}
	a, err := e.sort(rest, jail)
	if err == nil {
		err = e.accept(a)
	}
	if err == nil && e.check != nil {
		err = e.check(a)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", program.Value, err)
	}
	return nil
}

// lookup finds a command's table row and the words that it applies to. A program given by path
// has no row: it can be any program.
func lookup(words []Word) (*entry, []Word) {
	name, rest := words[0].Value, words[1:]
	if name != "git" && name != "go" {
		if len(rest) > 0 && subcommanded(name) {
			if e := find(name + " " + rest[0].Value); e != nil {
				return e, rest[1:]
			}
		}
		return find(name), rest
	}
	if name == "git" {
		var ok bool
		if _, rest, ok = gitGlobal(rest); !ok {
			return nil, nil
		}
	}
	for n := min(2, len(rest)); n > 0; n-- { // git stash show before git stash
		full := name
		for _, w := range rest[:n] {
			full += " " + w.Value
		}
		if e := find(full); e != nil {
			return e, rest[n:]
		}
	}
	return nil, nil
}

// subcommanded are the commands that have rows for some of their sub-commands.
var subcommanded = setOf(`openssl zig hugo helm terraform gh kubectl`)

// accept checks the operands against the row.
func (e *entry) accept(a *arguments) error {
	ops := a.operands
	for _, option := range a.options {
		if e.jailed[option] && !a.jail {
			return fmt.Errorf("the option %s is not known to only read", option)
		}
	}
	if e.must != "" && !a.has(strings.Fields(e.must)...) {
		return errors.New("it is not known to only read with these options")
	}
	switch {
	case e.operands == none && len(ops) > 0:
		return fmt.Errorf("the operand %s is not known to be harmless", ops[0].Text)
	case e.operands == onePath && len(ops) > 1:
		return fmt.Errorf("it would write to %s", ops[1].Text)
	}
	for i, w := range ops {
		if !w.Glob || a.jail {
			continue
		}
		if i == 0 && (e.operands == pattern || e.operands == script) {
			return fmt.Errorf("%s is a pattern of file names: quote it", w.Text)
		}
		// A leading wildcard may expand to an option.
		if strings.IndexByte("*?[", w.Value[0]) >= 0 && !globSafe(strings.Fields(e.name)[0]) {
			return fmt.Errorf("%s may stand for an option", w.Text)
		}
	}
	return nil
}

// globSafe are commands whose options all have no effect on files.
var globSafe = setOf(`ls cat head tail wc grep egrep fgrep stat nl cut du echo printf`)
