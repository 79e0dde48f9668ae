package tfidf

import (
	"unicode"
	"unicode/utf8"
)

// maxWord limits the significant bytes of a word, because text is untrusted.
const maxWord = 48

// joined limits the length of a camel-case word, such as GitHub, that also counts as a whole.
const joined = 12

// A scanner splits text into words and pairs of CJK characters.
type scanner struct {
	text  []byte // concatenated words in lower case, and pairs
	words []span

	run, word int // start in text of the current run of camel-case words, and of the current word
	parts     int // number of words in the run so far
}

// A span is a word or pair in a scanner's text.
type span struct {
	from, to int32
	cjk      bool
}

// scan finds the words of text, in lower case, split at camel case and at characters other than
// letters and digits, and its pairs of adjacent CJK characters. A short run of two camel-case
// words also counts as one word. Previous results are discarded.
func (s *scanner) scan(text string) {
	s.text, s.words, s.run, s.word, s.parts = s.text[:0], s.words[:0], 0, 0, 0
	var before rune   // previous character of the run, or 0
	var previous rune // previous character if it is CJK, or 0
	for i := 0; i < len(text); {
		c, next := rune(text[i]), i+1
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			for next < len(text) && (text[next] >= 'a' && text[next] <= 'z' || text[next] >= '0' && text[next] <= '9') {
				next++
			}
			s.text = append(s.text, text[i:next]...)
			before = c
		case c >= 'A' && c <= 'Z':
			if before != 0 && (!isUpper(before) || next < len(text) && text[next] >= 'a' && text[next] <= 'z' && !isPlural(text[next:])) {
				s.endWord()
			}
			s.text = append(s.text, byte(c)+'a'-'A')
			before = c
		case c < utf8.RuneSelf:
			if before != 0 {
				s.endRun()
				before = 0
			}
		default:
			var size int
			c, size = utf8.DecodeRuneInString(text[i:])
			next = i + size
			if before, previous = s.other(c, before, previous); previous != 0 {
				i = next
				continue
			}
		}
		previous, i = 0, next
	}
	s.endRun()
}

// other processes a non-ASCII character. It returns the new values of before and previous.
func (s *scanner) other(c, before, previous rune) (inRun, cjk rune) {
	switch {
	case IsCJK(c):
		s.endRun()
		if previous != 0 {
			from := len(s.text)
			s.text = utf8.AppendRune(utf8.AppendRune(s.text, previous), c)
			s.words = append(s.words, span{int32(from), int32(len(s.text)), true})
			s.run, s.word = len(s.text), len(s.text)
		}
		return 0, c
	case unicode.IsLetter(c) || unicode.IsDigit(c) || before != 0 && unicode.IsMark(c):
		s.text = utf8.AppendRune(s.text, unicode.ToLower(c))
		return 'a', 0
	}
	s.endRun()
	return 0, 0
}

// isPlural reports whether rest, which follows a capital letter, is a plural s, as in URLs.
func isPlural(rest string) bool {
	return rest[0] == 's' && (len(rest) == 1 || !isLetter(rest[1]))
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isUpper(c rune) bool { return c >= 'A' && c <= 'Z' }

// endWord ends a word within a run.
func (s *scanner) endWord() {
	if len(s.text) > s.word {
		s.parts++
		s.words = append(s.words, span{from: int32(s.word), to: int32(min(len(s.text), s.word+maxWord))})
		s.word = len(s.text)
	}
}

// endRun ends a run of words.
func (s *scanner) endRun() {
	s.endWord()
	if s.parts == 2 && s.word-s.run <= joined {
		s.words = append(s.words, span{from: int32(s.run), to: int32(s.word)})
	}
	s.parts, s.run = 0, s.word
}

// IsCJK reports whether c belongs to a script whose words are matched by pairs of characters
// (Han, Kana or Hangul).
func IsCJK(c rune) bool {
	return c >= 0x1100 && (c == '\u30fc' || unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul))
}

