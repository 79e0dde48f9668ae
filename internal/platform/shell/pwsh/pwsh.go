// Package pwsh analyzes a line of PowerShell before it runs: whether it is proven to be
// read-only and which paths it reads, which programs it may run under any spelling, and which
// rules match it. It knows a small part of the language precisely and treats everything else as
// not understood. It does not access the file system.
package pwsh

import (
	"errors"
	"strings"
	"sync"
)

// A Line is an analyzed line of PowerShell. It is immutable and safe for concurrent use.
type Line struct {
	Source string
	// Simple means that the line consists of commands with literal words, joined by ; | and
	// line breaks. Nothing is known for certain about other lines.
	Simple bool
	// Problem is the reason why the line is not simple, for the prompt.
	Problem string
	// Opaque means that the line contains invisible characters.
	Opaque bool

	commands []cmd
	runs     func() []run
}

// A cmd is a command of a simple line. The first word is its name.
type cmd struct {
	words []word
	piped bool // reads the output of the previous command
}

// A word is a word of a command without its quotes.
type word struct {
	value  string
	quoted bool
}

// name returns the cmdlet or program in lower case, with aliases resolved.
func (c cmd) name() string { return resolve(c.words[0].value) }

// text returns the form of the command used for matching rules.
func (c cmd) text() string {
	words := make([]string, len(c.words))
	for i, w := range c.words {
		words[i] = w.value
	}
	return canonical(words)
}

// Parse analyzes src. It never fails: lines that it does not understand are not Simple.
func Parse(src string) *Line {
	l := &Line{Source: src}
	l.runs = sync.OnceValue(func() []run { return findRuns(src) })
	l.Opaque = opaque(src)
	commands, problem := tokenize(src)
	if l.Opaque {
		problem = "it holds characters that cannot be seen"
	}
	l.Simple, l.Problem = problem == "", problem
	if l.Simple {
		l.commands = commands
	}
	return l
}

// ReadOnly returns nil if the line is proven to change nothing, otherwise the first reason for
// doubt. It does not judge which paths the line reads; see [Line.Reads].
func (l *Line) ReadOnly() error {
	if !l.Simple {
		return errors.New(l.Problem)
	}
	for _, c := range l.commands {
		if _, err := c.proof(); err != nil {
			return err
		}
	}
	return nil
}

// Reads returns the paths that a proven line reads.
func (l *Line) Reads() []string {
	var paths []string
	for _, c := range l.commands {
		if p, err := c.proof(); err == nil {
			paths = append(paths, p.reads...)
		}
	}
	return paths
}

// Proven returns the form in which a proven line must be run: with the full name of every
// cmdlet and with every value quoted, so that no alias, function or odd spelling can invalidate
// the proof.
func (l *Line) Proven() (string, error) {
	if err := l.ReadOnly(); err != nil {
		return "", err
	}
	var b strings.Builder
	for i, c := range l.commands {
		switch {
		case i == 0:
		case c.piped:
			b.WriteString(" | ")
		default:
			b.WriteString("\n")
		}
		p, _ := c.proof() // ok: it was proven above
		b.WriteString(p.text)
	}
	return b.String(), nil
}

// Dynamic reports whether some of the programs that the line runs may only be known at run
// time.
func (l *Line) Dynamic() bool {
	if l.Simple {
		return l.mayRun(runners)
	}
	return strings.ContainsAny(plain(l.Source), "&$[@%") || l.mayRun(runners)
}

// mayRun reports whether the line may run any of the named programs.
func (l *Line) mayRun(names func(string) bool) bool {
	for _, r := range l.runs() {
		for _, w := range r.words {
			if names(resolve(w)) {
				return true
			}
		}
	}
	return false
}

// Removals returns the paths that the line may remove, as written, and whether the list is
// certain.
func (l *Line) Removals() (paths []string, certain bool) {
	certain = true
	for _, r := range l.runs() {
		for i, w := range r.words {
			if resolve(w) != "remove-item" {
				continue
			}
			certain = certain && l.Simple
			for _, operand := range r.words[i+1:] {
				if !strings.HasPrefix(operand, "-") {
					paths = append(paths, operand)
				}
			}
		}
	}
	return paths, certain
}

// Mentions returns every word of the line, any of which may be a path.
func (l *Line) Mentions() []string {
	var words []string
	for _, r := range l.runs() {
		words = append(words, r.words...)
	}
	return words
}

// Packs reports whether the line may run a program that copies, moves or archives whole
// directories.
func (l *Line) Packs() bool { return l.mayRun(packers) }

// Warning returns a warning about irreversible effects for the prompt, or "".
func (l *Line) Warning() string {
	switch {
	case l.mayRun(destroyers):
		return "This deletes files or their content."
	case l.mayRun(enders):
		return "This stops programs or the machine."
	}
	for _, text := range []string{"git reset --hard:*", "git clean:*", "git push --force:*", "git push -f:*", "git checkout --:*"} {
		pat, _ := ParsePattern(text) // ok: the pattern is valid
		if _, ok := l.Suspected(pat); ok {
			return "This discards changes, or rewrites history that others may have."
		}
	}
	return ""
}

// Suggest returns the content of a rule that would allow the line by quoting it.
func (l *Line) Suggest() []string {
	text := strings.TrimSpace(l.Source)
	if l.Opaque || text == "" {
		return nil
	}
	return []string{strings.ReplaceAll(text, "*", `\*`)}
}
