package discover

import (
	"adze/internal/platform/textlist"
	"adze/internal/platform/tfidf"
	"adze/internal/skill"
	"adze/internal/tool/suggest"
)

// Words are those that skills are found by, with what is said of the ones that are found. They can be kept where there are no
// skills at hand, and are searched there without decoding more than the words of a text and the skills that it is about.
type Words string

// maxKept bounds the bytes of words that can be kept: all of them are read before anything is looked up.
const maxKept = 4 << 20

// WordsOf returns the words of skills, or none if there are too many to be kept.
func WordsOf(skills []*skill.Skill) Words {
	said := make([]string, 0, 2*len(skills))
	for _, s := range skills {
		said = append(said, s.Name, lineOf(s))
	}
	words := textlist.Of(string(textlist.Of(said...)), string(index(skills).Pack().List))
	if len(words) > maxKept {
		return ""
	}
	return Words(words)
}

// Suggest returns what [Finder.Suggest] of the same skills does.
func (w Words) Suggest(text string, atLeast float64, n int, skip func(name string) bool) []suggest.Suggestion {
	parts := textlist.List(w)
	if parts.Len() != 2 {
		return nil
	}
	said := textlist.List(parts.At(0))
	index := tfidf.Packed{List: textlist.List(parts.At(1)), Docs: said.Len() / 2}
	return suggested(index.Scores(tfidf.Document{{Text: text, Weight: 1}}), wish{atLeast, n, skip},
		func(doc int) string { return said.At(2 * doc) }, func(doc int) string { return said.At(2*doc + 1) })
}
