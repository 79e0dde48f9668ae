package shell

// A Class determines how a line is summarized for display. It has no security meaning.
type Class uint8

// Classes.
const (
	ClassNone Class = iota
	ClassSearch
	ClassRead
	ClassList
	ClassNeutral // ClassNone if it is alone
)

// Class returns the common class of the line's commands, ignoring neutral ones. If they differ, it
// is ClassSearch if any of them searches, otherwise ClassRead. A command without a class makes it
// ClassNone.
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
