// Package nested finds commands that other commands run (xargs, find -exec, sh -c), and expands
// wildcards. Its results are used only to find forbidden actions, never to allow anything.
package nested

import (
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"adze/internal/platform/shell"
)

// Limits on parsing nested commands.
const (
	maxNesting  = 4
	maxNested   = 64 << 10 // characters parsed again
	maxExpanded = 256      // names a wildcard expands to
	maxLooked   = 4096     // names compared with a wildcard
)

// A nest collects the command lines that a line passes to programs that run them.
type nest struct {
	vars    shell.Vars
	budget  int
	scripts []Line
}

// A Line is a command line that another line passes to a program that runs it.
type Line struct {
	*shell.Script
	// Outer is the enclosing line if the same shell runs this one, or nil.
	Outer *shell.Script
	// Handed means that find's starting points represent the files it finds.
	Handed bool
}

// Lines returns the commands that s makes others run: strings passed to shells and commands
// behind wrappers. They are used only to find forbidden actions, never to allow anything.
func Lines(s *shell.Script, vars shell.Vars) []Line {
	n := &nest{vars: vars, budget: maxNested}
	n.search(s, 0)
	return n.scripts
}

func (n *nest) search(s *shell.Script, depth int) {
	if depth == maxNesting {
		return
	}
	for _, part := range s.Parts {
		if len(part.Words) < 2 || !shell.Is(part.Words[0].Value, shell.RunsWords) {
			continue
		}
		roots := rootsOf(part.Words)
		line := Line{}
		if name := part.Words[0].Value; name == "trap" || name == "eval" {
			line.Outer = s
		}
		for i, w := range part.Words {
			switch {
			case i == 0:
			case strings.ContainsAny(w.Value, " \t\n;|&<>"):
				n.parse(w.Value, line, depth)
			case !strings.HasPrefix(w.Value, "-"):
				text := tail(part.Words[i:])
				n.parse(text, line, depth)
				for _, root := range roots {
					if strings.Contains(text, "{}") {
						n.parse(strings.ReplaceAll(text, "{}", root), Line{Handed: true}, depth)
					}
				}
			}
		}
	}
}

// rootsOf returns find's starting points, which represent the files passed to the commands it
// runs.
func rootsOf(words []shell.Word) []string {
	if path.Base(words[0].Value) != "find" {
		return nil
	}
	var roots []string
	for _, w := range words[1:] {
		if strings.HasPrefix(w.Value, "-") || w.Value == "(" || w.Value == "!" {
			break
		}
		roots = append(roots, w.Text)
	}
	if len(roots) == 0 {
		return []string{"."}
	}
	return roots
}

// tail returns the words up to the end of find's command, as a line.
func tail(words []shell.Word) string {
	var b strings.Builder
	for _, w := range words {
		if w.Value == ";" || w.Value == "+" {
			break
		}
		b.WriteString(w.Text)
		b.WriteByte(' ')
	}
	return b.String()
}

func (n *nest) parse(text string, line Line, depth int) {
	if n.budget -= len(text); n.budget < 0 {
		return
	}
	line.Script = shell.Parse(text, n.vars)
	n.scripts = append(n.scripts, line)
	n.search(line.Script, depth+1)
}

// SearchesBelow reports whether a part reads files it does not name because its program
// searches the current directory.
func SearchesBelow(part *shell.Part) bool {
	if len(part.Words) == 0 {
		return false
	}
	switch name := part.Words[0].Value; {
	case shell.Is(name, shell.Searches):
		return true
	case shell.Is(name, shell.SearchesDeep):
		return slices.ContainsFunc(part.Words[1:], func(w shell.Word) bool {
			v := w.Value
			return v == "--recursive" || v == "--dereference-recursive" || len(v) > 1 && v[0] == '-' && v[1] != '-' && strings.ContainsAny(v, "rR")
		})
	}
	return false
}

// Expand returns the current matches of a wildcard below a directory without any, or false if
// they cannot be determined or there are too many.
func Expand(dir, pattern string) ([]string, bool) {
	names := strings.Split(pattern, "/")
	if slices.Contains(names, "..") || strings.Contains(pattern, "**") {
		return nil, false
	}
	found, left := []string{dir}, maxLooked
	if path.IsAbs(pattern) {
		found, names = []string{"/"}, names[1:]
	}
	for _, name := range names {
		if name == "" || name == "." {
			continue
		}
		var next []string
		for _, at := range found {
			if !strings.ContainsAny(name, "*?[") {
				next = append(next, path.Join(at, name))
				continue
			}
			entries, ok := look(at, &left)
			if !ok {
				return nil, false
			}
			for _, entry := range entries {
				if matchName(name, entry) {
					next = append(next, path.Join(at, entry))
				}
			}
		}
		found = next
	}
	return found, len(found) <= maxExpanded
}

// look returns the names in a directory, or false if there are more than left.
func look(dir string, left *int) ([]string, bool) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() { // a pipe would wait for its writer
		return nil, true
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, true // nothing for the wildcard to match
	}
	defer f.Close() // ok: it was only read
	names, err := f.Readdirnames(*left + 1)
	if *left -= len(names); *left < 0 {
		return nil, false
	}
	return names, err == nil || errors.Is(err, io.EOF)
}

// matchName reports whether the shell would match name with pattern: a wildcard does not match
// a leading dot.
func matchName(pattern, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") {
		return false
	}
	ok, err := path.Match(strings.ReplaceAll(pattern, "[!", "[^"), name)
	return ok || err != nil // a pattern parsed differently may match anything
}
