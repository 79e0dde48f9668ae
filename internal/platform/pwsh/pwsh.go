// Package pwsh says what a line of PowerShell does before it runs: whether it is proven to only read and
// what it reads, which programs it may run however they are spelt, and which rules match it. It knows a
// small part of the language exactly and takes everything else for something it does not understand.
// Whether a line may run is decided by those who ask, and others run it. Nothing here touches a file.
package pwsh

import (
	"errors"
	"strings"
	"sync"
)

// A Line is a line of PowerShell, understood or not. It does not change and is safe for concurrent use.
type Line struct {
	Source string
	// Simple says that the line is made of commands with literal words, joined by ; | and line ends.
	// Nothing is known for certain about any other line.
	Simple bool
	// Problem says why the line is not simple, for the question to the user.
	Problem string
	// Opaque says that the line holds characters that are not visible.
	Opaque bool

	commands []cmd
	runs     func() []run
}

// A cmd is one command of a simple line, the name first.
type cmd struct {
	words []word
	piped bool // it is given what the command before it prints
}

// A word of a command, after its quotes are removed.
type word struct {
	value  string
	quoted bool
}

// name returns the cmdlet or program in lower case, aliases resolved.
func (c cmd) name() string { return resolve(c.words[0].value) }

// text returns the form of the command on which rules are matched.
func (c cmd) text() string {
	words := make([]string, len(c.words))
	for i, w := range c.words {
		words[i] = w.value
	}
	return canonical(words)
}

// Parse reads src as PowerShell would. It never fails: what it does not understand, the line says.
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

// ReadOnly returns nil if the line is proven to change nothing, and else the first reason to doubt it.
// Which paths it reads is not judged here; see [Line.Reads].
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

// Reads returns the paths that a proven line looks at.
func (l *Line) Reads() []string {
	var paths []string
	for _, c := range l.commands {
		if p, err := c.proof(); err == nil {
			paths = append(paths, p.reads...)
		}
	}
	return paths
}

// Proven returns a proven line as it is to be run: with the full name of every cmdlet and with every
// value quoted, so that no alias, function or odd spelling comes between the proof and what happens.
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

// Dynamic reports whether which programs the line runs may be known only when it runs.
func (l *Line) Dynamic() bool {
	if l.Simple {
		return l.mayRun(runners)
	}
	return strings.ContainsAny(plain(l.Source), "&$[@%") || l.mayRun(runners)
}

// mayRun reports whether one of the programs may be run.
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

// Removals returns what the line may remove, as it is written, and whether that is certain.
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

// Packs reports whether a program of the line takes whole directories with it.
func (l *Line) Packs() bool { return l.mayRun(packers) }

// Warning returns a warning about what cannot be undone, for the question to the user, or "".
func (l *Line) Warning() string {
	switch {
	case l.mayRun(destroyers):
		return "This deletes files, or what is in them."
	case l.mayRun(enders):
		return "This stops programs or the machine."
	}
	for _, text := range []string{"git reset --hard:*", "git clean:*", "git push --force:*", "git push -f:*", "git checkout --:*"} {
		pat, _ := ParsePattern(text) // ok: it is a pattern
		if _, ok := l.Suspected(pat); ok {
			return "This discards changes, or rewrites history that others may have."
		}
	}
	return ""
}

// Suggest returns the content of the rule that would allow the line: one that quotes it.
func (l *Line) Suggest() []string {
	text := strings.TrimSpace(l.Source)
	if l.Opaque || text == "" {
		return nil
	}
	return []string{strings.ReplaceAll(text, "*", `\*`)}
}
