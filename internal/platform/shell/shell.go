// Package shell says what a line of shell does before it runs: its commands and their words, what they
// read, write and remove, whether the line is proven to only read, and which rules match it. It reads
// the line with the full grammar of its shell and trusts only what it understood; anything else is named as a
// problem. Whether a line may run is decided by those who ask, and others run it.
//
// Nothing here touches a file.
package shell

import (
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of what counts as understood. Suspected commands are looked for beyond them.
const (
	maxChars = 10_000
	maxNodes = 10_000
	maxDepth = 100
	maxParts = 50
)

// Vars are the values of the variables whose plain expansion is as good as a literal to rules: $HOME,
// which is also ~, $PWD, $USER and $TMPDIR. An empty one is unknown, and its expansion not static.
type Vars struct{ Home, Dir, User, Temp string }

// A Script is a line of shell, understood or not. It does not change and is safe for concurrent use.
type Script struct {
	Source string
	// Simple says that the line is made of commands with static words, joined by && || ; | and grouped
	// by parentheses or braces. Nothing is known for certain about any other line.
	Simple bool
	// Problem says why the line is not simple, for the question to the user: "it uses a loop".
	Problem string
	// Opaque says that the line does not parse, or holds characters that are not visible. Not even
	// a rule that quotes it may allow it.
	Opaque bool
	// Parts are the simple commands, in the order of the source, those of substitutions and bodies
	// included.
	Parts []*Part

	vars     Vars
	tree     *tree
	misread  bool           // bash may see other commands in it than the tree has
	doubt    string         // why its structure is not known to only read in a jail, or empty
	funcs    map[string]int // the functions it defines, numbered in their order
	fed      []fedSpan      // pieces whose commands have an input
	suspects func() *suspects
}

// A Part is one simple command.
type Part struct {
	// Words are the arguments after quote removal, the program first, without leading assignments.
	Words     []Word
	Assigns   []Assign
	Redirects []Redirect
	// Text is the canonical form of Words, on which rules are matched: quoted only where needed, with
	// single blanks. It parses to the same words.
	Text string

	script *Script
	source string   // of the words, as they stand in the line
	at     int      // offset of the first word in the line
	dirs   []string // where it may run, relative to the directory at the start; nil if unknown
	reads  []Word   // of a part without words: files that the shell itself looks at
	body   int      // of which function it is a part, from 1 on in their order; 0 for none
}

// A Word is one word of a command.
type Word struct {
	Value  string // after quote removal; what could be told of it, if not Static
	Static bool
	Glob   bool   // has active wildcards
	Text   string // canonical form

	expanded bool     // holds the value of a variable, a ~ or a here-document
	brace    bool     // holds an unquoted {
	gaps     []int    // where in Value an unquoted expansion stands that is not known
	holes    []int    // the same of every expansion
	names    []string // of the variables that fill the holes, "" for anything else
	told     string
	pipe     bool     // is a process substitution, and so no file
	unset    []string // of the variables in it whose value is not known
	substs   bool     // it holds what another command prints
	why      string
}

// An Assign is a NAME=value before a command.
type Assign struct {
	Name  string
	Value Word
}

// A Redirect is a redirection of a command, or of a group it is the first command of.
type Redirect struct {
	FD     int    // -1 if none is given
	Op     string // such as ">" or "2>&1" without its number
	Target Word
	Verb   Verb // 0 if no file is read or written: descriptors, here-documents, /dev/null

	dirs []string
	odd  string // why it is not understood, or empty
}

// Parse reads src as bash would; see [Dialect.Parse].
func Parse(src string, vars Vars) *Script { return Bash.Parse(src, vars) }

// A tree is a line as a grammar reads it, before anything is known of variables. It does not change.
type tree struct {
	src     string
	gate    gate
	file    *syntax.File // nil if it did not parse
	problem string       // why not
	other   *tree        // how bash would read it, if another shell will; may be nil
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

// With returns the script with the values of variables filled in. The line is not parsed again.
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

// baseName returns the last element of a path, and any other word as it is.
func baseName(word string) string {
	for i := len(word) - 1; i >= 0; i-- {
		if word[i] == '/' {
			return word[i+1:]
		}
	}
	return word
}
