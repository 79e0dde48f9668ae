package store

import (
	"reflect"
	"unicode"

	"adze/internal/msg"
)

// A stickyNote is one that readers want to find near the end of a log: lists read no more than that.
// It is said again when too much has been written since.
type stickyNote struct {
	note  Note
	said  int64 // how long the log was
	reach int64 // how much may follow it
}

// tailReach is how far before the end of a log titles stand at most, as of the last sync.
const tailReach = 32 << 10

// remember makes n the last note of its kind.
func (l *Log) remember(n Note) {
	reach := int64(tailReach)
	switch n.(type) {
	case Title, AutoTitle, Tag:
	case Mode, Model, Agent, Dirs:
		reach = ReadCap / 2 // for loading
	default:
		return
	}
	for i := range l.sticky {
		if l.sticky[i].note.kind() == n.kind() {
			l.sticky[i].note, l.sticky[i].said = n, l.size
			return
		}
	}
	l.sticky = append(l.sticky, stickyNote{n, l.size, reach})
}

// holdOn remembers the notes of a log that was loaded. How far back they are is not known.
func (l *Log) holdOn(s *State) {
	mode, dirs := s.Rights()
	for _, n := range []Note{Title(s.Title), AutoTitle(s.AutoTitle), Tag(s.Tag), Mode(mode), Model(s.Model), Agent(s.Agent), Dirs(dirs)} {
		if reflect.ValueOf(n).Len() > 0 {
			l.remember(n)
		}
	}
	for i := range l.sticky {
		if l.sticky[i].reach == tailReach {
			l.sticky[i].said = 0
		}
	}
}

// restate says again what has come to stand too far from the end.
func (l *Log) restate() {
	if len(l.unsaved) > 0 {
		return
	}
	for i := range l.sticky {
		s := &l.sticky[i]
		if l.size-s.said <= s.reach {
			continue
		}
		if l.write(appendNote(nil, s.note, &l.opt)) == nil { // ok: it is in the log already
			s.said = l.size
		}
	}
}

// MaxAutoTitle is how many characters an automatic title has at most.
const MaxAutoTitle = 80

// AutoTitleOf returns a title made of the first words of a message.
func AutoTitleOf(text string) string {
	title := oneLine(msg.Start(text), MaxAutoTitle+1)
	runes := []rune(title)
	if len(runes) <= MaxAutoTitle {
		return title
	}
	end := MaxAutoTitle - 1 // for the sign that something is missing
	for i := end; i > end/2; i-- {
		if unicode.IsSpace(runes[i]) {
			end = i
			break
		}
	}
	return string(runes[:end]) + "…"
}
