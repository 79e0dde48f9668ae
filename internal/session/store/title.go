package store

import (
	"strings"
	"unicode/utf8"
)

// shortTitle is the approximate length of a title made from a text, in characters.
const shortTitle = 60

// Titled returns the title of the session: set by the user, or generated, or "".
func (l *Log) Titled() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	auto := ""
	for _, s := range l.sticky {
		switch n := s.note.(type) {
		case Title:
			return string(n)
		case AutoTitle:
			auto = string(n)
		}
	}
	return auto
}

// TitleOf makes a title from a description of a session: the first sentence, cut between words
// if it is long. It is empty if the text has no words.
func TitleOf(text string) string {
	text = strings.TrimLeft(oneLine(text, 4*shortTitle), "#>*-` ")
	for i, r := range text {
		rest := text[i+utf8.RuneLen(r):]
		if strings.ContainsRune("。！？", r) || strings.ContainsRune(".!?", r) && (rest == "" || rest[0] == ' ') {
			text = text[:i]
			break
		}
	}
	if utf8.RuneCountInString(text) <= shortTitle {
		return text
	}
	head := string([]rune(text)[:shortTitle])
	if i := strings.LastIndexByte(head, ' '); i > len(head)/2 {
		head = head[:i]
	}
	return strings.TrimRight(head, " ,;:") + "…"
}
