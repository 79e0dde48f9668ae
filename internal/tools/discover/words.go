package discover

import (
	"adze/internal/domain/skill"
	"adze/internal/platform/text/rank/tfidf"
	"adze/internal/platform/text/textlist"
	"adze/internal/tool/suggest"
)

// Words is a serialized index of skills with the text of their suggestions. It can be stored
// and searched without the skills, decoding only the words of the query and the matching
// skills.
type Words string

// maxKept is the maximum size of Words in bytes, because all of it is read before a lookup.
const maxKept = 4 << 20

// WordsOf returns the index of skills, or an empty one if there are too many.
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

// Suggest returns the same suggestions as [Finder.Suggest] for the same skills.
func (w Words) Suggest(text string, atLeast float64, n int, skip func(name string) bool) []suggest.Suggestion {
	parts := textlist.List(w)
	if parts.Len() != 2 {
		return nil
	}
	said := textlist.List(parts.At(0))
	index := tfidf.Packed{List: textlist.List(parts.At(1)), Docs: said.Len() / 2}
	return suggested(index.Scores(tfidf.Document{{Text: text, Weight: 1}}), suggestOptions{atLeast, n, skip},
		func(doc int) string { return said.At(2 * doc) }, func(doc int) string { return said.At(2*doc + 1) })
}
