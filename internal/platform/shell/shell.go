// Package shell analyzes a shell command line before it runs: its commands and their words, the
// paths they read, write and remove, whether the line is provably read-only, and which rules
// match it. It parses the line with the full grammar of its shell and trusts only constructs
// that it understands; it reports anything else as a problem.
//
// It does not access the file system.
package shell

import (
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Limits for a line to count as understood. The search for suspected commands ignores them.
const (
	maxChars = 10_000
	maxNodes = 10_000
	maxDepth = 100
	maxParts = 50
)

// Vars are the values of variables whose plain expansion counts as a literal in rules: $HOME,
// which is also ~, $PWD, $USER and $TMPDIR. An empty value is unknown, and its expansion is not
// static.
type Vars struct{ Home, Dir, User, Temp string }

// A Script is a shell command line, understood or not. It is immutable and safe for concurrent
// use.
type Script struct {
	Source string
	// Simple is true if the line consists of commands with static words, joined by && || ; |
	// and grouped by parentheses or braces. Nothing is known for certain about any other line.
	Simple bool
	// Problem is the reason why the line is not simple, for the permission prompt: "it uses a
	// loop".
	Problem string
	// Opaque is true if the line does not parse or contains invisible characters. Not even a
	// rule that quotes it may allow it.
	Opaque bool
	// Parts are the simple commands in source order, including commands in substitutions and
	// bodies.
	Parts []*Part

	vars     Vars
	tree     *tree
	misread  bool           // bash may see other commands than the tree contains
	doubt    string         // reason its structure is not known to be read-only in a jail, or empty
	funcs    map[string]int // functions it defines, numbered in order
	fed      []fedSpan      // pieces whose commands have an input
	suspects func() *suspects
}

// A Part is one simple command.
type Part struct {
	// Words are the arguments after quote removal, starting with the program, without leading
	// assignments.
	Words     []Word
	Assigns   []Assign
	Redirects []Redirect
	// Text is the canonical form of Words, which rules match: quoted only where needed, with
	// single blanks. It parses to the same words.
	Text string

	script *Script
	source string   // source of the words
	at     int      // offset of the first word in the line
	dirs   []string // directories it may run in, relative to the initial one; nil if unknown
	reads  []Word   // files that the shell itself accesses, in a part without words
	body   int      // number of the function that contains it, counted from 1; 0 for none
}

// A Word is one word of a command.
type Word struct {
	Value  string // value after quote removal; only the known parts if not Static
	Static bool
	Glob   bool   // has active wildcards
	Text   string // canonical form

	expanded bool     // contains a variable's value, a ~ or a here-document
	brace    bool     // contains an unquoted {
	gaps     []int    // offsets in Value of unknown unquoted expansions
	holes    []int    // offsets in Value of all unknown expansions
	names    []string // variables that fill the holes, "" for anything else
	told     string
	pipe     bool     // process substitution, not a file
	unset    []string // variables in it whose value is unknown
	substs   bool     // contains another command's output
	why      string
}

// An Assign is a NAME=value before a command.
type Assign struct {
	Name  string
	Value Word
}

// A Redirect is a redirection of a command, or of a group that starts with the command.
type Redirect struct {
	FD     int    // -1 if not given
	Op     string // operator such as ">" or, for 2>&1, ">&"
	Target Word
	Verb   Verb // 0 if no file is read or written: descriptors, here-documents, /dev/null

	dirs []string
	odd  string // reason it is not understood, or empty
}

// Parse parses src as bash would; see [Dialect.Parse].
func Parse(src string, vars Vars) *Script { return Bash.Parse(src, vars) }

// A tree is a line parsed by one grammar, before variables are known. It is immutable.
type tree struct {
	src     string
	gate    textCheck
	file    *syntax.File // nil if parsing failed
	problem string       // reason parsing failed
	other   *tree        // bash's reading, if another shell will run the line; may be nil
}

func (d Dialect) tree(src string) *tree {
	t := &tree{src: src, gate: checkText(src)}
	file, err := parse(d, src)
	if err != nil {
		t.problem = "it is not valid shell: " + parseError(d, err)
		return t
	}
	t.file = file
	return t
}

// With returns the script with variable values filled in, without parsing the line again.
func (s *Script) With(vars Vars) *Script {
	if vars == s.vars {
		return s
	}
	return s.tree.script(vars)
}

// script reads the words of the tree.
func (t *tree) script(vars Vars) *Script {
	s := t.read(vars)
	if t.other != nil && s.Simple && !sameParts(s.Parts, t.other.read(vars).Parts) {
		s.Simple, s.Problem = false, "not every sh reads it the same way"
	}
	if t.other != nil && !s.Simple {
		s.doubt = s.Problem
	}
	return s
}

func (t *tree) read(vars Vars) *Script {
	s := &Script{Source: t.src, vars: vars, tree: t, Opaque: t.gate.opaque, Problem: t.gate.problem}
	s.suspects = sync.OnceValue(func() *suspects { return findSuspects(s) })
	if t.file == nil {
		s.Opaque = true
		if s.Problem == "" {
			s.Problem = t.problem
		}
		s.doubt = s.Problem
		return s
	}
	r := newReader(s)
	r.file(t.file)
	if s.Problem == "" {
		s.Problem = r.problem
	} else {
		s.doubt = s.Problem
	}
	s.Simple = s.Problem == ""
	s.Parts = r.parts
	if !s.Simple {
		s.Parts = r.everyPart(t.file)
	}
	return s
}

// ChangesDir reports whether a part changes the directory.
func (s *Script) ChangesDir() bool {
	for _, p := range s.Parts {
		switch p.program() {
		case "cd", "pushd", "popd":
			return true
		}
	}
	return false
}

// UsesGit reports whether a part is a git command.
func (s *Script) UsesGit() bool {
	for _, p := range s.Parts {
		for _, words := range p.commands() {
			if baseName(words[0].Value) == "git" {
				return true
			}
		}
	}
	return false
}

// program returns the base name of the command, or "".
func (p *Part) program() string {
	if len(p.Words) == 0 {
		return ""
	}
	return baseName(p.Words[0].Value)
}

// baseName returns the last element of a path, or any other word unchanged.
func baseName(word string) string {
	for i := len(word) - 1; i >= 0; i-- {
		if word[i] == '/' {
			return word[i+1:]
		}
	}
	return word
}
