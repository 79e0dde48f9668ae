// Package program finds alternative forms of a command line: symlink targets, alias expansions,
// and the contents of files the shell sources. Its results are used only to find forbidden
// actions, never to allow anything.
package program

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/permission/nested"
	"adze/internal/platform/shell"
)

// Limits on resolving the programs of a line.
const (
	maxPrograms = 64       // names looked up
	maxSourced  = 64 << 10 // size in bytes of a file the shell sources
)

// Config configures Find.
type Config struct {
	// Home is the home directory, and Dir the directory in which the command runs.
	Home, Dir string
	// Leads returns all names of a path's target.
	Leads func(path string) []string
	// Ruled reports whether a rule applies to programs with a name; others are not looked up.
	Ruled func(name string) bool
	// Aliases returns the shell's aliases; nil means that it has none.
	Aliases func() (map[string]string, error)
}

// A lookup finds a line's alternative forms.
type lookup struct {
	Config
	own     *shell.Script
	aliases map[string]string
	seen    map[string]bool
	left    int

	lines  []*shell.Script
	unsure string
}

// Find returns the alternative forms of a line and of the lines it passes to others. Unsure is
// the reason there may be more, or "".
func Find(c Config, own *shell.Script, inner []nested.Line) (lines []*shell.Script, unsure string) {
	l := &lookup{Config: c, own: own, seen: map[string]bool{}, left: maxPrograms}
	if c.Aliases != nil {
		aliases, err := c.Aliases()
		if err != nil {
			l.doubt("the aliases of the shell cannot be read: %v", err)
		}
		l.aliases = aliases
	}
	l.script(own)
	for _, s := range inner {
		l.script(s.Script)
	}
	for i := 0; i < len(l.lines); i++ { // l.lines grows during the loop
		l.script(l.lines[i])
		for _, s := range nested.Lines(l.lines[i], l.vars()) {
			l.script(s.Script)
		}
	}
	return l.lines, l.unsure
}

func (l *lookup) doubt(format string, args ...any) {
	if l.unsure == "" {
		l.unsure = fmt.Sprintf(format, args...)
	}
}

func (l *lookup) script(s *shell.Script) {
	for _, part := range s.Parts {
		switch {
		case len(part.Words) == 0:
		case part.Words[0].Static && !part.Words[0].Glob:
			l.part(s, part)
		case s.Unknown() == "": // $PWD/tool, in a line that is not simple
			l.doubt("the location of %s is known only at run time", part.Words[0].Value)
		}
	}
	for _, sub := range s.GitCommands() {
		if path, err := exec.LookPath("git-" + sub); err == nil {
			l.rename(nil, path)
			continue
		}
		l.doubt("git has no command %q of its own, and an alias may stand for anything", sub)
	}
	for _, file := range s.Sourced() {
		l.source(s, file)
	}
}

// part resolves a part's program.
func (l *lookup) part(s *shell.Script, part *shell.Part) {
	name := part.Words[0].Value
	if l.seen[part.Text] {
		return
	}
	l.seen[part.Text] = true
	if l.left--; l.left < 0 {
		l.doubt("it runs too many programs to identify")
		return
	}
	if value, ok := l.aliases[name]; ok && !l.seen["alias "+name] {
		l.seen["alias "+name] = true
		l.add(value + " " + line(part.Words[1:]))
	}
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) && s.ChangesDir() {
			dirs := part.Dirs()
			if dirs == nil {
				l.doubt("the location of %s is known only at run time", name)
			}
			for _, dir := range dirs {
				l.rename(part.Words[1:], l.absolute(filepath.Join(dir, name)))
			}
			return
		}
		l.rename(part.Words[1:], l.absolute(name))
		return
	}
	if path, err := exec.LookPath(name); err == nil || errors.Is(err, exec.ErrDot) {
		l.rename(part.Words[1:], path)
	}
	for _, dir := range s.SearchDirs() {
		path := l.absolute(filepath.Join(dir, name))
		if _, err := os.Lstat(path); err == nil {
			l.rename(part.Words[1:], path)
		}
	}
}

func (l *lookup) absolute(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(l.Dir, name)
}

// rename adds the command with the names of the program's target.
func (l *lookup) rename(operands []shell.Word, path string) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSymlink == 0 { // a link in a parent directory does not change the name
		return
	}
	for _, name := range l.Leads(path) {
		if base := filepath.Base(name); base != filepath.Base(path) && l.Ruled(base) {
			l.add(base + " " + line(operands))
		}
	}
}

// line returns the words as a command line.
func line(words []shell.Word) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w.Text)
		b.WriteByte(' ')
	}
	return b.String()
}

func (l *lookup) add(text string) {
	if len(l.lines) == maxPrograms {
		l.doubt("it runs too many programs to identify")
		return
	}
	l.lines = append(l.lines, shell.Parse(text, l.vars()))
}

func (l *lookup) vars() shell.Vars { return shell.Vars{Home: l.Home, Dir: l.Dir} }

// source adds the contents of a file the shell sources, if nothing can change it first.
func (l *lookup) source(s *shell.Script, file string) {
	text, ok := "", false
	words := s.Parts[0].Words
	if s == l.own && len(words) > 1 && (words[0].Value == "." || words[0].Value == "source") &&
		slices.ContainsFunc(words, func(w shell.Word) bool { return filepath.Clean(w.Value) == file }) {
		text, ok = readSmall(l.absolute(file))
	}
	if !ok {
		l.doubt("the content of %s is known only at run time", file)
		return
	}
	l.add(text)
}

// readSmall returns the text of a regular file within the size limit.
func readSmall(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSourced {
		return "", false
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close() // ok: it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxSourced+1))
	return string(data), err == nil && len(data) <= maxSourced
}
