package rule

import (
	"strings"

	"adze/internal/platform/shell"
)

// A CommandIndex finds command rules by program, and rules that quote a whole line by the line.
type CommandIndex struct {
	byProgram map[string][]*Rule
	rest      []*Rule // rules for any program
	byLine    map[string]*Rule
}

func (x *CommandIndex) add(r *Rule) {
	if r.command.Exact() {
		if x.byLine == nil {
			x.byLine = map[string]*Rule{}
		}
		x.byLine[strings.ReplaceAll(strings.TrimSpace(r.Content), `\*`, "*")] = r
	}
	if program := r.command.Program(); program != "" {
		add(&x.byProgram, program, r)
		return
	}
	x.rest = append(x.rest, r)
}

// Empty reports whether the index has no rules.
func (x *CommandIndex) Empty() bool { return len(x.byProgram) == 0 && len(x.rest) == 0 }

// Speaks reports whether a rule may apply to a program.
func (x *CommandIndex) Speaks(program string) bool {
	return len(x.byProgram[program]) > 0 || len(x.rest) > 0
}

// Quoting returns the rule that quotes the whole line.
func (x *CommandIndex) Quoting(s *shell.Script) *Rule {
	if r := x.byLine[strings.TrimSpace(s.Source)]; r != nil && r.command.Quotes(s) {
		return r
	}
	return nil
}

// Suspected returns a rule that matches anything in s that looks like a command.
func (x *CommandIndex) Suspected(s *shell.Script) (*Rule, string) {
	if x.Empty() {
		return nil, ""
	}
	for program := range s.Programs() {
		for _, r := range x.byProgram[program] {
			if text, ok := s.Suspected(r.command); ok {
				return r, text
			}
		}
	}
	for _, r := range x.rest {
		if text, ok := s.Suspected(r.command); ok {
			return r, text
		}
	}
	return nil, ""
}

// Possible returns a rule that may match a command determined only at run time, and the known
// part of that command.
func (x *CommandIndex) Possible(s *shell.Script) (*Rule, string) {
	if x.Empty() {
		return nil, ""
	}
	for program := range s.Guessed() {
		for _, r := range x.byProgram[program] {
			if text, ok := s.Possible(r.command); ok {
				return r, text
			}
		}
	}
	for _, r := range x.rest {
		if text, ok := s.Possible(r.command); ok {
			return r, text
		}
	}
	return nil, ""
}

// Covering returns a rule that covers a part of a line, preferring a rule that quotes it. It
// considers only rules that count.
func (x *CommandIndex) Covering(part *shell.Part, counts func(*Rule) bool) *Rule {
	var found *Rule
	look := func(rules []*Rule) {
		for _, r := range rules {
			if (found == nil || !found.command.Exact() && r.command.Exact()) && counts(r) && part.Allowed(r.command) {
				found = r
			}
		}
	}
	for _, program := range part.Programs() {
		look(x.byProgram[program])
	}
	look(x.rest)
	return found
}