// Terms returns the terms of a text in order: its stemmed words without stop words, and its
// pairs.
func Terms(text string) []string {
	var terms []string
	scanTerms(text, func(term []byte, _ bool) { terms = append(terms, string(term)) })
	return terms
}

// Root returns a prefix common to all words with the given term, ignoring case. It reports
// false if the prefix would be too short to search for.
func Root(term string) (root string, ok bool) {
	const least = 3 // characters
	for i := range len(term) {
		if term[i] >= utf8.RuneSelf {
			return "", false
		}
	}
	if len(term) <= least {
		return "", false
	}
	return term[:len(term)-1], true // the last letter may differ in a plural
}

// scanTerms calls emit with each term of a text.
func scanTerms(text string, emit func(term []byte, cjk bool)) {
	var s scanner
	s.scan(text)
	var word [maxWord]byte
	for _, w := range s.words {
		switch found := s.text[w.from:w.to]; {
		case w.cjk:
			emit(found, true)
		case !stopWord(found):
			emit(stem(word[:copy(word[:], found)]), false)
		}
	}
}

// stem removes endings of English words: plurals, -ing, -ed, -ion, -ment and a final e. It
// modifies the word in place. The result is not always a word, but it is the same for related
// words.
func stem(w []byte) []byte {
	if len(w) < 4 {
		return w
	}
	for _, c := range w {
		if c >= utf8.RuneSelf {
			return w
		}
	}
	w = singular(w)
	switch {
	case ends(w, "ing") && len(w) >= 6 && vowel(w[:len(w)-3]):
		w = single(w[:len(w)-3])
	case ends(w, "ed") && len(w) >= 5 && vowel(w[:len(w)-2]):
		w = single(w[:len(w)-2])
	case ends(w, "ion") && len(w) >= 7 && (w[len(w)-4] == 't' || w[len(w)-4] == 's'):
		w = w[:len(w)-3]
	case ends(w, "ment") && len(w) >= 9:
		w = w[:len(w)-4]
	}
	if len(w) >= 4 && w[len(w)-1] == 'e' {
		w = w[:len(w)-1]
	}
	return w
}

// singular removes a plural ending.
func singular(w []byte) []byte {
	n := len(w)
	switch {
	case w[n-1] != 's':
		return w
	case ends(w, "ies") && n >= 5:
		w[n-3] = 'y'
		return w[:n-2]
	case ends(w, "sses") || ends(w, "shes") || ends(w, "ches") || ends(w, "xes"):
		return w[:n-2]
	case ends(w, "ss") || ends(w, "us") || ends(w, "is"):
		return w
	}
	return w[:n-1]
}

// single removes the second of two equal final consonants, as in stopp, but not in call, pass
// or buzz.
func single(w []byte) []byte {
	n := len(w)
	if n < 4 || w[n-1] != w[n-2] {
		return w
	}
	switch w[n-1] {
	case 'l', 's', 'z', 'e', 'o':
		return w
	}
	return w[:n-1]
}

func vowel(w []byte) bool {
	for _, c := range w {
		switch c {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			return true
		}
	}
	return false
}

func ends(w []byte, suffix string) bool {
	return len(w) >= len(suffix) && string(w[len(w)-len(suffix):]) == suffix
}

// stopWord reports whether an English word is irrelevant for search.
func stopWord(w []byte) bool {
	switch string(w) {
	case "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could",
		"do", "does", "each", "eg", "for", "from", "had", "has", "have", "here", "how", "i", "ie", "if", "in", "into", "is",
		"it", "its", "may", "me", "might", "more", "must", "my", "need", "needs", "no", "not", "of", "on", "only", "or", "other",
		"our", "please", "s", "shall", "should", "so", "some", "such", "t", "than", "that", "the", "their", "them", "then",
		"there", "these", "they", "this", "those", "to", "us", "use", "used", "using", "via", "want", "was", "we", "were",
		"what", "when", "where", "whether", "which", "while", "who", "will", "with", "would", "you", "your":
		return true
	}
	return false
}
