package store

import (
	"reflect"
	"unicode"

	"adze/internal/msg"
)

// A stickyNote must be near the end of a log, because lists read only the end. It is repeated
// after enough other records.
type stickyNote struct {
	note  Note
	said  int64 // size of the log when last written
	reach int64 // maximum distance from the end
}

// tailReach is the maximum distance of titles from the end of a log, as of the last sync.
const tailReach = 32 << 10

// remember makes n the last note of its kind.
func (l *Log) remember(n Note) {
	reach := int64(tailReach)
	switch n.(type) {
	case Title, AutoTitle, Tag:
	case Mode, Model, Agent, Dirs:
		reach = ReadCap / 2 // enough for loading
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

// restoreSticky remembers the notes of a loaded log. Their positions are unknown.
func (l *Log) restoreSticky(s *State) {
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

// restate repeats the notes that are too far from the end.
func (l *Log) restate() {
	if len(l.unsaved) > 0 {
		return
	}
	for i := range l.sticky {
		s := &l.sticky[i]
		if l.size-s.said <= s.reach {
			continue
		}
		if l.write(appendNote(nil, s.note, &l.opt)) == nil { // ok: already in the log
			s.said = l.size
		}
	}
}

// MaxAutoTitle is the maximum length of an automatic title in characters.
const MaxAutoTitle = 80

// AutoTitleOf makes a title from the first words of a message.
func AutoTitleOf(text string) string {
	title := oneLine(msg.TitleText(text), MaxAutoTitle+1)
	runes := []rune(title)
	if len(runes) <= MaxAutoTitle {
		return title
	}
	end := MaxAutoTitle - 1 // room for the ellipsis
	for i := end; i > end/2; i-- {
		if unicode.IsSpace(runes[i]) {
			end = i
			break
		}
	}
	return string(runes[:end]) + "…"
}
