package rule

import (
	"strings"

	"adze/internal/platform/shell"
)

// A CommandIndex finds rules for commands by their program, and those that quote a whole line by it.
type CommandIndex struct {
	byProgram map[string][]*Rule
	rest      []*Rule // any program
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

// Empty reports whether there are no rules.
func (x *CommandIndex) Empty() bool { return len(x.byProgram) == 0 && len(x.rest) == 0 }

// Speaks reports whether a rule may speak of a program.
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

// Possible returns a rule that may match what s runs, which is known only when it runs, and what is known of
// it.
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

// Covering returns a rule that covers a part of a line, one that quotes it if there is one. Only rules that
// count are looked at.
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
