package shell

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
