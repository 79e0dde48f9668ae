package shell

import "strings"

// A Class is how a line is folded for people. It says nothing about what the line may do.
type Class uint8

// The classes.
const (
	ClassNone Class = iota
	ClassSearch
	ClassRead
	ClassList
	ClassNeutral // alone, it is like none
)

// Class returns what the line does for the most part: that of its commands, if they agree but for
// neutral ones, and reading if they do not.
func (s *Script) Class() Class {
	class := ClassNeutral
	for _, p := range s.Parts {
		c := ClassNone
		switch e := find(p.program()); {
		case e != nil:
			c = e.class
		case p.program() == "cd":
			c = ClassNeutral
		}
		switch {
		case c == ClassNone:
			return ClassNone
		case c == ClassNeutral || c == class:
		case class == ClassNeutral:
			class = c
		case class == ClassSearch || c == ClassSearch:
			class = ClassSearch // grep … | head
		default:
			class = ClassRead
		}
	}
	if class == ClassNeutral {
		return ClassNone
	}
	return class
}

// Destructive returns a warning for the question about the line, or "".
func (s *Script) Destructive() string {
	for _, p := range s.Parts {
		for _, f := range p.forms() {
			if w := destroys(f.words); w != "" {
				return w
			}
		}
	}
	upper := strings.ToUpper(s.Source)
	for _, sql := range []string{"DROP TABLE", "DROP DATABASE", "TRUNCATE TABLE", "DELETE FROM"} {
		if strings.Contains(upper, sql) {
			return "This may delete data in a database (" + sql + ")."
		}
	}
	return ""
}

func destroys(words []Word) string {
	name := baseName(words[0].Value)
	if name == "sudo" || name == "doas" || name == "xargs" || name == "command" {
		for i := 1; i < len(words); i++ {
			if w := destroys(words[i:]); w != "" {
				return w
			}
		}
	}
	has := func(options ...string) bool {
		for _, w := range words[1:] {
			for _, o := range options {
				if w.Value == o || strings.HasPrefix(w.Value, o+"=") {
					return true
				}
			}
		}
		return false
	}
	switch {
	case name == "rm", name == "rmdir", name == "shred", name == "unlink":
		return "This deletes files."
	case name == "dd", name == "wipefs", name == "fdisk", strings.HasPrefix(name, "mkfs"):
		return "This overwrites a disk or a file."
	case name == "truncate":
		return "This cuts files short."
	case name == "find" && has("-delete"):
		return "This deletes files."
	case name == "git" && has("reset") && has("--hard"), name == "git" && has("clean"), name == "git" && has("checkout", "restore") && has("--", "."):
		return "This discards changes that are not committed."
	case name == "git" && has("push") && (has("-f", "--force", "--force-with-lease", "--mirror", "--delete", "-d")):
		return "This rewrites history that others may have."
	case name == "git" && has("branch") && has("-D"), name == "git" && has("stash") && has("drop", "clear"):
		return "This deletes work that was set aside."
	}
	return ""
}
