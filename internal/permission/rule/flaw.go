package rule

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/permission/compat"
)

// findFlaw returns the reason that no call can match a readable rule, or nil.
func (r *Rule) findFlaw(a *Anchors) error {
	if r.broken != nil || r.Tool == "" {
		return nil
	}
	if unknown := compat.Unknown(r.Tool); unknown != "" {
		return errors.New(unknown)
	}
	switch {
	case r.Content == "":
	case r.kind() == compat.Shell:
		return r.commandFlaw()
	case r.kind().Paths():
		return r.pathFlaw(a)
	}
	return nil
}

// commandFlaw finds patterns that no single command can match. A rule that quotes a whole line
// is compared with the line verbatim.
func (r *Rule) commandFlaw() error {
	first, _, _ := strings.Cut(r.Content, " ")
	name := strings.TrimSuffix(first, ":*")
	drive := len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/')
	switch {
	case strings.Contains(name, ":") && !drive:
		return fmt.Errorf("no command is called %s; write a blank between words, and :* only at the end, such as %s(git push:*)", name, r.Tool)
	case noProgram(name, r.command.Exact()):
		return fmt.Errorf("no command is called %s; a rule has one pattern, and its only wildcard is *", name)
	case strings.HasPrefix(r.Content, "^") || strings.HasSuffix(r.Content, "$"):
		return fmt.Errorf("a pattern is not a regular expression; write * for any text, such as %s(rm *)", r.Tool)
	case r.command.Exact():
	case isAssignment(first):
		return errors.New("a pattern is compared with commands without their variables; leave the assignment out")
	default:
		if op := operator(r.Content); op != "" {
			return fmt.Errorf("a pattern is compared with each command of a line, so %q is never in one; write a rule for each command", op)
		}
	}
	return nil
}

// noProgram reports whether a word cannot be a program name because it contains another kind of
// pattern's syntax. In a rule that quotes a whole line it may be a shell keyword.
func noProgram(word string, quoted bool) bool {
	switch word {
	case "[", "[[", "!":
		return false
	}
	return strings.ContainsAny(word, ",?[]") || word[:min(1, len(word))] == "!" || strings.HasSuffix(word, `\`) || !quoted && strings.ContainsAny(word, "|(){}")
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	})
}

// operator returns a standalone shell operator in a pattern, or "".
func operator(content string) string {
	for word := range strings.FieldsSeq(content) {
		switch word {
		case "&&", "||", "|", "|&", ";", "&", ">", ">>", "<", "<<", "<<<", "2>", "2>&1", "&>":
			return word
		}
		if strings.HasSuffix(word, ";") {
			return ";"
		}
	}
	return ""
}

// pathFlaw finds patterns that are not paths or refer to a place other than they seem to.
func (r *Rule) pathFlaw(a *Anchors) error {
	p, err := parsePathPattern(r.Content)
	if err != nil {
		return nil // ok: the rule is broken instead
	}
	slash := filepath.ToSlash(r.Content)
	switch {
	case strings.Contains(slash, "://"):
		return errors.New("a path is not a URL; write // before a path from the root")
	case strings.HasPrefix(slash, "$") || strings.HasPrefix(slash, "%"):
		return errors.New("variables are not replaced; write ~/ for the home directory")
	case strings.HasPrefix(slash, "~") && p.anchor != atHome && strings.Contains(slash, "/"):
		return errors.New("only ~/ means a home directory; write // before a path from the root")
	case strings.Contains(slash, ", ") && !r.exists(a, p, slash):
		return errors.New("a rule has one pattern; write a rule for each")
	case p.anchor == atFile && p.ups == 0:
		fixed := fixedPart(p.rest)
		if fixed == "/" || !there(fixed) || r.exists(a, p, fixed) {
			return nil
		}
		for _, base := range a.bases(atFile, r) {
			return fmt.Errorf("/ means %s here, which has no %s; write /%s for the path from the root", base, fixed[1:], r.Content)
		}
	}
	return nil
}

// exists reports whether name exists in any of the rule's base directories.
func (r *Rule) exists(a *Anchors, p pathPattern, name string) bool {
	for _, base := range a.bases(p.anchor, r) {
		if there(filepath.Join(base, filepath.FromSlash(name))) {
			return true
		}
	}
	return false
}

func there(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// fixedPart returns the directories of a pattern before the first wildcard.
func fixedPart(rest string) string {
	at := strings.IndexAny(rest, `*?[{\\`)
	if at < 0 {
		return rest
	}
	return "/" + strings.Trim(rest[:strings.LastIndexByte(rest[:at], '/')], "/")
}
