package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ReadOnly returns nil if the line is read-only without a jail, otherwise the first reason to
// doubt it. Only plain programs with literal words are; see [Part.WordsReadOnly]. It does
// not judge the paths that are read, see [Script.Paths]. If the line uses git, package gitrepo
// must approve as well; see [Script.GitUses].
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
// are the part's only possible effect. A part is read-only if its words are literal, its program
// is one of the plain ones, and it has only listed options.
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
			return fmt.Errorf("%s comes from an expansion", quote(w.Value))
		case w.brace:
			return fmt.Errorf("%s has a brace expansion", w.Text)
		case w.Glob:
			return fmt.Errorf("%s is a pattern", w.Text)
		}
	}
	switch name := p.program(); {
	case name == "":
		return errors.New("it redirects without a command")
	case name == "cd" || name == "pushd":
		if _, ok := p.cdTarget(); !ok || strings.Contains(p.Words[0].Value, "/") {
			return fmt.Errorf("the directory of `%s` can't be determined", name)
		}
		return nil
	case name == "git" && p.dirs == nil:
		return errors.New("the directory of git can't be determined")
	}
	e, rest := lookup(p.Words)
	if e == nil || !e.plain {
		return doubtful(p.Words, unverified(p.Words))
	}
	return e.literal(p.Words[0], rest)
}

// literal returns the reason why the words after a plain program are not known to be read-only
// without a jail, or nil.
func (e *entry) literal(name Word, rest []Word) error {
	if err := e.prove(name, rest, false); err != nil {
		return err
	}
	g := e.parse(name.Value, rest)
	for option := range strings.FieldsSeq(e.needsJail) {
		if g.has(option) || slices.ContainsFunc(rest, func(w Word) bool { return w.Value == option }) {
			return fmt.Errorf("`%s %s` may read other files", name.Value, option)
		}
	}
	for _, o := range g.options {
		v := o.value.Value
		if o.kind != 0 && len(v) > 1 && v[0] == '-' && !digits(v[1:]) && g.words[o.end-1].Value == v {
			return fmt.Errorf("%s after `%s %s` may be an option", v, name.Value, o.name) // some versions may take no value
		}
	}
	if name.Value == "printf" && len(rest) > 0 && strings.HasPrefix(rest[0].Value, "-v") {
		return errors.New("it sets a variable")
	}
	return nil
}

// unverified is the reason to doubt a command of which nothing more is known.
func unverified(words []Word) error {
	return fmt.Errorf("adze can't verify that `%s` is read-only", words[0].Text)
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

// reads reports whether a command only reads: in a jail, or with known operands outside of it.
func reads(words []Word) bool {
	e, rest := lookup(words)
	return e != nil && e.prove(words[0], rest, false) == nil
}

// prove returns the reason why the words after a program are not known to be read-only, or nil.
// Jailed means that the jail stops what the checks of scripts miss.
func (e *entry) prove(program Word, rest []Word, jailed bool) error {
	// git --help shows a manual page, with programs that the repository may configure.
	if len(rest) == 1 && (rest[0].Value == "--help" || rest[0].Value == "--version") && program.Value != "git" {
		return nil
	}
	g := e.parse(program.Value, rest)
	err, check := e.accept(g), e.check
	if jailed && e.checkJailed != nil {
		check = e.checkJailed
	}
	if err == nil && check != nil {
		err = check(g)
	}
	if err != nil {
		return fmt.Errorf("`%s` %w", program.Value, err)
	}
	return nil
}

// unproven returns the first option with which a reader is not known to only read, or "".
func (e *entry) unproven(g *parsedArgs) string {
	if g.unknown != "" {
		return g.unknown
	}
	for _, o := range g.options {
		if !e.reading[o.name] {
			return o.name
		}
	}
	return ""
}

// accept checks the options and the number of operands.
func (e *entry) accept(g *parsedArgs) error {
	if e.operands == anything {
		return nil
	}
	switch option := e.unproven(g); {
	case option != "":
		return e.more(option)
	case e.must != "" && !g.has(strings.Fields(e.must)...):
		return e.more("")
	case e.operands == none && len(g.operands) > 0:
		return e.more(g.operands[0].Text)
	case e.operands == onePath && len(g.operands) > 1:
		return fmt.Errorf("would write to %s", g.operands[1].Text)
	}
	return nil
}

// more returns the reason to doubt a command because of an option or operand, or the lack of one.
func (e *entry) more(word string) error {
	does := "may do more than read"
	switch {
	case e.effect == changes:
		does = "may change files"
	case e.versionOnly():
		return errVersionOnly
	}
	if word != "" {
		does += " with " + word
	}
	return errors.New(does)
}

// versionOnly reports whether a program is known only by the options that print its version.
func (e *entry) versionOnly() bool {
	return e.operands == none && e.class == ClassNone && e.check != nil
}
